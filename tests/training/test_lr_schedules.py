"""Learning rate schedules against their formulas, and in a training."""

import math

import pytest

from graphs import make_experiment, random_graph
from kgflow.runs.training import run_experiment
from kgflow.training import Cosine, Exponential

DATA = random_graph(entities=30, facts=200)
SETTINGS = {
    "model.dim": 2,
    "training.epochs": 4,
    "training.batch_size": 20,
    "training.patience": 100,
    "training.optimizer.lr": 0.05,
}


def test_formulas():
    for epoch in (0.0, 0.5, 1.0, 2.25, 4.0):
        assert Exponential(decay=0.9).factor(epoch, 4) == 0.9 ** math.floor(epoch)
        wanted = (1 + math.cos(math.pi * epoch / 4)) / 2
        assert Cosine().factor(epoch, 4) == pytest.approx(wanted)


def test_exponential_changes_after_every_epoch(tmp_path):
    config = make_experiment({"training.lr_schedule.decay": 0.5}, SETTINGS)
    run = run_experiment(config, DATA, tmp_path / "run")
    assert [record["lr"] for record in run.history] == [0.05, 0.025, 0.0125, 0.00625]


def test_cosine_falls_to_zero(tmp_path):
    config = make_experiment({"training.lr_schedule.name": "cosine"}, SETTINGS)
    rates = [record["lr"] for record in run_experiment(config, DATA, tmp_path / "run").history]
    assert rates == sorted(rates, reverse=True)
    assert 0 < rates[-1] < 0.001
