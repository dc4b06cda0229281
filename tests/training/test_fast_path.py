"""The step that trains: equal to autograd in value and gradient, and its sample unbiased."""

import numpy as np
import pytest
import torch

from graphs import ALL_MODELS, batch_of, build, by_autograd, random_graph, random_model
from kgflow.kernels import (
    AutogradKeys,
    ExactGradient,
    IdentityKeys,
    SampledGradient,
    WassersteinKeys,
)
from kgflow.training import OneVsAll
from kgflow.training.key_maps import key_map
from kgflow.training.optimizers import AdamSettings, RowAdam

FAST = {
    "nfe-1": WassersteinKeys,
    "nfe-1-complex": WassersteinKeys,
    "nfe-1-quaternion": WassersteinKeys,
    "nfe-1-mu": WassersteinKeys,
    "nfe-1-sigma": WassersteinKeys,
    "nfe-point": WassersteinKeys,
    "nfe-2": WassersteinKeys,
    "nfe-2 form=paper": WassersteinKeys,
    "nfe-k": WassersteinKeys,
    "nfe-k degree=2": WassersteinKeys,
    "nfe-k degree=3": WassersteinKeys,
    "transe": WassersteinKeys,
    "rotate norm=squared-l2": WassersteinKeys,
    "distmult": IdentityKeys,
    "complex": IdentityKeys,
    "complex-flow": WassersteinKeys,
    "quate": IdentityKeys,
    "rescal": IdentityKeys,
    "dihedral": IdentityKeys,
    "nage-so3 norm=squared-l2": WassersteinKeys,
    "nage-su2 norm=squared-l2": WassersteinKeys,
    "tucker": IdentityKeys,
}


def whole(loss, rows):
    loss.model.zero_grad()
    value = by_autograd(loss, batch_of(loss, rows))
    value.backward()
    return value.item(), [p.grad.clone() for p in loss.model.parameters()]


def by_step(loss, rows):
    # Whatever stands in the entities' gradient must be overwritten, not added to.
    loss.model.zero_grad()
    loss.model.entity.weight.grad = torch.full_like(loss.model.entity.weight, torch.nan)
    value = loss.backward(batch_of(loss, rows))
    return value, [p.grad.clone() for p in loss.model.parameters()]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("block", [1, 7, 100])
