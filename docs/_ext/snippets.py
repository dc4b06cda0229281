"""Code blocks of Markdown pages, run page by page in a directory of their own.

Blocks of Python and shell are run in order. A comment on the line before a block changes that:

    <!-- not run: REASON -->   the block is not run
    <!-- file: NAME -->        the block is written to this file, as one that opens with ```csv NAME
    <!-- exit: 2 -->           the commands fail with this exit code
    <!-- picture: TEXT -->     the block draws a picture; the text describes it

Lines that begin with `pip install` are left out. A comment `<!-- run: COMMAND -->` on a line of its
own runs a command that readers do not see.
"""

import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

FENCE = re.compile(
    r"(?:^[ ]*<!-- (?P<mark>not run|file|exit|picture): (?P<value>[^\n]*?) -->\n+)?"
    r"^(?P<indent>[ ]*)(?P<fence>`{3,})(?P<language>[^`\n]*)\n"
    r"(?P<code>.*?)^(?P=indent)(?P=fence)[ ]*$"
    r"|^[ ]*<!-- run: (?P<hidden>[^\n]*?) -->$",
    re.DOTALL | re.MULTILINE,
)
RUN = ("python", "sh")
WIDTH = "96"


@dataclass(frozen=True)
class Block:
    """A code block, its mark, and where it ends in the page."""

    language: str
    code: str
    line: int
    end: int
    mark: str | None = None
    value: str = ""

    @property
    def runs(self):
        """Whether the block is executed."""
        return self.language in RUN and self.mark not in ("not run", "file")


def blocks(text):
    """Return the code blocks of a page in order."""
    return [_block(text, found) for found in FENCE.finditer(text)]


def _block(text, found):
    if found["hidden"]:
        line = text.count("\n", 0, found.start()) + 1
        return Block("sh", found["hidden"], line, found.end(), "hidden")
    indent = found["indent"]
    code = "".join(part.removeprefix(indent) for part in found["code"].splitlines(keepends=True))
    line = text.count("\n", 0, found.start("code")) + 1
    mark, value = found["mark"], found["value"] or ""
    language, _, file = found["language"].strip().partition(" ")
    if file and not language.startswith("{"):
        mark, value = "file", file
    return Block(language, code, line, found.end(), mark, value)


class BlockError(Exception):
    """A block of a page failed."""


class Workplace:
    """Directory in which the blocks of one page run, one after the other.

    Args:
        directory: Empty directory.
        page: Page, for messages.
        run: Run directory that the page finds as runs/world.
    """

    def __init__(self, directory, page, run):
        self.directory, self.page = Path(directory), page
        self.names = {"__name__": "__main__"}
        self.started = []
        shutil.copytree(run, self.directory / "runs" / "world")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.started:
            process.terminate()
            process.wait()

    def pictures(self):
        """Return the pictures that the page has drawn so far."""
        return set(self.directory.glob("*.png"))

    def run(self, block):
        """Execute or write a block and return what it printed."""
        if block.mark == "file":
            path = self.directory / block.value
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.code, encoding="utf-8")
        if not block.runs:
            return ""
        execute = self._python if block.language == "python" else self._shell
        with chdir(self.directory):
            return execute(block)

    def _python(self, block):
        out = io.StringIO()
        source = "\n" * (block.line - 1) + block.code
        try:
            with redirect_stdout(out):
                exec(compile(source, self.page, "exec"), self.names)
        except Exception as error:
            raise BlockError(
                f"{self.page}:{block.line}: {type(error).__name__}: {error}"
            ) from error
        return out.getvalue()

    def _shell(self, block):
        expected = int(block.value) if block.mark == "exit" else 0
        printed = []
        for command in _commands(block.code):
            code, text = self._command(command)
            printed.append(text)
            if code != expected:
                raise BlockError(
                    f"{self.page}:{block.line}: `{command}` exited with {code}: {text}"
                )
        return "".join(printed)

    def _command(self, command):
        words = shlex.split(command, comments=True)
        if words[-1] == "&":
            return 0, self._background(words[:-1])
        if words[0] == "kgflow" and not {"|", ">", "<", "&&", ";"} & set(words):
            return _in_process(words)
        environment = os.environ | {"COLUMNS": WIDTH}
        path = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
        done = subprocess.run(
            ["bash", "-c", command],
            env=environment | {"PATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout

    def _background(self, words):
        """Start a server and wait until it answers."""
        command = [sys.executable, "-m", *words]
        port = words[words.index("--port") + 1]
        self.started.append(subprocess.Popen(command, stdout=subprocess.DEVNULL))
        for _ in range(600):
            try:
                with urlopen(f"http://127.0.0.1:{port}/v1/health") as answer:
                    answer.read()
                return ""
            except URLError:
                time.sleep(0.1)
        raise BlockError(f"{self.page}: {' '.join(words)} does not answer")


def _commands(code):
    """Split a shell block at its lines; a backslash continues a line, as do open quotes."""
    command = ""
    for line in code.replace("\\\n", " ").splitlines():
        command = f"{command}\n{line}" if command else line
        try:
            words = shlex.split(command, comments=True)
        except ValueError:
            continue
        if words and words[:2] != ["pip", "install"]:
            yield command
        command = ""


def _in_process(words):
    """Run kgflow in this process, which has imported torch already."""
    from kgflow.__main__ import run

    out, before = io.StringIO(), (sys.argv, os.environ.get("COLUMNS"))
    sys.argv, os.environ["COLUMNS"] = words, WIDTH
    try:
        with redirect_stdout(out), redirect_stderr(out):
            code = run()
    finally:
        sys.argv = before[0]
        os.environ.pop("COLUMNS")
        if before[1] is not None:
            os.environ["COLUMNS"] = before[1]
    return code, out.getvalue()
