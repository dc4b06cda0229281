"""Quantile functions as coordinates: the constants of Eq. 10 to 12 come out of Gram matrices."""

import math

import pytest
import torch
from scipy import special

from kgflow import flows
from kgflow.flows import (
    Affine,
    Basis,
    Flow,
    Logistic,
    Normal,
    Scaled,
    Translation,
    TwoPiece,
    Uniform,
    Variable,
    coordinates,
    integrate,
    moment,
)
from kgflow.flows.coordinates import LEFT, LINE, RIGHT, affine_gram, cholesky, spline_gram
from kgflow.flows.spline import HALVES
from laws import PPF, SQRT3, SQRT6, VARIABLES, Exponential, T, close, edges, integral, spline_of

INTERVALS = [LINE, LEFT, RIGHT, (-0.4, 1.1), (0.5, 2.5), (-math.inf, -0.7)]
BASES = [HALVES, Basis(1, (-0.7, 0.0, 0.7)), Basis(2, (-0.6, 0.6)), Basis(3, (-0.8, 0.0, 0.8))]
SYMMETRIC = {name: x0 for name, (x0, _) in VARIABLES.items() if x0.symmetric}
C = {
    "normal": math.sqrt(2 / math.pi),
    "uniform": math.sqrt(3 / 4),
    "triangular": SQRT6 / 3,
    "logistic": 2 * math.log(2) * SQRT3 / math.pi,
    "discrete": 6 / (5 * math.sqrt(2)),
}
"""E|x0|: the constants of Eq. 12 and Eq. 11, and those of other variables."""


def partial_moment(name, power, interval):
    twin = VARIABLES[name][1]
    lo, hi = (float(twin.cdf(x)) for x in interval)
    cuts = sorted({min(max(z, lo), hi) for z in edges(PPF[name])})
    return integral(lambda z: PPF[name](z) ** power, *cuts)


@pytest.mark.parametrize("name", VARIABLES)
@pytest.mark.parametrize("power", [0, 1, 2])
def test_partial_moments(name, power):
    for interval in INTERVALS[:4]:
        expected = partial_moment(name, power, interval)
        assert moment(VARIABLES[name][0], power, interval) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("x0", [Normal(), Uniform()])
@pytest.mark.parametrize("power", [0, 1, 2])
def test_formulas_and_integration_give_the_same_moments(x0, power):
    integrated = moment.dispatch(Variable)
    for interval in INTERVALS:
        expected = moment(x0, power, interval)
        assert integrated(x0, power, interval) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", C)
def test_the_grams_are_those_of_the_paper(name):
    c, (x0, _) = C[name], VARIABLES[name]
    close(T(affine_gram(x0)), torch.eye(2, dtype=torch.float64), 1e-12)
    expected = T([[1, -c / 2, c / 2], [-c / 2, 1 / 2, 0], [c / 2, 0, 1 / 2]])
    close(T(spline_gram(x0, HALVES)), expected, 1e-12)


def test_every_variable_that_can_be_named_is_tested():
    assert set(C) == set(flows.VARIABLES)
    assert all(VARIABLES[name][0] == x0 for name, x0 in flows.VARIABLES.items())


@pytest.mark.parametrize("name", SYMMETRIC)
@pytest.mark.parametrize("basis", BASES, ids=str)
def test_a_gram_is_the_matrix_of_inner_products(name, basis):
    ppf, size = PPF[name], len(basis.values(T(0.0)))
    unit = [[float(i == j) for i in range(size)] for j in range(size)]
    functions = [spline_of(basis.degree, basis.knots, 0.0, scales) for scales in unit]
    rows = [lambda z: 1.0, *(lambda z, f=f: float(f(ppf(z))) for f in functions)]
    found = spline_gram(SYMMETRIC[name], basis)
    for i, f in enumerate(rows):
        for j, g in enumerate(rows[: i + 1]):
            expected = integral(lambda z, f=f, g=g: f(z) * g(z), *edges(ppf))
            assert (found[i][j], found[j][i]) == pytest.approx((expected, expected), abs=1e-7)