@pytest.mark.parametrize("name", ALL_MODELS)
def test_step_equals_autograd(name, block, weighted):
    data = random_graph(weighted=weighted)
    model = random_model(name, data)
    loss = OneVsAll(model, data.queries("train"), 1.5, block=block)
    for rows in (np.arange(len(loss.index)), np.array([3, 0, 11])):
        value, gradients = whole(loss, rows)
        got, found = by_step(loss, rows)
        assert got == pytest.approx(value, rel=1e-10)
        for a, b in zip(found, gradients, strict=True):
            torch.testing.assert_close(a, b, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("block", [1, 7, 100])
@pytest.mark.parametrize("name", ALL_MODELS)
def test_updating_rows_at_once_is_a_step_of_adam(name, block):
    """Several steps, heads that repeat, a rate that changes: the numbers of torch's Adam."""
    data = random_graph()
    models = [random_model(name, data, spread=0.5) for _ in range(2)]
    optimizers = [torch.optim.Adam(m.parameters(), lr=0.01, fused=True) for m in models]
    losses = [OneVsAll(m, data.queries("train"), 1.5, block=block) for m in models]
    rows = RowAdam(optimizers[0], models[0].entity.weight, AdamSettings().initial_state)
    for number in range(4):
        batch = batch_of(losses[0], np.arange(number, len(losses[0].index), 2))
        for optimizer, loss, update in zip(optimizers, losses, (rows, None), strict=True):
            optimizer.param_groups[0]["lr"] = 0.01 * 0.9**number
            optimizer.zero_grad()
            loss.backward(batch, update=update)
            optimizer.step()
    assert models[0].entity.weight.grad is None, "the whole gradient never exists"
    for one, other in zip(*(m.parameters() for m in models), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-12)
    assert optimizers[0].state_dict()["state"].keys() == optimizers[1].state_dict()["state"].keys()


@pytest.mark.parametrize("name", ALL_MODELS)
def test_step_in_single_precision_is_near_double(name):
    data = random_graph(entities=200, facts=1500)
    double = random_model(name, data, dim=36, spread=0.4)
    single = random_model(name, data, dim=36, spread=0.4, dtype=torch.float32)
    single.load_state_dict({k: v.float() for k, v in double.state_dict().items()})
    rows = np.arange(60)
    exact, near = (
        by_step(OneVsAll(m, data.queries("train"), 1.5, block=64), rows) for m in (double, single)
    )
    assert near[0] == pytest.approx(exact[0], rel=1e-4)
    for a, b in zip(near[1], exact[1], strict=True):
        assert (a.double() - b).norm() <= 1e-3 * b.norm()


@pytest.mark.parametrize("name", ALL_MODELS)
def test_the_fast_map_is_found(name):
    model = build(name, 5, 2, 12)
    if model.interaction is None:
        assert type(key_map(model)) is FAST.get(name, AutogradKeys)


@pytest.mark.parametrize("dim", [1, 12])
@pytest.mark.parametrize(
    "options",
    [{"uncertainty": 0.25}, {"x0": "uniform"}, {"x0": "discrete"}, {"uncertainty": 0}],
)
@pytest.mark.parametrize("name", ["nfe-1", "nfe-2", "nfe-2 form=paper", "nfe-k", "nfe-k degree=3"])
def test_options_keep_the_fast_map(name, options, dim):
    assert type(key_map(build(name, 5, 2, dim, options))) is WassersteinKeys


@pytest.mark.parametrize("pieces", [1, 7, 16])
def test_dependent_functions_keep_the_fast_map(pieces):
    """On few points many functions depend on one another: their factor has columns of zeros."""
    data = random_graph()
    options = {"x0": "discrete", "pieces": pieces}
    model = build("nfe-k", len(data.entities), 2 * len(data.relations), 5, options).double()
    loss = OneVsAll(model, data.queries("train"), 1.5)
    assert type(key_map(model)) is WassersteinKeys
    rows = np.arange(20)
    (value, gradients), (got, found) = whole(loss, rows), by_step(loss, rows)
    assert got == pytest.approx(value, rel=1e-12)
    for a, b in zip(found, gradients, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-12)


def test_finding_the_map_leaves_the_random_numbers_alone():
    model = build("nfe-1", 5, 2, 6)
    state = torch.get_rng_state()
    key_map(model)
    assert torch.equal(torch.get_rng_state(), state)


def sparse_and_dense(tau, keep=1.0, spread=1.0):
    data = random_graph(entities=60, facts=300)
    model = random_model("nfe-1", data, dim=4, spread=spread)
    queries, rows = data.queries("train"), np.arange(20)
    dense = by_step(OneVsAll(model, queries, 1.0, score_gradient=ExactGradient(), block=25), rows)
    return (
        OneVsAll(model, queries, 1.0, score_gradient=SampledGradient(tau, keep), block=25),
        rows,
        dense,
    )


@pytest.mark.parametrize(("tau", "keep"), [(0.5, 1.0), (0.1, 0.15)])
def test_the_sample_is_unbiased(tau, keep):
    """With the threshold given, and with thresholds that follow what was kept."""
    torch.manual_seed(0)
    loss, rows, (value, expected) = sparse_and_dense(tau, keep)
    draws = [by_step(loss, rows) for _ in range(1000)]
    assert draws[0][0] == pytest.approx(value)
    for place, want in enumerate(expected):
        sample = torch.stack([gradients[place] for _, gradients in draws])
        error = sample.std(0) / len(draws) ** 0.5
        assert (sample.std(0) > 0).any(), "nothing was sampled"
        assert ((sample.mean(0) - want).abs() <= 5.5 * error + 1e-9).all()
    assert (max(loss.score_gradient.factor.values()) > 1) == (keep < 1)


def test_a_tiny_threshold_keeps_everything():
    torch.manual_seed(0)
    loss, rows, (_, expected) = sparse_and_dense(tau=1e-9)
    _, found = by_step(loss, rows)
    for a, b in zip(found, expected, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-6, atol=1e-9)


def test_dense_blocks_are_multiplied_densely():
    loss, rows, (_, expected) = sparse_and_dense(tau=0.5, keep=0.001)
    _, found = by_step(loss, rows)
    for a, b in zip(found, expected, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-12)
