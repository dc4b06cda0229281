"""The study of combined runs: what it needs is run first, and rows say what the runs say."""

import json
from pathlib import Path

import pytest

import kgflow
from graphs import random_graph
from kgflow.data import load, save
from kgflow.errors import KgflowError
from kgflow.reproduction import collect, reproduce
from kgflow.runs.training import run_experiment, settle
from kgflow.studies import CombinationsStudy
from kgflow.studies.combination_file import CombinationFile
from kgflow.studies.experiment_file import ExperimentFile

ROOT = Path(__file__).parent.parent / "experiments"


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A graph, two experiments on it, and a combination of them."""
    monkeypatch.chdir(tmp_path)
    save(random_graph(facts=120), tmp_path / "graph")
    for kind in ("benchmarks", "combinations"):
        (tmp_path / "experiments" / kind / "graph").mkdir(parents=True)
    for name in ("nfe-1", "distmult"):
        (tmp_path / "experiments/benchmarks/graph" / f"{name}.toml").write_text(
            f'data = "graph"\n[model]\nname = "{name}"\ndim = 4\n[training]\nepochs = 2\n'
        )
    combination(tmp_path, "two", '# Both\nruns = ["nfe-1:0", "distmult:3"]\n')
    return tmp_path


def combination(place, name, text):
    path = place / "experiments/combinations/graph" / f"{name}.toml"
    path.write_text(text)
    return path


def study():
    return CombinationsStudy(Path("runs"), Path("pictures"))


def call(words, _):
    """As the commands do, in this process."""
    if words[0] == "ensemble":
        at = words.index("--out")
        kgflow.ensemble(words[1:at], words[at + 1], force="--force" in words)
        return
    flags = dict(zip(words[1::2], words[2::2], strict=True))
    values = ExperimentFile(Path(flags["--config"])).settled(int(flags["--seed"]))
    run_experiment(settle(values, "test"), load(values["data"]), flags["--out"])


def test_what_is_needed_is_run_first_and_a_row_says_what_the_runs_say(place, monkeypatch):
    monkeypatch.setattr("kgflow.reproduction._call", call)
    plans, told = study().plans([], []), []
    assert [plan.name for plan in plans] == ["graph-nfe-1-0", "graph-distmult-3", "graph-two"]
    results = list(reproduce(plans[::-1], Path("runs"), progress=told.append, kept=Path("kept")))
    parts = "runs/graph-nfe-1-0 runs/graph-distmult-3"
    assert told[-1] == f"kgflow ensemble {parts} --out runs/graph-two"
    assert [result.plan for result in results] == plans[::-1]
    shown = study().show(results)
    (row,) = shown.found["rows"]

    def metrics(name, split):
        found = json.loads((place / "runs" / name / "metrics.json").read_text())
        return found[split]["realistic"]["mrr"]

    assert row["mrr"] == metrics("graph-two", "test")
    assert row["valid"] == metrics("graph-two", "valid")
    best = max(("graph-nfe-1-0", "graph-distmult-3"), key=lambda name: metrics(name, "valid"))
    assert row["alone"] == metrics(best, "test")
    assert row["alone_valid"] == metrics(best, "valid")
    assert f"| graph | Both | 2 | {row['mrr']:.3f} | {row['alone']:.3f} |" in shown.text
    page = study().page(shown, results)
    again = list(collect(plans[::-1], Path("elsewhere"), Path("kept")))
    assert study().page(study().show(again), again) == page
    list(reproduce(plans, Path("runs"), progress=told.append, kept=Path("kept")))
    assert len(told) == 3, "nothing is made twice"


def test_a_changed_list_is_noticed(place, monkeypatch):
    monkeypatch.setattr("kgflow.reproduction._call", call)
    list(reproduce(study().plans([], []), Path("runs"), kept=Path("kept")))
    combination(place, "two", '# Both\nruns = ["nfe-1:0", "distmult:3", "nfe-1:1"]\n')
    results = list(reproduce(study().plans([], []), Path("runs"), kept=Path("kept")))
    assert results[-1].skipped == "kept/graph-two is of other runs than its file has now: remove it"
    assert study().show(results).found["rows"] == []


def test_what_was_interrupted_is_made_again(place, monkeypatch):
    monkeypatch.setattr("kgflow.reproduction._call", call)
    plans = study().plans([], [])
    before = list(reproduce(plans, Path("runs")))
    (place / "runs/graph-two/metrics.json").unlink()
    after = list(reproduce(plans, Path("runs")))
    assert [result.mrr for result in after] == [result.mrr for result in before]


def test_without_its_runs_it_is_not_made(place, monkeypatch):
    def fails(words, jobs):
        raise KgflowError("no time")

    monkeypatch.setattr("kgflow.reproduction._call", fails)
    results = list(reproduce(study().plans([], []), Path("runs")))
    assert results[-1].skipped == "runs/graph-nfe-1-0 is needed for it, and is not trained"
    shown = study().show(results)
    assert "- Both (`experiments/combinations/graph/two.toml`): no time." in shown.text
    assert shown.found["rows"] == []


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("runs = [", "is not TOML"),
        ("", "wants a list 'runs' of two or more"),
        ('runs = ["nfe-1:0"]', "wants a list 'runs' of two or more"),
        ('runs = ["nfe-1:0", "nfe-1:1"]\nx = 1', "and nothing else"),
        ('runs = ["nfe-1:0", "nfe-2:0"]', "'nfe-2:0' is no run"),
        ('runs = ["nfe-1:0", "nfe-1"]', "'nfe-1' is no run"),
    ],
)
def test_files_that_say_nothing_sensible(place, text, sentence):
    path = combination(place, "bad", text)
    with pytest.raises(KgflowError, match=sentence) as error:
        study().plans([], [])
    assert str(path.relative_to(place)) in str(error.value)


def test_choices(place):
    assert len(study().plans([], ["graph"])) == 3
    with pytest.raises(KgflowError, match="no combination on these graphs"):
        study().plans([], ["umls"])
    with pytest.raises(KgflowError, match="leave --model out"):
        study().plans(["nfe-1"], [])


@pytest.mark.parametrize("path", sorted((ROOT / "combinations").glob("*/*.toml")), ids=str)
def test_ours_are_of_experiments_that_are_there(path):
    file = CombinationFile(path, ROOT / "benchmarks")
    assert {run.experiment.data for run, _ in file.runs} == {file.graph}
    assert path.read_text().startswith("# ")
