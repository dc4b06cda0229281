"""Benchmarks: the page says what the small files say, and nothing of other settings."""

import json
import math
import shutil
from pathlib import Path

import numpy as np
import pytest

from graphs import random_graph
from kgflow.config import Experiment, RunConfig, RunInfo, dump
from kgflow.data import load, save
from kgflow.errors import KgflowError
from kgflow.kept import FILES, NOTE, keep, origin
from kgflow.reproduction import NOT_RUN, collect, reproduce
from kgflow.runs.training import run_experiment, settle
from kgflow.studies import BenchmarksStudy, Options
from kgflow.studies.effect import Effect
from kgflow.studies.experiment_file import ExperimentFile
from kgflow.studies.printed import BEST, printed

pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")

INFO = RunInfo(format=1, kgflow="0", data_digest="0", entities=2, relations=1, reciprocal=True)


def experiment(place, graph, name, model="nfe-1", comment="", data=None, lr=0.1):
    """Write an experiment file."""
    path = place / "experiments" / "benchmarks" / graph / f"{name}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f'{comment}\ndata = "{data or graph}"\n[model]\nname = "{model}"\ndim = 4\n'
        f"[training]\nepochs = 2\nlr = {lr}\n".lstrip("\n")
    )
    return path


def pretend(place, plan, mrr, seconds=(60.0, 30.0), note="2026-01-01, commit 1, 2 x Slide Rule"):
    """Small files as a run would leave them, with numbers of our own."""
    run = plan.run(place)
    run.mkdir(parents=True)
    config = RunConfig(**dict(Experiment.model_validate(plan.settings)), run=INFO)
    (run / "config.toml").write_bytes(dump(config))
    history = [
        {"epoch": i + 1, "seconds": s, "loss": 1.0, "mrr": mrr - 0.01 * i}
        for i, s in enumerate(seconds)
    ]
    (run / "history.jsonl").write_text("".join(json.dumps(r) + "\n" for r in history))
    found = {"mrr": mrr, "hits@1": mrr / 2, "hits@10": mrr * 1.5}
    metrics = {"test": {"realistic": found}, "valid": {"realistic": found | {"mrr": mrr + 0.01}}}
    (run / "metrics.json").write_text(json.dumps(metrics))
    if note:
        (run / NOTE).write_text(note)


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def here(place, monkeypatch):
    """Where no pictures are drawn, which takes long."""
    monkeypatch.setattr("kgflow.studies.benchmarks.course_picture", lambda *given: given[-1])
    return place


def study(seeds=1, place="runs"):
    return BenchmarksStudy(Path(place), Path("benchmarks"), Options(seeds=seeds))


def cells(text, name):
    line = next(line for line in text.splitlines() if line.startswith(f"| {name} |"))
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_a_row_has_means_and_spreads_over_seeds(here):
    experiment(here, "wn18rr", "a", comment="# Ours,\n# with little.\n#\n# A remark.")
    mine, mrrs = study(3), [0.41, 0.44, 0.46]
    for plan, mrr in zip(mine.plans([], []), mrrs, strict=True):
        pretend(here / "runs", plan, mrr)
    shown = mine.show(list(collect(mine.plans([], []), Path("runs"))))
    found = cells(shown.text, "Ours, with little")
    mean, sd = np.mean(mrrs), np.std(mrrs, ddof=1)
    assert found[1:5] == ["`nfe-1`", "4", "3", f"{mean:.3f} ± {sd:.3f}"]
    assert found[5:7] == ["0.483", f"{mean - 0.483:+.3f}"]
    assert found[7] == f"{mean / 2:.3f} ± {sd / 2:.3f}"
    assert found[8] == f"{mean * 1.5:.3f} ± {sd * 1.5:.3f}"
    assert found[9:] == [f"{mean + 0.01:.3f} ± {sd:.3f}", "2", "1", "1.5"]
    assert shown.found["rows"][0]["mrr"] == mrrs
    assert f"MRR {BEST['wn18rr'].mrr:.3f} ({BEST['wn18rr'].whose})" in shown.text


