"""Benchmarks: the page shows what is stored, and nothing of other settings."""

import json
import math
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from graphs import random_graph
from kgflow.data import save
from kgflow.errors import KgflowError
from pretended import BENCHMARKS, pretend, row, stored
from reproduce.benchmarks import BenchmarksStudy
from reproduce.paper import _tables
from reproduce.results import Record, Results, provenance_text
from reproduce.running import NOT_RUN, collect, run_plans
from reproduce.study import Options, Study
from reproduce.uncertainty_effect import Effect

TABLE_1 = row("wn18rr/nfe-1", "wn18rr") + "published = [0.483, 0.438, 0.576]\n"
TABLE_1 += row("wn18rr/nfe-point", "wn18rr", "nfe-point") + "published = [0.475, 0.430, 0.568]\n"


def write(*rows, extra=""):
    """Write the file of the benchmarks."""
    (Study.files / "benchmarks.toml").write_text(BENCHMARKS + extra + "".join(rows))


@pytest.fixture(autouse=True)
def _table_of_the_paper(place):
    (place / "studies" / "table1.toml").write_text(TABLE_1)
    _tables.cache_clear()
    yield
    _tables.cache_clear()


def study(seeds=1, **chosen):
    return BenchmarksStudy(Path("runs"), Path("benchmarks"), Options(seeds=seeds, **chosen))


def shown(mine, results):
    return mine.show(list(collect(mine.plans(), Path("runs"), results)))


def cells(text, name):
    line = next(line for line in text.splitlines() if line.startswith(f"| {name} |"))
    return [cell.strip() for cell in line.strip("|").split("|")]


@pytest.mark.usefixtures("no_pictures")
def test_a_row_has_means_and_standard_deviations_over_seeds():
    extra = '[best.wn18rr]\nmrr = 0.511\nsource = "Someone, 2022"\n'
    write(row("wn18rr/a", "wn18rr", title="Ours"), extra=extra)
    mine, mrrs = study(3), [0.41, 0.44, 0.46]
    page = shown(mine, stored(mine.plans(), mrrs))
    found, mean, sd = cells(page.text, "Ours"), np.mean(mrrs), np.std(mrrs, ddof=1)
    assert found[1:5] == ["`nfe-1`", "4", "3", f"{mean:.3f} ± {sd:.3f}"]
    assert found[5:7] == ["0.483", f"{mean - 0.483:+.3f}"]
    assert found[7] == f"{mean / 2:.3f} ± {sd / 2:.3f}"
    assert found[8] == f"{mean * 1.5:.3f} ± {sd * 1.5:.3f}"
    assert found[9:] == [f"{mean + 0.01:.3f} ± {sd:.3f}", "2", "1", "1.5"]
    assert page.values["rows"][0]["mrr"] == mrrs
    assert "MRR 0.511 (Someone, 2022)" in page.text


@pytest.mark.usefixtures("in_process")
def test_stored_results_alone_make_the_page_of_the_runs(place):
    """In real runs; without their weights, and without the data."""
    pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")
    save(random_graph(), place / "graph")
    write(row("graph/a", "graph", "distmult", title="Mine"))
    mine, started, results = study(2), [], Results(Path("results"))
    plans = mine.plans()
    assert [plan.run(Path()) for plan in plans] == [
        Path("benchmarks/graph-a-0"),
        Path("benchmarks/graph-a-1"),
    ]
    found = run_plans(plans, Path("runs"), results, progress=started.append)
    outcome = mine.show(found)
    page = mine.page(outcome, found)
    assert "`python -m reproduce benchmarks --row graph/a`" in page
    for plan, mrr in zip(plans, outcome.values["rows"][0]["mrr"], strict=True):
        metrics = json.loads((plan.run(Path("runs")) / "metrics.json").read_text())
        assert mrr == metrics["test"]["realistic"]["mrr"]
    again = run_plans(plans, Path("runs"), results, progress=started.append)
    assert len(started) == 2, "nothing is run twice"
    for result in again:
        results.add(result.record)
    for lost in ("runs", "graph", "benchmarks"):
        shutil.rmtree(lost)
    again = run_plans(plans, Path("runs"), Results(Path("results")), progress=started.append)
    assert len(started) == 2, "nor what is stored"
    assert mine.page(mine.show(again), again) == page
    assert (place / "benchmarks" / "graph.png").read_bytes().startswith(b"\x89PNG")


