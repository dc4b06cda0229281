"""Adagrad is torch's, row-wise Adagrad its definition, and rows can be updated at once by both."""

import numpy as np
import pytest
import torch

from graphs import random_graph, random_model
from kgflow.training import OneVsAll, SampledOneVsAll, Softmax
from kgflow.training.adagrad import NumberwiseAdagrad, RowwiseAdagrad
from kgflow.training.optimizers import OPTIMIZERS, row_update


def test_adagrad_is_torchs():
    torch.manual_seed(0)
    start = torch.randn(5, 3, dtype=torch.float64)
    ours, theirs = (torch.nn.Parameter(start.clone()) for _ in range(2))
    pair = ((NumberwiseAdagrad([ours], 0.1), ours), (torch.optim.Adagrad([theirs], lr=0.1), theirs))
    for number in range(5):
        for optimizer, x in pair:
            optimizer.param_groups[0]["lr"] = 0.1 / (number + 1)
            optimizer.zero_grad()
            (x.sin() * number).sum().backward()
            optimizer.step()
    torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("shape", [(4, 3), (3,), (), (2, 3, 2)])
def test_row_wise_adagrad_is_its_definition(shape):
    torch.manual_seed(0)
    x = torch.nn.Parameter(torch.randn(shape, dtype=torch.float64))
    w, optimizer = x.detach().clone(), RowwiseAdagrad([x], 0.1)
    rows = range(shape[0]) if len(shape) > 1 else [...]
    total = dict.fromkeys(rows, 0.0)
    for _ in range(4):
        grad = torch.randn(shape, dtype=torch.float64)
        x.grad = grad
        optimizer.step()
        for row in rows:
            total[row] += (grad[row] ** 2).mean().item()
            w[row] -= 0.1 * grad[row] / (total[row] ** 0.5 + 1e-10)
    torch.testing.assert_close(x.detach(), w)


LOSSES = {
    "one-vs-all": lambda m, i: OneVsAll(m, i, 1.5, block=7),
    "softmax": lambda m, i: Softmax(m, i, block=7),
    "sampled": lambda m, i: SampledOneVsAll(m, i, 1.5, negatives=6),
}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_updating_rows_at_once_is_a_step_on_the_whole_gradient(name, loss):
    data = random_graph()
    models = [random_model("nfe-1", data, dim=4, spread=0.5) for _ in range(2)]
    optimizers = [OPTIMIZERS[name](m.parameters(), 0.01) for m in models]
    losses = [LOSSES[loss](m, data.queries("train")) for m in models]
    rows = row_update(optimizers[0], models[0].entity.weight)
    for number in range(4):
        batch = np.arange(number, len(losses[0].index), 5)
        for optimizer, each, update in zip(optimizers, losses, (rows, None), strict=True):
            optimizer.param_groups[0]["lr"] = 0.01 * 0.9**number
            optimizer.zero_grad()
            torch.manual_seed(number)
            each.backward(batch, update=update)
            optimizer.step()
    assert models[0].entity.weight.grad is None, "the whole gradient never exists"
    for one, other in zip(*(m.parameters() for m in models), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-12)


def test_row_wise_keeps_one_number_per_row():
    data = random_graph()
    model = random_model("nfe-1", data, dim=4)
    optimizer = RowwiseAdagrad(model.parameters(), 0.01)
    loss = OneVsAll(model, data.queries("train"), 1.0)
    loss.backward(np.arange(3), update=row_update(optimizer, model.entity.weight))
    assert optimizer.state[model.entity.weight]["sum"].shape == (len(data.entities), 1)


def test_optimizers_have_names_of_their_own():
    """Registries of other libraries know torch's optimizers and their subclasses by name."""
    own = [kind for kind in OPTIMIZERS.values() if isinstance(kind, type)]
    assert own
    assert not any(hasattr(torch.optim, kind.__name__) for kind in own)
