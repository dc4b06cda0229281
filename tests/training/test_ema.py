"""Weight averaging against its definition, and dropout that does something."""

import numpy as np
import pytest
import torch
from torch import nn

from graphs import batch_of, random_graph, random_model
from kgflow.models.layers import BatchNorm
from kgflow.training import OneVsAll
from kgflow.training.ema import MovingAverage


def test_average_is_the_weighted_sum_of_what_it_saw():
    model, rng = nn.Linear(3, 2).double(), np.random.default_rng(0)
    average = MovingAverage(model, decay=0.7)
    seen = [rng.normal(size=(2, 3)) for _ in range(30)]
    for epoch, value in enumerate(seen):
        model.weight.data = torch.from_numpy(value).clone()
        average.update(epoch)
    share, expected = 1.0, np.zeros((2, 3))
    for epoch in reversed(range(30)):
        beta = min(0.7, epoch / (epoch + 10))
        expected += share * (1 - beta) * seen[epoch]
        share *= beta
    assert share == 0, "the start is forgotten"
    own = model.weight.data.clone()
    with average.applied():
        np.testing.assert_allclose(model.weight.detach(), expected)
    assert torch.equal(model.weight, own)


def test_what_batches_were_like_is_averaged_with_the_weights():
    """And a model in its averaged state normalizes by that."""
    torch.manual_seed(0)
    model = BatchNorm(3).double()
    average, seen = MovingAverage(model, decay=0.9), []
    for epoch in range(3):
        model(torch.randn(4, 3).double() * (epoch + 1) + epoch)
        average.update(epoch)
        seen.append((model.mean.clone(), model.variance.clone()))
    mean, variance = seen[0]
    for epoch in (1, 2):
        beta = epoch / (epoch + 10)
        mean, variance = (
            beta * old + (1 - beta) * new
            for old, new in zip((mean, variance), seen[epoch], strict=True)
        )
    x = torch.randn(5, 3).double()
    model.eval()
    with average.applied():
        torch.testing.assert_close(model(x), (x - mean) / (variance + 1e-5).sqrt())
    assert torch.equal(model.mean, seen[-1][0])
    assert torch.equal(model.variance, seen[-1][1])


def test_beta_zero_is_the_model_itself_and_holds_nothing():
    model = nn.Linear(2, 2)
    average = MovingAverage(model, decay=0)
    average.update(0)
    before = model.weight.clone()
    with average.applied():
        assert torch.equal(model.weight, before)
    assert average.weights == {}


@pytest.mark.parametrize(("name", "touched"), [("nfe-1", 8), ("nfe-3", 4), ("distmult", 4)])
def test_dropout_spares_what_must_not_be_zero_and_keeps_the_mean(name, touched):
    model = random_model(name, random_graph(), dim=4)
    rows = torch.ones(20_000, model.entity.weight.shape[1]).double()
    torch.manual_seed(0)
    dropped = model.entity.drop(rows, 0.25)
    assert (dropped[:, touched:] == 1).all()
    assert set(dropped[:, :touched].unique().tolist()) == {0, 1 / 0.75}
    assert dropped.mean().item() == pytest.approx(1, abs=0.01)


def test_dropout_changes_training_only():
    data = random_graph()
    model = random_model("nfe-1", data)
    plain, dropped = (OneVsAll(model, data.queries("train"), 1.0, p) for p in (0.0, 0.5))
    batch = batch_of(plain, np.arange(4))
    model.eval()
    assert dropped.backward(batch) == plain.backward(batch)
    model.train()
    torch.manual_seed(0)
    assert len({dropped.backward(batch) for _ in range(3)}) > 1
    trained = plain.backward(batch)
    model.eval()
    assert trained == plain.backward(batch)
