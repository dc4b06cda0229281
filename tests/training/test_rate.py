"""Rates against their formulas, and in a training."""

import math

import pytest

from graphs import random_graph
from kgflow.config import Experiment, ModelConfig, TrainingConfig
from kgflow.runs.training import run_experiment
from kgflow.training import Cosine, Exponential, Plateau, Warmup

DATA = random_graph(entities=30, facts=200)


def trained(directory, callbacks=(), **training):
    settings = {"epochs": 4, "batch_size": 20, "lr": 0.05, "patience": 100} | training
    config = Experiment(
        data="random", model=ModelConfig(dim=2), training=TrainingConfig(**settings)
    )
    return run_experiment(config, DATA, directory, callbacks=callbacks)


def test_formulas():
    for epoch in (0.0, 0.5, 1.0, 2.25, 4.0):
        assert Exponential(0.9)(epoch, 7) == 0.9 ** math.floor(epoch)
        assert Cosine(4)(epoch, 7) == pytest.approx((1 + math.cos(math.pi * epoch / 4)) / 2)
        assert Plateau(0.9)(epoch, 3) == 0.9**3
        for rate in (Exponential(0.9), Cosine(4), Plateau(0.9)):
            assert Warmup(rate, 2)(epoch, 1) == pytest.approx(rate(epoch, 1) * min(1, epoch / 2))


def test_plateau_drops_with_every_validation_without_gain(tmp_path):
    run = trained(tmp_path / "run", schedule="plateau", decay=0.5, epochs=12, lr=0.2)
    best, expected = -1.0, 0.2
    for record in run.history:
        assert record["lr"] == pytest.approx(expected)
        expected *= 1.0 if record["mrr"] > best else 0.5
        best = max(best, record["mrr"])
    assert expected < 0.2, "the rate never fell"


def test_cosine_and_warmup_change_from_batch_to_batch(tmp_path):
    run = trained(tmp_path / "cosine", schedule="cosine")
    rates = [record["lr"] for record in run.history]
    assert rates == sorted(rates, reverse=True)
    assert 0 < rates[-1] < 0.001
    run = trained(tmp_path / "warm", warmup=2, decay=1.0)
    rates = [record["lr"] for record in run.history]
    assert 0.02 < rates[0] < 0.025
    assert 0.045 < rates[1] < 0.05
    assert rates[2:] == [0.05, 0.05]
