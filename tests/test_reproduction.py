"""Many experiments and one table: what is finished stays, what fails says why."""

import pytest

from kgflow.reproduction import Plan, finished, reproduce
from kgflow.studies.small import markdown

QUICK = ("--dim", "4", "--epochs", "1")


def plan(data, model, *words):
    return Plan(data, model, ("train", data, "--model", model, *QUICK, *words))


@pytest.mark.parametrize("jobs", [1, 2])
def test_it_runs_what_is_missing_and_shows_all(tmp_path, jobs):
    told, plans = [], [plan("world", "transe"), plan("world", "distmult")]
    first = list(reproduce(plans, tmp_path, jobs, told.append))
    assert sorted(told) == sorted(p.command for p in plans)
    assert finished(tmp_path / "world-transe")
    again = list(reproduce(plans, tmp_path, jobs, told.append))
    assert len(told) == 2, "nothing is run twice"
    assert again == first
    assert all(0 < r.mrr < 1 and r.epochs == 1 and r.dim == 4 for r in first)
    lines = markdown(first).splitlines()
    assert len(lines) == 4
    assert f"{first[0].mrr:.3f}" in lines[2]


def test_what_cannot_run_says_why(tmp_path):
    plans = [plan("no-such-graph", "transe"), plan("world", "transe", "--lr", "-1")]
    found = list(reproduce(plans, tmp_path))
    assert "no-such-graph" in found[0].skipped
    assert "lr" in found[1].skipped
    assert "| – | – | – |" in markdown(found)
