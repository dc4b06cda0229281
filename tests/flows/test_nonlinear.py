"""Example 1: x = μ + √2 σ erf⁻¹(2z - 1) maps a uniform z to a normal x, by functions of a user."""

import math

import pytest
import torch
from scipy import stats

from kgflow.flows import Affine, Flow, Function, Normal, SquaredWasserstein, Uniform

MU, SIGMA = torch.tensor([0.7, -1.0]).double(), torch.tensor([1.3, -0.4]).double()
X = torch.linspace(-1.7, 1.7, 41, dtype=torch.float64)[:, None]


class UniformToNormal(Function):
    sign = torch.ones(())

    def forward(self, x):
        return math.sqrt(2) * torch.erfinv(x / math.sqrt(3))

    def slope(self, x):
        return 1 / NormalToUniform().slope(self.forward(x))

    def inverse(self):
        return NormalToUniform()


class NormalToUniform(Function):
    sign = torch.ones(())

    def forward(self, x):
        return math.sqrt(3) * torch.erf(x / math.sqrt(2))

    def slope(self, x):
        return math.sqrt(6 / math.pi) * torch.exp(-x.square() / 2)

    def inverse(self):
        return UniformToNormal()


def mapped():
    return Flow(Uniform(), Affine(MU, SIGMA) @ UniformToNormal())


def test_density_and_quantiles_are_normal():
    normal = stats.norm(MU.numpy(), SIGMA.abs().numpy())
    flow = mapped()
    x = torch.linspace(-3, 3, 31, dtype=torch.float64)[:, None] * SIGMA.abs() + MU
    torch.testing.assert_close(
        flow.marginals.log_prob(x), torch.from_numpy(normal.logpdf(x.numpy())), rtol=1e-8, atol=1e-8
    )
    z = torch.tensor([0.01, 0.3, 0.9]).double()[:, None]
    torch.testing.assert_close(flow.quantile(z), torch.from_numpy(normal.ppf(z.numpy())))


def test_entropy_is_normal():
    expected = stats.norm(MU.numpy(), SIGMA.abs().numpy()).entropy().sum()
    assert mapped().entropy().item() == pytest.approx(expected, abs=1e-6)


def test_distance_to_the_same_normal_flow_is_zero():
    direct = Flow(Normal(), Affine(MU, SIGMA))
    assert SquaredWasserstein()(mapped(), direct).item() == pytest.approx(0, abs=1e-9)


def test_inverse_and_slope():
    f = UniformToNormal()
    torch.testing.assert_close(f.inverse()(f(X)), X)
    torch.testing.assert_close(NormalToUniform().inverse()(NormalToUniform()(X)), X)
    for g in (f, NormalToUniform()):
        x = X.clone().requires_grad_()
        (slope,) = torch.autograd.grad(g(x).sum(), x)
        torch.testing.assert_close(g.slope(X), slope)
        assert (slope > 0).all()
