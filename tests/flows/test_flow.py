"""f(x0): densities (Eq. 1), quantiles, samples and entropies of every f and every x0."""

import math
from itertools import product

import numpy as np
import pytest
import torch
from scipy import stats
from torch.distributions import AffineTransform, TransformedDistribution
from torch.distributions import Normal as TorchNormal

from kgflow.flows import (
    Affine,
    Flow,
    Normal,
    NotInvertibleError,
    Point,
    Scaled,
    Translation,
    TwoPiece,
    Uniform,
)
from laws import CONTINUOUS, FUNCTIONS, INVERTIBLE, PPF, SINGULAR, VARIABLES, T, close, quantile

Z = torch.linspace(0.011, 0.983, 57, dtype=torch.float64)

everything = pytest.mark.parametrize(("f", "x0"), list(product(FUNCTIONS, VARIABLES)))
smooth = pytest.mark.parametrize(("f", "x0"), list(product(INVERTIBLE, CONTINUOUS)))
singular = pytest.mark.parametrize(("f", "x0"), list(product(SINGULAR, CONTINUOUS)))


def flow_and_quantiles(f, x0):
    """A flow, and its n quantile functions by the twins of f and of x0."""
    function, twins = FUNCTIONS[f]()
    return Flow(VARIABLES[x0][0], function), [quantile(g, PPF[x0]) for g in twins]


def table(quantiles, z):
    return T([[F(float(v)) for F in quantiles] for v in z])


@everything
def test_quantiles(f, x0):
    flow, quantiles = flow_and_quantiles(f, x0)
    values = flow.quantile(Z[:, None])
    close(values, table(quantiles, Z), 1e-10)
    assert (values.diff(dim=0) >= 0).all(), "a quantile function rises"


@smooth
def test_the_density_is_one_over_the_slope_of_the_quantile_function(f, x0):
    flow, quantiles = flow_and_quantiles(f, x0)
    step = 1e-6
    slope = (table(quantiles, Z + step) - table(quantiles, Z - step)) / (2 * step)
    log_density = flow.marginals.log_prob(flow.quantile(Z[:, None]))
    # A kink within a step of a node would spoil the finite difference there, and only there.
    assert ((log_density + slope.log()).abs() < 1e-6).double().mean() > 0.97
    close(flow.log_prob(flow.quantile(Z[:, None])), log_density.sum(-1), 1e-12)


@smooth
def test_the_distribution_function_undoes_the_quantile_function(f, x0):
    flow, _ = flow_and_quantiles(f, x0)
    close(flow.marginals.cdf(flow.quantile(Z[:, None])), Z[:, None].expand(-1, 2), 1e-10)


@smooth
def test_the_entropy_is_the_integral_of_p_log_p(f, x0):
    flow, _ = flow_and_quantiles(f, x0)
    ends = flow.quantile(T([[1e-9], [1 - 1e-9]]))
    grid = torch.linspace(0, 1, 20_001, dtype=torch.float64)[:, None]
    x = ends[0] + (ends[1] - ends[0]) * grid
    log_p = flow.marginals.log_prob(x)
    p = log_p.exp()
    close(torch.trapezoid(p, x, dim=0), [1.0, 1.0], 5e-4)
    surprise = torch.where(p > 0, -p * log_p, 0)
    close(flow.entropy(), torch.trapezoid(surprise, x, dim=0).sum(), 1e-3)
    change = flow.entropy() - 2 * flow.x0.entropy()
    close(flow.entropy_change(), change, 1e-12)


@smooth
def test_the_entropy_change_is_the_mean_log_slope(f, x0):
    flow, _ = flow_and_quantiles(f, x0)
    z = (torch.arange(20_000, dtype=torch.float64)[:, None] + 0.5) / 20_000
    mean = flow.f.slope(flow.x0.icdf(z)).expand(-1, 2).abs().log().mean(0)
    close(flow.entropy_change(), mean.sum(), 2e-4)


def test_entropy_changes_add_up_along_a_composition():
    """H(f_r∘f_h) - H(x0) = [H(f_r∘f_h) - H(f_h)] + [H(f_h) - H(x0)], the second Remark."""
    for f, g in product(INVERTIBLE.values(), INVERTIBLE.values()):
        f_r, f_h = f()[0], g()[0]
        if not isinstance(f_r, Affine):
            continue
        step = f_r.sigma.abs().log().sum()
        whole = Flow(Normal(), f_r @ f_h).entropy_change()
        close(whole, step + Flow(Normal(), f_h).entropy_change(), 1e-12)


