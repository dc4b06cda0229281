"""Quick runs for reports."""

from dataclasses import replace

import pytest

import kgflow
from graphs import random_graph
from kgflow.analysis.report import write_report


@pytest.fixture(scope="session")
def runs(tmp_path_factory):
    """A run with densities and one without, on the same data."""
    folder, data = tmp_path_factory.mktemp("insight"), random_graph(60, 4, 400, held_out=40)
    types = {name: ("odd" if int(name[1:]) % 2 else "even",) for name in data.entities}
    typed = replace(data, types=types, labels={"e3": "the third"})
    return [
        kgflow.train(typed, model=name, dim=8, epochs=2, lr=0.05, out=folder / name)
        for name in ("nfe-1", "distmult")
    ]


@pytest.fixture(scope="session")
def report(runs, tmp_path_factory):
    """A report on both runs."""
    out = tmp_path_factory.mktemp("report") / "both.html"
    return write_report(runs, out, entities=["e5", "the third"])
