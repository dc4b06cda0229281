"""The sampled 1-vs-all loss equals the exact one where all entities are sampled."""

import numpy as np
import pytest
import torch

from graphs import batch_of, random_graph, random_model
from kgflow.training import OneVsAll, SampledLogistic, SampledSoftmax

DATA = random_graph()


@pytest.mark.parametrize("name", ["nfe-1", "transe norm=l1"])
def test_all_entities_give_the_exact_loss(name):
    model, index = random_model(name, DATA), DATA.queries("train")
    exact, sampled = OneVsAll(model, index, 1.5), SampledLogistic(model, index, 1.5)
    values, gradients = [], []
    for loss in (exact, sampled):
        model.zero_grad()
        values.append(loss.backward(batch_of(loss)))
        gradients.append(model.entity.weight.grad.clone())
    assert values[0] == pytest.approx(values[1])
    torch.testing.assert_close(*gradients)


@pytest.mark.parametrize("kind", [SampledLogistic, SampledSoftmax])
def test_entities_that_are_always_sampled_count_once(kind):
    model, index = random_model("distmult", DATA), DATA.queries("train")
    loss = kind(model, index, num_negatives=4)
    loss.always = np.array([2, 5])
    sample = loss.draw(batch_of(loss))
    scale = dict(zip(sample.entities.tolist(), sample.scale.tolist(), strict=True))
    assert scale[2] == scale[5] == 1
    assert {v for e, v in scale.items() if e not in (2, 5)} <= {17 / 4}
