"""The commands and programs of pages of the documentation run."""

import re
import shlex
import sys
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path

import pytest

from endpoint import serve
from kgflow.__main__ import run

PAGES = Path(__file__).parents[1] / "docs" / "how-to"
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NEEDED: dict[str, list[str]] = {
    "property-graphs": [],
    "pykeen": ["pykeen"],
    "rdf": ["pyoxigraph"],
    "tracking": [],
}


def program(monkeypatch, line):
    words = shlex.split(line, comments=True)
    monkeypatch.setattr(sys, "argv", words)
    assert run() == 0, line


@pytest.mark.filterwarnings("ignore")  # other libraries' own
@pytest.mark.parametrize("page", NEEDED)
def test_a_page_runs(page, tmp_path, monkeypatch):
    missing = [name for name in NEEDED[page] if find_spec(name) is None]
    if missing:
        pytest.skip(f"{missing[0]} is not installed")
    text = (PAGES / f"{page}.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    names, blocks = {}, 0
    with ExitStack() as stack:
        if "localhost:7878" in text:
            address = stack.enter_context(serve(_people())).address
            text = re.sub(r"http://localhost:7878/\w+", address, text)
        for language, file, content in BLOCK.findall(text):
            blocks += language in ("sh", "python")
            if file:
                Path(file).parent.mkdir(parents=True, exist_ok=True)
                Path(file).write_text(content, encoding="utf-8")
            elif language == "python":
                exec(content, names)
            elif language == "sh":
                for line in content.replace("\\\n", " ").splitlines():
                    if line.startswith("kgflow "):
                        program(monkeypatch, line)
    assert blocks > 1


def _people():
    import pyoxigraph as ox

    store = ox.Store()
    facts = "".join(f"e:n{i} schema:knows e:n{(i + 1) % 9} ." for i in range(9))
    prefixes = "PREFIX e: <http://example.org/> PREFIX schema: <http://schema.org/>"
    store.update(f"{prefixes} INSERT DATA {{ {facts} }}")
    return store
