"""x0: each variable is the distribution of that name in scipy."""

import math

import numpy as np
import pytest
import torch
from scipy import special, stats

from kgflow.flows import Affine, Discrete, Flow, Normal, Point, Scaled, Uniform
from laws import CONTINUOUS, FIVE, PPF, VARIABLES, T, close, edges, integral

Z = torch.linspace(0.001, 0.999, 201, dtype=torch.float64)

every = pytest.mark.parametrize("name", VARIABLES)
continuous = pytest.mark.parametrize("name", CONTINUOUS)


@every
def test_quantiles_equal_scipy(name):
    x0, twin = VARIABLES[name]
    close(x0.icdf(Z), T(twin.ppf(Z.numpy())), 1e-12)
    close(x0.icdf(Z), [PPF[name](float(z)) for z in Z], 1e-12)


@every
def test_probabilities_equal_scipy(name):
    x0, twin = VARIABLES[name]
    x = torch.linspace(-3, 3, 61, dtype=torch.float64)
    close(x0.cdf(x), T(twin.cdf(x.numpy())), 1e-12)


@continuous
def test_the_distribution_function_undoes_the_quantile_function(name):
    x0, _ = VARIABLES[name]
    close(x0.cdf(x0.icdf(Z)), Z, 1e-12)
    close(x0.cdf(T([-100.0, 100.0])), [0.0, 1.0], 1e-15)


@continuous
def test_the_density_is_the_derivative_of_the_distribution_function(name):
    x0, _ = VARIABLES[name]
    x = x0.icdf(Z).requires_grad_()
    (slope,) = torch.autograd.grad(x0.cdf(x).sum(), x)
    close(x0.log_prob(x.detach()).exp(), slope, 1e-10)


@continuous
def test_the_density_integrates_to_one_and_to_the_entropy(name):
    x0, twin = VARIABLES[name]

    def density(x):
        return math.exp(x0.log_prob(T(x)))

    ends = [float(twin.ppf(z)) for z in (1e-12, 0.5, 1 - 1e-12)]
    assert integral(density, *ends) == pytest.approx(1, abs=1e-9)
    entropy = integral(lambda x: -density(x) * math.log(density(x)), *ends)
    assert float(x0.entropy()) == pytest.approx(entropy, abs=1e-8)
    assert float(x0.entropy()) == pytest.approx(float(twin.entropy()), abs=1e-8)


@every
def test_mean_zero_and_its_own_variance(name):
    x0, twin = VARIABLES[name]

    def quantile(z):
        return float(x0.icdf(T(z)))

    assert integral(quantile, *edges(PPF[name])) == pytest.approx(0, abs=1e-9)
    variance = integral(lambda z: quantile(z) ** 2, *edges(PPF[name]))
    assert variance == pytest.approx(twin.var(), abs=1e-7)
    if not isinstance(x0, Scaled):
        assert variance == pytest.approx(1, abs=1e-7)


@every
def test_samples_follow_it(name):
    x0, twin = VARIABLES[name]
    torch.manual_seed(0)
    sample = x0.sample((5000,))
    assert sample.shape == (5000,)
    if x0.continuous:
        assert stats.kstest(sample.numpy(), twin.cdf).pvalue > 0.01
    else:
        points, counts = np.unique(sample.numpy(), return_counts=True)
        close(T(points), FIVE, 1e-6)
        assert stats.chisquare(counts).pvalue > 0.01


@every
def test_declared_symmetry(name):
    x0, _ = VARIABLES[name]
    inverse_relation = torch.allclose(x0.icdf(Z), -x0.icdf(1 - Z), atol=1e-10)
    assert x0.symmetric == inverse_relation


@pytest.mark.parametrize("points", [2, 3, 4, 9])
def test_discrete_variables(points):
    x0, steps = Discrete(points), np.arange(points) - (points - 1) / 2
    atoms = T(steps / np.sqrt(np.mean(steps**2)))
    z = (torch.arange(points, dtype=torch.float64) + 0.5) / points
    close(x0.icdf(z), atoms, 1e-12)
    close(x0.icdf(T([0.0, 1.0])), atoms[[0, -1]], 1e-12)
    close(x0.icdf(x0.jumps()), (atoms[1:] + atoms[:-1]) / 2, 1e-12)
    close(x0.cdf(x0.icdf(z)), z + 0.5 / points, 1e-12)
    assert x0.cdf(atoms.float() + 0.1).dtype == x0.icdf(z.float()).dtype == torch.float32


def test_a_discrete_variable_has_no_density():
    for x0 in (Discrete(), Scaled(Discrete(), 0.5)):
        assert not x0.continuous
        assert x0.entropy() == -math.inf
        with pytest.raises(ValueError, match="no density"):
            x0.log_prob(T(0.0))
        with pytest.raises(ValueError, match="no density"):
            Flow(x0, Affine(T([0.3]), T([2.0]))).log_prob(T([0.0]))
    with pytest.raises(ValueError, match="1 points is not random: give 2 points or more"):
        Discrete(1)


def test_a_scaled_variable_is_the_variable_divided():
    """x_k = x0 / k of Proposition 5."""
    for x0 in (Normal(), Uniform()):
        close(Scaled(x0, 1 / 4).icdf(Z), x0.icdf(Z) / 4, 1e-15)
        close(Scaled(Scaled(x0, 0.5), 0.5).icdf(Z), x0.icdf(Z) / 4, 1e-15)


def test_the_dirac_limit():
    dirac = Scaled(Normal(), 0.0)
    close(dirac.icdf(Z), torch.zeros_like(Z), 0)
    close(dirac.cdf(T([-1e-9, 1e-9])), [0.0, 1.0], 0)
    assert dirac.entropy() == -math.inf
    with pytest.raises(ValueError, match="Dirac"):
        dirac.log_prob(T(0.0))


@pytest.mark.parametrize("factor", [-0.5, math.inf, math.nan])
def test_a_factor_that_is_no_scale_is_refused(factor):
    with pytest.raises(ValueError, match="factor"):
        Scaled(Normal(), factor)


def test_equal_variables_are_one_key():
    pairs = [(Normal(), Normal()), (Scaled(Uniform(), 0.5), Scaled(Uniform(), 0.5))]
    for one, other in [*pairs, (Normal(), Normal().expand((3,)))]:
        assert one == other
        assert hash(one) == hash(other)
    different = {Normal(), Uniform(), Scaled(Normal(), 0.5), Scaled(Normal(), 2.0), Point(0.0)}
    different |= {Discrete(3), Discrete(4), Discrete(4)}
    assert len(different) == 7
    assert repr(Scaled(Normal(), 0.5)) == "Scaled(x0=Normal(), factor=0.5)"


def test_example_1_pushes_uniform_to_normal():
    """S(z) = μ + √2 σ erf⁻¹(2z - 1) takes U[0, 1] to N(μ, σ²): it is the flow's quantile."""
    mu, sigma = 0.7, 1.3
    flow = Flow(Normal(), Affine(T([mu]), T([sigma])))
    pushed = T(mu + math.sqrt(2) * sigma * special.erfinv(2 * Z.numpy() - 1))
    close(flow.quantile(Z[:, None])[:, 0], pushed, 1e-12)
    uniform = np.random.default_rng(0).uniform(size=5000)
    sample = flow.quantile(T(uniform)[:, None])[:, 0]
    assert stats.kstest(sample.numpy(), stats.norm(mu, sigma).cdf).pvalue > 0.01
