"""Ensembles of runs: members are trained first, and rows show what the runs have."""

import json
from pathlib import Path

import pytest

from graphs import random_graph
from kgflow.data import save
from kgflow.errors import KgflowError
from pretended import BENCHMARKS, row
from reproduce.ensembles import EnsemblesStudy
from reproduce.results import Results
from reproduce.running import collect, run_plans
from reproduce.study import Options, Study

MEMBERS = '["graph/nfe-1:0", "graph/distmult:3"]'
DIRECTORY = Path("runs")


@pytest.fixture(autouse=True)
def _two_members(place):
    """A graph, two experiments on it, and an ensemble of them."""
    save(random_graph(facts=120), place / "graph")
    rows = [row(f"graph/{name}", "graph", name) for name in ("nfe-1", "distmult")]
    (Study.files / "benchmarks.toml").write_text(BENCHMARKS + "".join(rows))
    write(MEMBERS)


def write(runs):
    path = Study.files / "ensembles.toml"
    path.write_text(f'[[rows]]\nid = "graph/two"\ntitle = "Both"\ndata = "graph"\nruns = {runs}\n')


def study(**chosen):
    return EnsemblesStudy(DIRECTORY, Path("pictures"), Options(**chosen))


def run(plans, **options):
    return run_plans(plans, DIRECTORY, Results(Path("results")), **options)


@pytest.mark.usefixtures("in_process")
def test_members_are_trained_first_and_a_row_shows_what_the_runs_have(place):
    plans, started = study().plans(), []
    assert [plan.name for plan in plans] == ["graph/nfe-1:0", "graph/distmult:3", "graph/two:0"]
    found = run(plans[::-1], progress=started.append)
    assert started[-1] == "ensembles graph/two:0"
    assert [result.plan for result in found] == plans[::-1]
    shown = study().show(found)
    (values,) = shown.values["rows"]

    def mrr(name, split):
        metrics = json.loads((place / "runs" / name / "metrics.json").read_text())
        return metrics[split]["realistic"]["mrr"]

    assert values["mrr"] == mrr("ensembles/graph-two-0", "test")
    assert values["valid"] == mrr("ensembles/graph-two-0", "valid")
    members = ("benchmarks/graph-nfe-1-0", "benchmarks/graph-distmult-3")
    best = max(members, key=lambda name: mrr(name, "valid"))
    assert values["single"] == mrr(best, "test")
    assert values["single_valid"] == mrr(best, "valid")
    assert f"| graph | Both | 2 | {values['mrr']:.3f} | {values['single']:.3f} |" in shown.text
    results = Results(Path("results"))
    for result in found:
        results.add(result.record)
    page = study().page(shown, found)
    again = list(collect(plans[::-1], Path("elsewhere"), Results(Path("results"))))
    assert study().page(study().show(again), again) == page
    run(plans, progress=started.append)
    assert len(started) == 3, "nothing is made twice"

    # An ensemble that was interrupted is made again.
    (place / "runs/ensembles/graph-two-0/metrics.json").unlink()
    after = run_plans(plans, DIRECTORY, Results(Path("none")), progress=started.append)
    assert after[-1].record.metrics == found[0].record.metrics
    assert len(started) == 4

    # A changed list of members is noticed.
    write(MEMBERS.replace("]", ', "graph/nfe-1:1"]'))
    changed = list(collect(study().plans(), DIRECTORY, results))
    assert "has other members than its row has now: remove it" in changed[-1].skipped
    assert study().show(changed).values["rows"] == []


def test_without_its_members_it_is_not_made(monkeypatch):
    def fail(words, jobs):
        raise KgflowError("no time")

    monkeypatch.setattr("reproduce.running._call", fail)
    found = run(study().plans())
    assert found[-1].skipped == (
        "runs/benchmarks/graph-nfe-1-0 is a member of it and is not trained"
    )
    shown = study().show(found)
    assert "- Both (`graph/two`): no time." in shown.text
    assert shown.values["rows"] == []


@pytest.mark.parametrize(
    ("runs", "sentence"),
    [
        ('["graph/nfe-1:0"]', "needs two or more 'runs'"),
        ('["graph/nfe-1:0", "graph/nfe-2:0"]', "'graph/nfe-2:0' of row 'graph/two' is not a run"),
        ('["graph/nfe-1:0", "graph/nfe-1"]', "'graph/nfe-1' of row 'graph/two' is not a run"),
    ],
)
def test_lists_that_make_no_sense(runs, sentence):
    write(runs)
    with pytest.raises(KgflowError, match=sentence):
        study().plans()


def test_choices():
    assert len(study(data=("graph",)).plans()) == 3
    with pytest.raises(KgflowError, match="no row of these models, graphs and ids"):
        study(data=("umls",)).plans()
    with pytest.raises(KgflowError, match="leave --model out"):
        study(models=("nfe-1",)).plans()
