"""Quantile functions as coordinates: the constants of Eq. 10 to 12 come out of Gram matrices."""

import math

import pytest
import torch
from scipy import special

from kgflow.algebra import (
    Affine,
    Flow,
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
from kgflow.algebra.coordinates import LEFT, LINE, RIGHT, affine_gram, cholesky, two_piece_gram
from laws import PPF, SQRT3, VARIABLES, Exponential, Logistic, T, close, integral

INTERVALS = [LINE, LEFT, RIGHT, (-0.4, 1.1), (0.5, 2.5), (-math.inf, -0.7)]
SYMMETRIC = {name: x0 for name, (x0, _) in VARIABLES.items() if x0.symmetric}
C = {Normal(): math.sqrt(2 / math.pi), Uniform(): math.sqrt(3 / 4)}
"""The constants of Eq. 12 and Eq. 11."""


def partial_moment(name, power, interval):
    twin = VARIABLES[name][1]
    lo, hi = (float(twin.cdf(x)) for x in interval)
    edges = sorted({lo, min(max(0.5, lo), hi), hi})
    return integral(lambda z: PPF[name](z) ** power, *edges)


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


@pytest.mark.parametrize("x0", list(C))
def test_the_grams_are_those_of_the_paper(x0):
    c = C[x0]
    close(T(affine_gram(x0)), torch.eye(2, dtype=torch.float64), 1e-12)
    expected = T([[1, -c / 2, c / 2], [-c / 2, 1 / 2, 0], [c / 2, 0, 1 / 2]])
    close(T(two_piece_gram(x0)), expected, 1e-12)


@pytest.mark.parametrize("name", SYMMETRIC)
def test_a_gram_is_the_matrix_of_inner_products(name):
    ppf = PPF[name]
    basis = [lambda z: 1.0, lambda z: min(ppf(z), 0.0), lambda z: max(ppf(z), 0.0)]
    expected = [
        [integral(lambda z, f=f, g=g: f(z) * g(z), 0, 0.5, 1) for g in basis] for f in basis
    ]
    close(T(two_piece_gram(SYMMETRIC[name])), T(expected), 1e-8)


@pytest.mark.parametrize("name", SYMMETRIC)
def test_the_factor_squares_to_the_gram(name):
    gram = two_piece_gram(SYMMETRIC[name])
    factor = T(cholesky(gram))
    close(factor @ factor.T, T(gram), 1e-12)
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
