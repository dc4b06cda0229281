"""Proposition 1 and Corollary 1: n-dimensional transport is a sum over coordinates, for one copula.

The n-dimensional distance is found by brute force: the cheapest assignment of one small sample to
another. Both samples have N equal weights, so the assignment is the exact optimal transport.
"""

import numpy as np
import pytest
import torch
from scipy.optimize import linear_sum_assignment

from kgflow.flows import Flow, Normal, SquaredWasserstein, Uniform
from laws import FUNCTIONS, T, close


def transport(x: np.ndarray, y: np.ndarray) -> float:
    """The squared Wasserstein distance of two samples ``(N, n)``."""
    cost = ((x[:, None] - y[None]) ** 2).sum(-1)
    return float(cost[linear_sum_assignment(cost)].mean())


def by_coordinates(x: np.ndarray, y: np.ndarray) -> float:
    """The sum of the distances of the marginals, each by sorting."""
    return float(((np.sort(x, axis=0) - np.sort(y, axis=0)) ** 2).mean(0).sum())


def grid(flow: Flow, m: int) -> np.ndarray:
    """f of the product of m quantiles of x0 in each coordinate: independent coordinates."""
    z = (torch.arange(m, dtype=torch.float64) + 0.5) / m
    points = torch.cartesian_prod(flow.x0.icdf(z), flow.x0.icdf(z))
    return flow.f(points).numpy()


FLOWS = [("affine", "affine, negative"), ("two-piece, negative", "two-piece, mixed")]
FLOWS += [("three pieces", "scaling, zero"), ("translation", "two-piece")]


@pytest.mark.parametrize(("f", "g"), FLOWS)
@pytest.mark.parametrize("x0", [Normal(), Uniform()])
def test_independent_coordinates_add_up(f, g, x0):
    """Corollary 1, and that D is this distance but for the grid."""
    p, q = (Flow(x0, FUNCTIONS[name]()[0]) for name in (f, g))
    x, y = grid(p, 14), grid(q, 14)
    assert transport(x, y) == pytest.approx(by_coordinates(x, y), rel=1e-12)
    fine = [flow.quantile((torch.arange(4000)[:, None] + 0.5).double() / 4000) for flow in (p, q)]
    close(-SquaredWasserstein()(p, q), by_coordinates(*(s.numpy() for s in fine)), 2e-3)


@pytest.mark.parametrize("correlation", [-0.9, -0.3, 0.5, 1.0])
@pytest.mark.parametrize(("f", "g"), FLOWS)
def test_any_one_copula_adds_up(f, g, correlation):
    """Proposition 1: the same dependence on both sides, whatever it is."""
    normal = torch.distributions.MultivariateNormal(
        T([0.0, 0.0]), T([[1.0, correlation], [correlation, 1.0 + 1e-9]])
    )
    torch.manual_seed(0)
    u = Normal().cdf(normal.sample((120,)))
    x, y = (Flow(Normal(), FUNCTIONS[name]()[0]).quantile(u).numpy() for name in (f, g))
    assert transport(x, y) == pytest.approx(by_coordinates(x, y), rel=1e-12)


@pytest.mark.parametrize(("f", "g"), FLOWS[:2])
def test_different_copulas_cost_more(f, g):
    """The other half of Proposition 1: coordinates that rise together, against opposed ones."""
    z = ((torch.arange(60) + 0.5) / 60).double()
    p, q = (Flow(Normal(), FUNCTIONS[name]()[0]) for name in (f, g))
    x = p.quantile(torch.stack([z, z], dim=1)).numpy()
    y = q.quantile(torch.stack([z, 1 - z], dim=1)).numpy()
    assert transport(x, y) > by_coordinates(x, y) + 0.1