def test_the_picture_has_the_best_rows(monkeypatch):
    drawn = {}

    def draw(curves, marks, graph, path):
        drawn[graph] = [curve.label for curve in curves]
        return path

    monkeypatch.setattr("reproduce.benchmarks.learning_curve_figure", draw)
    write(*(row(f"wn18rr/x{i}", "wn18rr") for i in range(10)))
    mrrs = [0.3, 0.1, 0.5, 0.4, 0.2, 0.35, 0.45, 0.25, 0.15, 0.05]
    text = shown(study(), stored(study().plans(), mrrs)).text
    assert drawn["wn18rr"] == [f"wn18rr/x{i}" for i in (0, 2, 3, 4, 5, 6, 7, 8)]
    assert "minutes of training, the 8 best rows](" in text


@pytest.mark.usefixtures("no_pictures")
def test_a_changed_row_is_noticed_and_not_trained_over():
    write(row("wn18rr/a", "wn18rr"), row("wn18rr/b", "wn18rr", title="Other"))
    results = stored(study().plans()[:1], [0.4321])
    write(
        row("wn18rr/a", "wn18rr", training__optimizer__lr=0.2),
        row("wn18rr/b", "wn18rr", title="Other"),
    )
    mine = study()
    one, other = collect(mine.plans(), Path("runs"), results)
    assert "was trained with training.optimizer.lr = 0.1, but the row now has 0.2" in one.skipped
    assert other.skipped == NOT_RUN
    text = mine.show([one, other]).text
    assert "0.432" not in text
    assert "- Not shown: wn18rr/a (`wn18rr/a`): results/benchmarks.jsonl:1" in text
    assert "- Not run: Other (`wn18rr/b`)." in text
    [found] = run_plans(mine.plans()[:1], Path("runs"), results)
    assert "remove it to train again" in found.skipped
    assert not any(Path("runs").iterdir())


def test_what_is_stored_stays_and_has_its_provenance():
    write(row("wn18rr/a", "wn18rr"), row("wn18rr/b", "wn18rr"))
    record = pretend(study().plans()[0], 0.4)
    results = Results(Path("results"))
    results.add(replace(record, provenance={}))
    assert provenance_text(results.get("benchmarks", "wn18rr/a", 0).provenance)[:9] == "stored 20"
    results.add(replace(record, metrics={}))
    first = Path("results/benchmarks.jsonl").read_text()
    again = Results(Path("results"))
    again.add(replace(record, metrics={}, provenance={"date": "long ago"}))
    assert Path("results/benchmarks.jsonl").read_text() == first, "it is the same run"
    again.add(record)
    again.add(pretend(study().plans()[1], 0.5))
    lines = Path("results/benchmarks.jsonl").read_text().splitlines()
    assert [Record.from_line(line, "").row for line in lines] == ["wn18rr/a", "wn18rr/b"]
    assert replace(Record.from_line(lines[0], "")) == record
    Path("results/benchmarks.jsonl").write_text(lines[0] + "\n{}\n")
    with pytest.raises(KgflowError, match=r"benchmarks\.jsonl:2 is damaged"):
        Results(Path("results")).get("benchmarks", "wn18rr/a", 0)


@pytest.mark.usefixtures("no_pictures")
def test_provenance_is_shown_once_if_it_is_the_same():
    write(*(row(f"wn18rr/{name}", "wn18rr") for name in "abc"))
    mine, results = study(), Results(Path("results"))
    for plan, date in zip(mine.plans(), ("one", "one", "two"), strict=True):
        results.add(pretend(plan, 0.4, provenance={"date": date}))
    found = list(collect(mine.plans(), Path("runs"), results))
    assert mine.page(mine.show(found), found[:2]).endswith("\n\none\n")
    page = mine.page(mine.show(found), found)
    assert "- one: `wn18rr/a:0`, `wn18rr/b:0`\n- two: `wn18rr/c:0`\n" in page


@pytest.mark.usefixtures("no_pictures")
@pytest.mark.parametrize(
    ("with_it", "without", "sentence"),
    [
        ((0.48, 0.482), (0.47, 0.471), "The sign is the paper's (there +0.008)."),
        ((0.46, 0.50), (0.47, 0.471), "The sign is the paper's (there +0.008); the interval"),
        ((0.47, 0.471), (0.48, 0.482), "The sign is not the paper's (there +0.008)"),
        ((0.47,), (0.48,), "two seeds of each are needed"),
    ],
)
def test_the_effect_of_uncertainty_is_measured_between_rows_that_differ_by_it(
    with_it, without, sentence
):
    names = ("x-nfe-1", "y-nfe-1", "xnfe-1")
    rows = [row(f"wn18rr/{name}", "wn18rr") for name in names]
    write(*rows, row("wn18rr/x-nfe-point", "wn18rr", "nfe-point"))
    mine = study(len(with_it))
    plans = [plan for plan in mine.plans() if "/x-" in plan.row]
    page = shown(mine, stored(plans, (*with_it, *without)))
    assert len(page.values["effects"]) == 1
    assert sentence in page.text


