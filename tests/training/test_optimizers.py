"""Adagrad equals torch's, and updates inside the backward pass equal a step on the gradient."""

import numpy as np
import pytest
import torch

from graphs import batch_of, random_graph, random_model
from kgflow.config import OPTIMIZERS
from kgflow.training import OneVsAll, SampledSoftmax, Softmax
from kgflow.training.optimizers import AdagradOptimizer


def test_adagrad_is_torchs():
    torch.manual_seed(0)
    start = torch.randn(5, 3, dtype=torch.float64)
    ours, theirs = (torch.nn.Parameter(start.clone()) for _ in range(2))
    pair = ((AdagradOptimizer([ours], 0.1), ours), (torch.optim.Adagrad([theirs], lr=0.1), theirs))
    for number in range(5):
        for optimizer, x in pair:
            optimizer.param_groups[0]["lr"] = 0.1 / (number + 1)
            optimizer.zero_grad()
            (x.sin() * number).sum().backward()
            optimizer.step()
    torch.testing.assert_close(ours, theirs)


LOSSES = {
    "one-vs-all": lambda m, i: OneVsAll(m, i, 1.5, block=7),
    "softmax": lambda m, i: Softmax(m, i, block=7),
    "sampled": lambda m, i: SampledSoftmax(m, i, num_negatives=6),
}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", OPTIMIZERS.members)
def test_updating_rows_at_once_is_a_step_on_the_whole_gradient(name, loss):
    data = random_graph()
    models = [random_model("nfe-1", data, dim=4, spread=0.5) for _ in range(2)]
    settings = OPTIMIZERS[name](lr=0.01)
    optimizers = [settings.build(m.parameters()) for m in models]
    losses = [LOSSES[loss](m, data.queries("train")) for m in models]
    rows = settings.row_update(optimizers[0], models[0].entity.weight)
    for number in range(4):
        batch = batch_of(losses[0], np.arange(number, len(losses[0].index), 5))
        for optimizer, each, update in zip(optimizers, losses, (rows, None), strict=True):
            optimizer.param_groups[0]["lr"] = 0.01 * 0.9**number
            optimizer.zero_grad()
            torch.manual_seed(number)
            each.backward(batch, update=update)
            optimizer.step()
    assert models[0].entity.weight.grad is None, "the whole gradient never exists"
    for one, other in zip(*(m.parameters() for m in models), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-12)


def test_optimizers_have_names_of_their_own():
    """Registries of other libraries know torch's optimizers and their subclasses by name."""
    assert not hasattr(torch.optim, AdagradOptimizer.__name__)