def test_kept_files_alone_make_the_page_of_the_runs(place, monkeypatch):
    """In a real run; without its weights, and without the data."""
    save(random_graph(), place / "graph")
    path = experiment(place, "graph", "a", "distmult", "# Mine", data=place / "graph")

    def call(words, _):
        flags = dict(zip(words[1::2], words[2::2], strict=True))
        values = ExperimentFile(Path(flags["--config"])).settled(int(flags["--seed"]))
        run_experiment(settle(values, "test"), load(values["data"]), flags["--out"])

    monkeypatch.setattr("kgflow.reproduction._call", call)  # a process each would take long
    told, mine = [], study(2)
    plans = mine.plans([], [])
    assert [plan.run(Path()).name for plan in plans] == ["graph-a-0", "graph-a-1"]
    assert plans[1].command == f"kgflow train --config {path.relative_to(place)} --seed 1"
    results = list(reproduce(plans, Path("runs"), progress=told.append))
    shown = mine.show(results)
    page, found = mine.page(shown, results), shown.found["rows"][0]["mrr"]
    for run, mrr in zip(("runs/graph-a-0", "runs/graph-a-1"), found, strict=True):
        metrics = json.loads((place / run / "metrics.json").read_text())
        assert mrr == metrics["test"]["realistic"]["mrr"]
        assert origin(place / run)
    list(reproduce(plans, Path("runs"), progress=told.append, kept=Path("kept")))
    assert len(told) == 2, "nothing is run twice"
    assert {p.name for p in (place / "kept" / "graph-a-0").iterdir()} == {*FILES, NOTE}
    for lost in ("runs", "graph", "benchmarks"):
        shutil.rmtree(lost)
    again = list(reproduce(plans, Path("runs"), progress=told.append, kept=Path("kept")))
    assert len(told) == 2, "nor what is kept"
    assert mine.page(mine.show(again), again) == page
    found = list(collect(plans, Path("nowplace"), Path("kept")))
    assert mine.page(mine.show(found), found) == page
    assert (place / "benchmarks" / "graph.png").read_bytes().startswith(b"\x89PNG")
    assert (place / "benchmarks" / "graph.svg").read_text().startswith("<svg")


def test_the_picture_is_of_the_best_rows(place, monkeypatch):
    drawn = {}

    def draw(courses, marks, graph, path):
        drawn[graph] = [course.label for course in courses]
        return path

    monkeypatch.setattr("kgflow.studies.benchmarks.course_picture", draw)
    for number in range(10):
        experiment(place, "wn18rr", f"x{number}")
    mine = study()
    mrrs = [0.3, 0.1, 0.5, 0.4, 0.2, 0.35, 0.45, 0.25, 0.15, 0.05]
    for plan, mrr in zip(mine.plans([], []), mrrs, strict=True):
        pretend(place / "runs", plan, mrr)
    text = mine.show(list(collect(mine.plans([], []), Path("runs")))).text
    assert drawn["wn18rr"] == [f"x{i}" for i in (0, 2, 3, 4, 5, 6, 7, 8)]
    assert "minutes of training, the 8 best rows](" in text


def test_a_changed_experiment_is_noticed(here):
    experiment(here, "wn18rr", "a", comment="# Old")
    experiment(here, "wn18rr", "b", comment="# Other")
    pretend(here / "kept", study().plans([], [])[0], 0.4321)
    experiment(here, "wn18rr", "a", comment="# New", lr=0.2)
    mine = study()
    results = list(collect(mine.plans([], []), Path("runs"), Path("kept")))
    assert "trained with training.lr = 0.1 where the experiment now has 0.2" in results[0].skipped
    assert results[1].skipped == NOT_RUN
    text = mine.show(results).text
    assert "0.432" not in text
    assert "- Not shown: New (`experiments/benchmarks/wn18rr/a.toml`): kept/wn18rr-a-0" in text
    assert "- Not run: Other (`experiments/benchmarks/wn18rr/b.toml`)." in text


