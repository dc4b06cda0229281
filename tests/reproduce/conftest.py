"""A place with study files of its own, and trainings without a process each."""

from pathlib import Path

import pytest

import kgflow
from kgflow.config import Experiment, read
from kgflow.data import load
from kgflow.runs.training import run_experiment
from reproduce.study import Study


@pytest.fixture
def place(tmp_path, monkeypatch):
    """An empty directory to work in, with study files of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Study, "files", tmp_path / "studies")
    (tmp_path / "studies").mkdir()
    for name in ("table1", "table5"):
        (tmp_path / "studies" / f"{name}.toml").write_text("")
    return tmp_path


@pytest.fixture
def no_pictures(monkeypatch):
    """Do not draw, which takes long."""
    monkeypatch.setattr("reproduce.benchmarks.learning_curve_figure", lambda *given: given[-1])


@pytest.fixture
def in_process(monkeypatch):
    """Do what the commands do in this process: a process each would take long."""

    def call(words, _):
        assert words[0] == "kgflow"
        words = words[1:]
        if words[0] == "ensemble":
            at = words.index("--out")
            kgflow.ensemble(words[1:at], words[at + 1], force="--force" in words)
            return {}
        flags = dict(zip(words[1::2], words[2::2], strict=True))
        experiment = read(Experiment, Path(flags["--config"]))
        run_experiment(experiment, load(experiment.data), flags["--out"])
        return {}

    monkeypatch.setattr("reproduce.running._call", call)
