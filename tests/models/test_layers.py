"""Batch normalization against torch's own, and the models of hidden layers in training."""

import numpy as np
import pytest
import torch
from torch import nn

from graphs import batch_of, build, random_graph, random_model
from kgflow.errors import KgflowError
from kgflow.models.layers import BatchNorm
from kgflow.training import OneVsAll

HIDDEN = ["tucker", "conve", "hyper"]


@pytest.mark.parametrize("shape", [(5, 3), (4, 3, 2), (2, 3, 4, 2), (1, 3, 2)])
def test_batch_norm_is_that_of_torch(shape):
    torch.manual_seed(0)
    ours = BatchNorm(3).double()
    theirs = {2: nn.BatchNorm1d, 3: nn.BatchNorm1d, 4: nn.BatchNorm2d}[len(shape)](3).double()
    for parameter, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        other.data = parameter.data.normal_().clone()
    for training in (True, True, False):
        x = torch.randn(shape, dtype=torch.float64)
        torch.testing.assert_close(ours.train(training)(x), theirs.train(training)(x))
    torch.testing.assert_close(ours.mean, theirs.running_mean)
    torch.testing.assert_close(ours.variance, theirs.running_var)


def test_a_batch_of_one_is_normalized_as_remembered():
    norm = BatchNorm(3)
    norm(torch.randn(20, 3))
    before = {k: v.clone() for k, v in norm.state_dict().items()}
    x = torch.randn(1, 3)
    trained = norm(x)
    assert torch.equal(trained, norm.eval()(x))
    assert all(torch.equal(v, before[k]) for k, v in norm.state_dict().items())


@pytest.mark.parametrize("name", HIDDEN)
def test_a_batch_of_one_query_trains(name):
    data = random_graph()
    model = random_model(name, data).train()
    loss = OneVsAll(model, data.queries("train"), 1.0, dropout=0.2)
    assert np.isfinite(loss.backward(batch_of(loss, [2])))
    assert all(torch.isfinite(p.grad).all() for p in model.parameters())


@pytest.mark.parametrize("name", HIDDEN)
def test_hidden_dropout_acts_in_training_only_and_by_its_share(name):
    data = random_graph()
    ids = torch.arange(6)
    torch.manual_seed(0)
    kept, dropped = (
        build(name, len(data.entities), 6, 12, {"hidden_dropout": share}) for share in (0.0, 0.5)
    )
    dropped.load_state_dict(kept.state_dict())

    def spread(model):
        return torch.stack([model.query(ids, ids).Q for _ in range(3)]).std(0).max()

    assert spread(kept) == 0
    assert spread(dropped) > 0
    kept.load_state_dict(dropped.state_dict())
    assert spread(dropped.eval()) == 0
    assert torch.equal(dropped.query(ids, ids).Q, kept.eval().query(ids, ids).Q)


@pytest.mark.parametrize("name", ["conve", "hyper"])
def test_dropout_spares_the_bias_of_entities(name):
    model = random_model(name, random_graph())
    rows = torch.ones(50, 13, dtype=torch.float64)
    assert (model.entity.drop(rows, 0.5)[:, -1] == 1).all()


@pytest.mark.parametrize(
    ("name", "dim", "chosen", "sentence"),
    [
        (
            "tucker",
            8,
            {"hidden_dropout": 1},
            "'model.hidden_dropout' is 1: input should be less than 1",
        ),
        (
            "conve",
            8,
            {"hidden_dropout": -0.1},
            "is -0.1: input should be greater than or equal to 0",
        ),
        (
            "hyper",
            9,
            {"hidden_dropout": "nan"},
            "is 'nan': input should be a finite number",
        ),
        ("conve", 8, {"channels": 0}, "'model.channels' is 0: input should be greater"),
        ("hyper", 9, {"channels": -1}, "'model.channels' is -1: input should be greater"),
        ("conve", 4, {}, "dimension 4 is too small for 3 × 3 filters: give 8 or more"),
        ("hyper", 8, {}, "dimension 8 is too small for 1 × 9 filters: give 9 or more"),
        ("conve", 10, {}, "a multiple of 4: take 8 or 12"),
        ("nage-so3", 128, {}, "a multiple of 3: take 126 or 129"),
        (
            "tucker-flow",
            4,
            {"components": 0},
            "'model.components' is 0: input should be",
        ),
    ],
)
def test_bad_sizes_get_one_sentence(name, dim, chosen, sentence):
    with pytest.raises(KgflowError) as raised:
        build(name, entities=5, relations=4, dim=dim, options=chosen)
    assert sentence in str(raised.value)


def test_the_smallest_sizes_work():
    for name, dim in (("conve", 8), ("hyper", 9), ("tucker", 1), ("tucker-flow", 1)):
        model = build(name, 5, 4, dim).eval()
        assert torch.isfinite(model.score(*torch.tensor([[0], [1], [2]]))).all()
