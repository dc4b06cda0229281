"""The program, called in this process as a person would call it."""

import json
import sys

import pytest

from kgflow.__main__ import run

collect_ignore = ["toy_plugin.py"]  # its components would be registered in every test


@pytest.fixture
def kgflow(monkeypatch, capsys):
    """Run a command line: gives (exit code, stdout, stderr)."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["kgflow", *map(str, arguments)])
        code = run()
        out, err = capsys.readouterr()
        return code, out, err

    return call


@pytest.fixture
def answer(kgflow):
    """Run a command with --json: the object it printed."""

    def call(*arguments):
        code, out, err = kgflow(*arguments, "--json")
        assert code == 0, err
        return json.loads(out)

    return call


@pytest.fixture
def refusal(kgflow):
    """Run a command that must be refused: its one sentence."""

    def call(*arguments):
        code, out, err = kgflow(*arguments)
        assert code == 2
        assert out == ""
        assert err.startswith("kgflow: ")
        lines = [line for line in err.splitlines() if not line.startswith("note: ")]
        assert len(lines) == 1
        return lines[0]

    return call


@pytest.fixture(scope="session")
def world_run(tmp_path_factory):
    """A quick run on the embedded data set."""
    import kgflow

    directory = tmp_path_factory.mktemp("runs") / "world"
    kgflow.train("world", dim=32, epochs=3, lr=0.05, out=directory)
    return directory
