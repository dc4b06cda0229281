"""Runs the code of tutorials when the site is built, and shows what it prints below it."""

import shutil
import tempfile
from pathlib import Path

from sphinx.errors import ExtensionError
from sphinx.util import logging

from snippets import BlockError, Workplace, blocks

EXECUTED = ("start/", "tutorials/", "how-to/troubleshooting")
MAX_LINES = 40
log = logging.getLogger(__name__)


def is_executed(document):
    """Return whether a page is run when the site is built."""
    return document == "index" or document.startswith(EXECUTED)


def execute(app, document, source):
    """Insert the output and the pictures of each block of a page."""
    if not is_executed(document):
        return
    text, parts, begin = source[0], [], 0
    made = Path(app.srcdir) / "_build" / "made" / document
    shutil.rmtree(made, ignore_errors=True)
    run = Path(app.srcdir) / "_build" / "examples" / "runs" / "world"
    with tempfile.TemporaryDirectory() as directory, Workplace(directory, document, run) as place:
        for block in blocks(text):
            try:
                shown = _shown(place, block, made)
            except BlockError as error:
                raise ExtensionError(str(error)) from error
            parts += [text[begin : block.end], shown]
            begin = block.end
    source[0] = "".join([*parts, text[begin:]])


def _shown(place, block, made):
    before = place.pictures()
    output = place.run(block)
    if block.mark == "hidden":
        return ""
    shown = ""
    if output.strip():
        lines = [line.rstrip() for line in output.strip("\n").splitlines()]
        if len(lines) > MAX_LINES:
            lines[MAX_LINES:] = ["…"]
        body = "\n".join(lines)
        shown = f"\n\n````{{code-block}} text\n:class: output\n\n{body}\n````\n"
    for picture in sorted(place.pictures() - before):
        made.mkdir(parents=True, exist_ok=True)
        shutil.copy(picture, made)
        address = f"/_build/made/{place.page}/{picture.name}"
        shown += f"\n\n![{block.value}]({address})\n"
    return shown


def setup(app):
    """Connect the execution."""
    app.connect("source-read", execute)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