def test_what_is_kept_stays_and_says_where_it_is_from(here):
    experiment(here, "wn18rr", "a")
    plan = study().plans([], [])[0]
    pretend(here / "runs", plan, 0.4, note=None)
    run, kept = plan.run(here / "runs"), plan.run(here / "kept")
    keep(run, kept)
    assert origin(kept).startswith("kept 20")
    (kept / NOTE).write_text("long ago")
    keep(run, kept)
    assert origin(kept) == "long ago", "it is the same run"
    (run / "metrics.json").write_text("{}")
    keep(run, kept)
    assert origin(kept).startswith("kept 20"), "it is another run"
    assert all((kept / name).read_bytes() == (run / name).read_bytes() for name in FILES)


def test_provenance_is_told_once_if_it_is_the_same(here):
    for name in "abc":
        experiment(here, "wn18rr", name)
    mine = study()
    for plan, note in zip(mine.plans([], []), ("one", "one", "two"), strict=True):
        pretend(here / "runs", plan, 0.4, note=note)
    results = list(collect(mine.plans([], []), Path("runs")))
    shown = mine.show(results)
    assert mine.page(shown, results[:2]).endswith("\n\none\n")
    page = mine.page(shown, results)
    assert "- one: `wn18rr-a-0`, `wn18rr-b-0`\n- two: `wn18rr-c-0`\n" in page


@pytest.mark.parametrize(
    ("with_it", "without", "said"),
    [
        ((0.48, 0.482), (0.47, 0.471), "The sign is the paper's (there +0.008)."),
        ((0.46, 0.50), (0.47, 0.471), "The sign is the paper's (there +0.008); the interval"),
        ((0.47, 0.471), (0.48, 0.482), "The sign is not the paper's (there +0.008)"),
        ((0.47,), (0.48,), "two seeds of each are needed"),
    ],
)
def test_uncertainty_is_judged_between_files_that_differ_by_it(here, with_it, without, said):
    experiment(here, "wn18rr", "x-nfe-1")
    experiment(here, "wn18rr", "x-nfe-point", "nfe-point")
    experiment(here, "wn18rr", "y-nfe-1")
    experiment(here, "wn18rr", "xnfe-1")
    mine = study(len(with_it))
    for model, mrrs in (("nfe-1", with_it), ("nfe-point", without)):
        plans = [p for p in mine.plans([model], []) if "/x-" in p.command]
        for plan, mrr in zip(plans, mrrs, strict=True):
            pretend(here / "runs", plan, mrr)
    shown = mine.show(list(collect(mine.plans([], []), Path("runs"))))
    assert len(shown.found["effects"]) == 1
    assert said in shown.text


def test_files_that_differ_otherwise_are_not_compared(here):
    experiment(here, "wn18rr", "nfe-1")
    experiment(here, "wn18rr", "nfe-point", "nfe-point", lr=0.2)
    mine = study()
    for plan in mine.plans([], []):
        pretend(here / "runs", plan, 0.4)
    text = mine.show(list(collect(mine.plans([], []), Path("runs")))).text
    assert "the files differ in training.lr too, so they are not compared" in text


def test_welch():
    from scipy import stats

    rng = np.random.default_rng(0)
    a, b = rng.normal(0.48, 0.01, 5), rng.normal(0.47, 0.003, 4)
    found, reference = Effect(tuple(a), tuple(b)), stats.ttest_ind(a, b, equal_var=False)
    assert found.difference / found.error == pytest.approx(reference.statistic)
    assert found.interval == pytest.approx(reference.confidence_interval(0.95))
    assert Effect((0.5, 0.5), (0.4, 0.4)).interval == pytest.approx((0.1, 0.1))


def test_notes_are_part_of_the_page(here):
    path = experiment(here, "wn18rr", "a")
    (path.parent.parent / "notes.md").write_text("A larger n.\n")
    mine = study()
    assert (
        "## What was tried\n\nA larger n."
        in mine.show(list(collect(mine.plans([], []), here))).text
    )


