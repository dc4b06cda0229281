"""Time limits: a race of recipes by successive halving, its time and its state."""

import itertools
import json
import re
import time

import pytest
import torch

import kgflow
from graphs import make_experiment, random_graph
from kgflow.errors import KgflowError
from kgflow.runs.presets import Candidate
from kgflow.runs.race import FOLDER, LONGEST, Race
from kgflow.runs.race_state import RaceState, Trial, with_epochs
from kgflow.runs.start import resume, seconds_of
from kgflow.training import Interrupted, Tracker

DATA = random_graph(entities=12, facts=120)
PLANNED = 3


def new_race(directory, names=("nfe-1", "complex", "distmult"), limit=None, **settings):
    fixed = {"model.dim": 4, "training.epochs": PLANNED, "training.batch_size": 20, **settings}
    found = [
        Candidate(name, make_experiment({**fixed, "model.name": name}), f"auto/{name}")
        for name in names
    ]
    trials = [Trial(name=name, planned=PLANNED) for name in names]
    state = RaceState(limit=limit, reserve=0.5 if limit else 0, epoch=0.01, trials=trials)
    return Race.new(directory, DATA, found, state)


class Notes(Tracker, register=False):
    """Keeps what it is told."""

    def __init__(self):
        super().__init__()
        self.logged, self.ended = [], []

    def log(self, metrics, epoch):
        self.logged.append((epoch, next(iter(metrics))))

    def on_end(self, name, settings, metrics):
        self.ended.append((name, settings["model"]["name"], metrics))


def test_without_a_limit_every_recipe_is_trained_to_its_end(tmp_path):
    notes = Notes()
    run = new_race(tmp_path / "run").run([notes])
    assert notes.ended == [("run", run.config.model.name, run.metrics)]
    prefixes = ("", "complex/", "distmult/")
    assert notes.logged == [(i, f"{p}loss") for p in prefixes for i in range(1, PLANNED + 1)]
    assert [trial["epochs"] for trial in run.trials] == [PLANNED] * 3
    best = max(trial["mrr"] for trial in run.trials)
    selection = run.validation.selection
    found = kgflow.evaluation.rank(run.model, DATA.index(selection), DATA.queries())
    mrr = found.metrics()["realistic"].to_dict()["mrr"]
    assert mrr >= best - 1e-6
    if run.config.model.members:
        assert mrr > best
    assert not (tmp_path / "run" / FOLDER).exists()
    assert run.predict(head="e0", relation="r0", k=2).shape[0] == 2


def test_the_time_limit_holds_and_the_winner_is_trained_the_longest(tmp_path, monkeypatch):
    clock = itertools.count(0, 0.01)  # whatever else the machine does
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    race = new_race(tmp_path / "run", limit=4.0, **{"training.patience": 10**6})
    began = time.monotonic()
    run = race.run()
    assert time.monotonic() - began < 4.4
    trials = sorted(run.trials, key=lambda trial: -trial["seconds"])
    assert trials[0]["epochs"] > PLANNED
    assert trials[0]["mrr"] >= trials[-1]["mrr"]
    assert max(trial["epochs"] for trial in run.trials) <= LONGEST * PLANNED


def test_every_recipe_is_trained_and_validated_even_without_time(tmp_path):
    race = new_race(tmp_path / "run", limit=0.6)
    run = race.run()
    assert all(trial["epochs"] >= 1 for trial in run.trials)
    assert all(trial["mrr"] > 0 for trial in run.trials)


def test_an_interrupted_race_continues_with_what_was_left(tmp_path):
    directory, race = tmp_path / "run", new_race(tmp_path / "run")
    count = iter(range(1000))
    with pytest.raises(Interrupted, match=f"--resume {directory}$"):
        race.run(stop=lambda: next(count) >= 15)
    state = json.loads((directory / "race.json").read_text())
    assert sum(trial["finished"] for trial in state["trials"]) < 3
    assert state["spent"] > 0
    with pytest.raises(KgflowError, match="is not finished: kgflow train --resume"):
        kgflow.open(directory)
    with pytest.raises(KgflowError, match="holds a run already"):
        kgflow.train(DATA, "nfe-1", 4, epochs=1, out=directory)
    resumed, whole = resume(directory), new_race(tmp_path / "whole").run()
    for a, b in zip(resumed.model.parameters(), whole.model.parameters(), strict=True):
        assert torch.equal(a, b)
    assert resumed.metrics == whole.metrics


def test_a_recipe_that_diverges_leaves_the_race(tmp_path):
    race = new_race(tmp_path / "run", ("nfe-1", "complex"))
    config = race.place("complex") / "config.toml"
    config.write_text(re.sub(r"lr = .*", "lr = 1e38", config.read_text()))
    run = race.run()
    by_name = {trial["name"]: trial for trial in run.trials}
    assert "diverged" in by_name["complex"]["note"]
    assert run.config.model.name == "nfe-1"


def test_half_of_the_recipes_survive_a_round():
    mrrs = {"a": 0.1, "b": 0.4, "c": 0.3, "d": 0.2, "e": 0.25}
    trials = [Trial(name=n, planned=1, mrr=mrr, epochs=1) for n, mrr in mrrs.items()]
    state = RaceState(limit=60, trials=trials)
    assert [state.survivors(n) for n in (1, 2, 3)] == [["b", "c", "e"], ["b", "c"], ["b"]]


def test_a_time_limit_in_python(tmp_path):
    run = kgflow.train(DATA, epochs=2, time_limit="9s", preset="fast", out=tmp_path / "run")
    assert run.trials[0]["name"] == "filled"
    assert run.config.run.preset.startswith("fast/") or run.config.model.members
    with pytest.raises(KgflowError, match="too short"):
        kgflow.train(DATA, time_limit="1s", out=tmp_path / "short")
    assert not (tmp_path / "short").exists()
    without = kgflow.data.Dataset("d", DATA.entities, DATA.relations, DATA.train)
    alone = kgflow.train(without, epochs=2, time_limit=9, out=tmp_path / "alone")
    assert [trial["name"] for trial in alone.trials] == ["filled"]


def test_the_schedule_and_the_average_fit_other_epochs():
    experiment = make_experiment(
        {"training.epochs": 10, "training.ema_decay": 0.5, "training.lr_schedule.decay": 0.9}
    )
    fitted = with_epochs(experiment, 40).training
    assert fitted.epochs == 40
    assert fitted.ema_decay == pytest.approx(0.875, abs=0.01)
    assert fitted.lr_schedule.factor(40, 40) == pytest.approx(0.9**10)
    none = with_epochs(make_experiment({"training.ema_decay": 0.0}), 40).training
    assert none.ema_decay == 0


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("1.5m", 90), ("1h2m3s", 3723), (5, 5)])
def test_times(text, seconds):
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "10", "m", "10 min", "-5s", "5d"])
def test_what_is_no_time(text):
    with pytest.raises(KgflowError, match="give a time such as 90s, 10m or 1h30m"):
        seconds_of(text)