@pytest.mark.parametrize("name", SYMMETRIC)
@pytest.mark.parametrize("size", [1, 2, 4, 7, 16])
@pytest.mark.parametrize("degree", [1, 2, 3])
def test_the_factor_squares_to_the_gram(name, degree, size):
    """Where x0 has few points, too, on which many functions depend on one another."""
    x0 = SYMMETRIC[name]
    gram = spline_gram(x0, Basis.over(x0, degree, size))
    factor = T(cholesky(gram))
    close(factor @ factor.T, T(gram), 1e-11)
    close(factor, factor.tril(), 0)


@pytest.mark.parametrize("x0", [Normal(), Uniform(), Logistic()])
def test_the_euclidean_length_is_the_second_moment(x0):
    """|Lᵀc|² = ∫ F⁻¹(z)² dz: the distance to the point 0."""
    f = TwoPiece(T([0.4, -0.2]), T([0.5, -1.0]), T([1.5, -0.3]))
    flow = Flow(x0, f)
    second = integrate(lambda z: flow.quantile(z).square(), ndim=1).sum()
    close(coordinates(flow).euclidean().square().sum(), second, 1e-10)


def test_a_scaled_variable_uses_the_basis_of_the_variable():
    f = TwoPiece(T([0.4]), T([-0.5]), T([-1.5]))
    plain, scaled = (coordinates(Flow(x0, f)) for x0 in (Normal(), Scaled(Normal(), 0.5)))
    assert plain.basis == scaled.basis
    close(scaled.parts[0], plain.parts[0], 0)
    close(scaled.parts[1], plain.parts[1] / 2, 0)
    assert plain.parts[1] == 1.5, "a falling function swaps its halves"


def test_a_skewed_variable_has_no_coordinates():
    for f in (Affine(T([0.0]), T([1.0])), TwoPiece(T([0.0]), T([1.0]), T([2.0]))):
        assert coordinates(Flow(Exponential(), f)) is None
        assert coordinates(Flow(Scaled(Exponential(), 0.5), f)) is None


def test_one_family_of_two_variables_is_two_bases():
    for f in (Affine(T([0.0]), T([1.0])), Translation(T([0.0]))):
        assert coordinates(Flow(Normal(), f)).basis != coordinates(Flow(Uniform(), f)).basis


@pytest.mark.parametrize(
    ("integrand", "expected"),
    [
        (lambda z: torch.ones_like(z), 1.0),
        (lambda z: torch.special.ndtri(z) ** 4, 3.0),
        (lambda z: torch.special.ndtri(1 - z).relu(), 1 / math.sqrt(2 * math.pi)),
        (lambda z: z.log() ** 2, 2.0),
        (lambda z: (SQRT3 * (2 * z - 1)).abs(), SQRT3 / 2),
        (lambda z: torch.exp(torch.special.ndtri(z)), math.exp(0.5)),
        (lambda z: torch.sqrt(z), 2 / 3),
    ],
)
def test_quadrature(integrand, expected):
    assert float(integrate(integrand)) == pytest.approx(expected, abs=1e-11)


def test_quadrature_of_a_kink_anywhere():
    for k in (-1.3, 0.2, 0.9):
        expected = math.exp(-k * k / 2) / math.sqrt(2 * math.pi) - k * special.ndtr(-k)
        kink = T(special.ndtr(k))
        found = integrate(lambda z, k=k: (torch.special.ndtri(z) - k).relu(), breaks=[kink])
        assert float(found) == pytest.approx(expected, abs=1e-11)


def test_quadrature_of_many_integrals_with_breaks_of_their_own():
    k = T([[0.1, 0.5], [0.7, 1.0], [0.0, 0.25]])
    close(integrate(lambda z: (z > k).double(), 2, [k]), 1 - k, 1e-12)
    logs = integrate(lambda z: torch.where(z > k, 0.0, -math.inf), 2, [k])
    close(logs, torch.where(k > 0, -math.inf, 0.0).double(), 0)