def test_what_is_printed():
    assert printed("nfe-3-softplus", "fb15k-237") == (0.340, 0.246, 0.530)
    assert printed("complex", "wn18rr") is None


def test_choices(here):
    for graph, model in (("wn18rr", "nfe-1"), ("umls", "nfe-1"), ("umls", "nfe-point")):
        experiment(here, graph, model, model)
    names = [plan.name for plan in study().plans([], [])]
    assert names == ["umls-nfe-1-0", "umls-nfe-point-0", "wn18rr-nfe-1-0"]
    assert [p.name for p in study().plans(["nfe-1"], ["umls"])] == ["umls-nfe-1-0"]
    with pytest.raises(KgflowError, match="no experiment of these models and graphs"):
        study().plans(["distmult"], [])


def metrics(mrr, **more):
    realistic = {"mrr": mrr, "hits@1": 0.3, "hits@10": 0.5}
    return json.dumps({"test": {"realistic": realistic}, **more})


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("history.jsonl", ""),
        ("metrics.json", metrics("x")),
        ("metrics.json", metrics(math.nan)),
        ("metrics.json", metrics(None)),
        ("metrics.json", metrics(0.4, valid={})),
    ],
)
def test_what_is_damaged_has_no_numbers_and_spoils_no_others(here, name, content):
    experiment(here, "wn18rr", "a")
    experiment(here, "wn18rr", "b")
    mine = study()
    plans = mine.plans([], [])
    for plan in plans:
        pretend(here / "runs", plan, 0.4)
    (plans[0].run(here / "runs") / name).write_text(content)
    one, other = collect(plans, Path("runs"))
    assert "is damaged: remove it to train again" in one.skipped
    assert other.mrr == 0.4
    assert mine.show([one, other]).text.count("| 0.400 |") == 1


def test_odd_letters_in_what_goes_with_results(here):
    path = experiment(here, "wn18rr", "a")
    mine = study()
    plan = mine.plans([], [])[0]
    pretend(here / "runs", plan, 0.4)
    (plan.run(here / "runs") / NOTE).write_bytes(b"\xff")
    results = list(collect([plan], Path("runs")))
    assert mine.page(mine.show(results), results)
    (path.parent.parent / "notes.md").write_bytes(b"\xff")
    with pytest.raises(KgflowError, match=r"notes\.md is not UTF-8"):
        mine.show(results)


def test_another_run_in_the_place_of_a_kept_one_is_not_trained_over(here):
    experiment(here, "wn18rr", "a")
    plan = study().plans([], [])[0]
    pretend(here / "kept", plan, 0.4)
    experiment(here, "wn18rr", "a", lr=0.7)
    changed = study().plans([], [])
    [found] = reproduce(changed, here / "runs", kept=here / "kept")
    assert "remove it to train again" in found.skipped
    assert not any((here / "runs").iterdir())


def test_where_the_paper_has_no_numbers_it_is_not_spoken_of(here):
    for model in ("nfe-1", "nfe-point"):
        experiment(here, "umls", model, model)
    mine = study(2)
    for number, plan in enumerate(mine.plans([], [])):
        pretend(here / "runs", plan, 0.4 + 0.1 * (number < 2) + 0.001 * number)
    text = mine.show(list(collect(mine.plans([], []), Path("runs")))).text
    assert "With uncertainty it is better" in text
    assert "the paper's" not in text


@pytest.mark.parametrize("change", ["", "bias = true", "options = {uncertainty = 4.0}"])
def test_only_the_papers_own_model_has_the_papers_number(here, change):
    path = experiment(here, "wn18rr", "a", comment="# Ours.")
    path.write_text(path.read_text().replace("dim = 4", f"dim = 4\n{change}"))
    pretend(here / "runs", study().plans([], [])[0], mrr=0.4)
    shown = study().show(list(collect(study().plans([], []), here / "runs")))
    assert ("0.483" in shown.text) == (not change)