@pytest.mark.usefixtures("no_pictures")
def test_rows_that_differ_otherwise_are_not_compared():
    point = row("wn18rr/nfe-point", "wn18rr", "nfe-point", training__optimizer__lr=0.2)
    write(row("wn18rr/nfe-1", "wn18rr"), point)
    text = shown(study(), stored(study().plans(), [0.4, 0.4])).text
    assert "the rows also differ in training.optimizer.lr and are not compared" in text


@pytest.mark.usefixtures("no_pictures")
def test_without_numbers_of_the_paper_it_is_not_mentioned():
    write(*(row(f"umls/{model}", "umls", model) for model in ("nfe-1", "nfe-point")))
    text = shown(study(2), stored(study(2).plans(), [0.5, 0.501, 0.402, 0.403])).text
    assert "MRR is higher with uncertainty" in text
    assert "the paper's" not in text


@pytest.mark.usefixtures("no_pictures")
@pytest.mark.parametrize("change", [{}, {"model__bias": True}, {"model__uncertainty": 4.0}])
def test_only_the_model_of_the_paper_has_its_number(change):
    write(row("wn18rr/a", "wn18rr", **change))
    text = shown(study(), stored(study().plans(), [0.4])).text
    assert ("0.483" in text) == (not change)


def test_interval_of_welch():
    from scipy import stats

    rng = np.random.default_rng(0)
    a, b = rng.normal(0.48, 0.01, 5), rng.normal(0.47, 0.003, 4)
    found, reference = Effect(tuple(a), tuple(b)), stats.ttest_ind(a, b, equal_var=False)
    assert found.difference / found.error == pytest.approx(reference.statistic)
    assert found.interval == pytest.approx(reference.confidence_interval(0.95))
    assert Effect((0.5, 0.5), (0.4, 0.4)).interval == pytest.approx((0.1, 0.1))


def test_choices():
    pairs = (("umls", "nfe-1"), ("umls", "nfe-point"), ("wn18rr", "nfe-1"))
    write(*(row(f"{graph}/{model}", graph, model) for graph, model in pairs))
    assert [p.name for p in study().plans()] == [f"{g}/{m}:0" for g, m in pairs]
    assert len(study(models=("nfe-1",), data=("umls",)).plans()) == 1
    assert [p.row for p in study(rows=("umls/nfe-point",)).plans()] == ["umls/nfe-point"]
    with pytest.raises(KgflowError, match="no row of these models, graphs and ids"):
        study(models=("distmult",)).plans()


@pytest.mark.usefixtures("no_pictures")
@pytest.mark.parametrize(
    "damage",
    [
        {"history": []},
        {"metrics": {"test": {"realistic": {"mrr": "x"}}}},
        {"metrics": {"test": {"realistic": {"mrr": math.nan, "hits@1": 0.3, "hits@10": 0.5}}}},
        {"metrics": {"test": {"realistic": {"mrr": None, "hits@1": 0.3, "hits@10": 0.5}}}},
        {"valid": {}},
    ],
    ids=str,
)
def test_a_damaged_run_has_no_numbers_and_spoils_no_others(damage):
    write(row("wn18rr/a", "wn18rr"), row("wn18rr/b", "wn18rr"))
    mine, results = study(), stored(study().plans(), [0.4, 0.4])
    record = results.get("benchmarks", "wn18rr/a", 0)
    if "valid" in damage:
        damage = {"metrics": record.metrics | damage}
    results.add(replace(record, **damage))
    one, other = collect(mine.plans(), Path("runs"), Results(Path("results")))
    assert "is damaged: remove it to train again" in one.skipped
    assert other.record.metric("mrr") == 0.4
    assert mine.show([one, other]).text.count("| 0.400 |") == 1


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[[rows]", "is not TOML"),
        ("[[rows]]\nid = 'a'", "lacks 'id' or 'data'"),
        ("[[rows]]\nid = 'a'\ndata = 'x'\nlr = 1", "unknown key 'lr'"),
        (row("a", "x") + row("a", "x"), "the id 'a' is used twice"),
        (row("a", "x", training__optimizer__lr=-1), "row 'a': 'training.optimizer.lr' is -1"),
    ],
)
def test_files_that_make_no_sense(text, sentence):
    (Study.files / "benchmarks.toml").write_text(text)
    with pytest.raises(KgflowError, match=sentence):
        study().plans()