@pytest.mark.parametrize("x0", VARIABLES)
@pytest.mark.parametrize("f", ["affine, negative", "two-piece, mixed", "three pieces"])
def test_samples_follow_the_quantile_function(f, x0):
    flow, quantiles = flow_and_quantiles(f, x0)
    torch.manual_seed(0)
    sample = flow.sample(2000)
    assert sample.shape == (2000, 2)
    z = (np.arange(400) + 0.5) / 400
    for i, F in enumerate(quantiles):
        expected = np.array([F(v) for v in z])
        # Rounded, so that points of a discrete variable are equal.
        same = (np.round(values, 9) for values in (sample[:, i].numpy(), expected))
        assert stats.ks_2samp(*same).pvalue > 0.01


def test_torchs_own_transform_agrees():
    mu, sigma, x = T([0.5, -1.0]), T([-1.7, 0.4]), T([[0.3, -0.8], [2.0, 1.0]])
    ours = Flow(Normal(), Affine(mu, sigma)).marginals
    base = TorchNormal(T(0.0), T(1.0))
    theirs = TransformedDistribution(base.expand((2,)), AffineTransform(mu, sigma))
    close(ours.log_prob(x), theirs.log_prob(x), 1e-12)
    close(ours.log_prob(x), TorchNormal(mu, sigma.abs()).log_prob(x), 1e-12)
    close(ours.cdf(x), TorchNormal(mu, sigma.abs()).cdf(x), 1e-12)


@singular
def test_a_zero_scale_has_no_density_and_no_entropy(f, x0):
    """The third Remark: the image is a point, or has a point."""
    flow, _ = flow_and_quantiles(f, x0)
    with pytest.raises(NotInvertibleError):
        flow.log_prob(T([0.0, 0.0]))
    assert flow.entropy_change() == flow.entropy() == -math.inf


@pytest.mark.parametrize("f", SINGULAR)
def test_a_zero_scale_touches_only_its_own_flow(f):
    function, _ = SINGULAR[f]()
    batch = function @ Affine(T([[0.1, 0.2]] * 3), T([[0.5, 0.5]] * 3))
    shifted = Translation(T([[0.0, 0.0]] * 3)) @ batch
    assert Flow(Normal(), shifted).entropy_change().tolist() == [-math.inf] * 3
    sigma = T([[0.0, 1.0], [2.0, 1.0]])
    kink = TwoPiece(T([0.3, -0.2]), T([1.0, 1.0]), T([1.0, 1.0]))
    composed = Flow(Normal(), kink @ Affine(T([0.1, 0.4]), sigma))
    close(composed.entropy_change(), [-math.inf, math.log(2)], 1e-9)


@pytest.mark.parametrize("x0", [Normal(), Uniform()])
def test_the_dirac_limit_has_no_density(x0):
    flow = Flow(Scaled(x0, 0.0), TwoPiece(T([0.3]), T([1.0]), T([2.0])))
    with pytest.raises(NotInvertibleError):
        flow.log_prob(T([0.3]))
    assert flow.entropy() == -math.inf
    close(flow.entropy_change(), math.log(2) / 2, 1e-12)
    close(flow.quantile(Z[:, None]), torch.full((57, 1), 0.3, dtype=torch.float64), 0)


def test_a_function_that_is_not_monotone_has_no_quantile_and_no_entropy():
    flow = Flow(Normal(), TwoPiece(T([0.0]), T([-1.0]), T([1.0])))
    for use in (flow.entropy, lambda: flow.quantile(T(0.5)), lambda: flow.log_prob(T([0.0]))):
        with pytest.raises(NotInvertibleError):
            use()


def test_batches_of_flows():
    mu, sigma = torch.randn(2, 5, 3, 4, dtype=torch.float64)
    flow = Flow(Normal(), Affine(mu, sigma))
    assert flow.log_prob(torch.zeros(4, dtype=torch.float64)).shape == (5, 3)
    assert flow.sample(7).shape == (7, 5, 3, 4)
    assert flow.entropy().shape == flow.entropy_change().shape == (5, 3)
    assert flow.quantile(T(0.25)).shape == (5, 3, 4)


def test_a_point_has_a_value_and_no_distribution():
    flow = Flow(Point(0.3), Affine(T([1.0, 2.0]), T([-1.0, 0.5])))
    close(flow.value, [0.7, 2.15], 1e-15)
    for use in (flow.entropy, lambda: flow.quantile(T(0.5)), lambda: flow.sample(1)):
        with pytest.raises(TypeError):
            use()
    with pytest.raises(TypeError):
        _ = Flow(Normal(), flow.f).value
