"""Shared by the tests of flows: tables of f and x0, each with a scalar twin, and oracles.

A twin is the same function written in plain Python or scipy from the paper's formula, without
tensors; the library is compared with it. Everything is in float64.
"""

import functools
import math
from bisect import bisect
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import torch
from hypothesis import settings
from scipy import integrate, special, stats
from scipy.interpolate import BSpline, PPoly
from torch import Tensor

from kgflow.flows import (
    Affine,
    Basis,
    Discrete,
    Function,
    Logistic,
    Normal,
    Scaled,
    Scaling,
    Spline,
    Translation,
    Triangular,
    TwoPiece,
    Uniform,
    Variable,
)

Scalar = Callable[[float], float]
Twin = tuple[Function, list[Scalar]]
"""A function of n coordinates, and the n scalar functions that it must equal."""

SQRT3, SQRT6 = math.sqrt(3), math.sqrt(6)

torch.set_num_threads(1)  # all tensors are small: more threads are slower

law = settings(max_examples=30, deadline=None, derandomize=True, database=None)


def T(values: float | Sequence[float]) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def close(actual: Tensor, expected: Tensor | float | Sequence[float], tolerance: float) -> None:
    if not isinstance(expected, Tensor):
        expected = T(expected)
    torch.testing.assert_close(actual, expected, rtol=tolerance, atol=tolerance)


# --- f ------------------------------------------------------------------------------------------


def translation(mu: Sequence[float]) -> Twin:
    return Translation(T(mu)), [lambda x, m=m: x + m for m in mu]


def scaling(sigma: Sequence[float]) -> Twin:
    return Scaling(T(sigma)), [lambda x, s=s: s * x for s in sigma]


def affine(mu: Sequence[float], sigma: Sequence[float]) -> Twin:
    twins = [lambda x, m=m, s=s: s * x + m for m, s in zip(mu, sigma, strict=True)]
    return Affine(T(mu), T(sigma)), twins


def two_piece(mu: Sequence[float], left: Sequence[float], right: Sequence[float]) -> Twin:
    parameters = zip(mu, left, right, strict=True)
    twins = [lambda x, m=m, a=a, b=b: (a if x <= 0 else b) * x + m for m, a, b in parameters]
    return TwoPiece(T(mu), T(left), T(right)), twins


def spline_of(degree: int, knots: Sequence[float], mu: float, scales: Sequence[float]) -> Scalar:
    """Return one spline by scipy: its slope is a B-spline, and constant beyond the knots."""
    # The outer knots of a step function are arbitrary.
    inner = [-9.0, *knots, 9.0] if degree == 1 else list(knots)
    t = np.pad(inner, degree - 1, mode="edge")
    slope = BSpline(t, np.array(scales, dtype=float), degree - 1)
    # As lists of coefficients, since scipy is slow for scalars; its first pieces are empty.
    pieces = PPoly.from_spline(slope.antiderivative()).c.T[degree:].tolist()
    first, last = inner[0], inner[-1]

    def area(x: float) -> float:
        if x < first:
            return scales[0] * (x - first)
        if x > last:
            return area(last) + scales[-1] * (x - last)
        i = min(bisect(inner, x), len(inner) - 1) - 1
        return functools.reduce(lambda total, c: total * (x - inner[i]) + c, pieces[i])

    return lambda x: mu + area(x) - area(0.0)


def spline(degree: int, knots: Sequence[float], mu: Sequence[float], *scales) -> Twin:
    twins = [spline_of(degree, knots, m, s) for m, *s in zip(mu, *scales, strict=True)]
    return Spline(Basis(degree, tuple(knots)), T(mu), [T(s) for s in scales]), twins


def after(outer: Twin, inner: Twin) -> Twin:
    pairs = zip(outer[1], inner[1], strict=True)
    return outer[0] @ inner[0], [lambda x, f=f, g=g: f(g(x)) for f, g in pairs]


KINKED = two_piece([0.5, -0.3], [0.7, -1.1], [1.6, -0.4])

INVERTIBLE: dict[str, Callable[[], Twin]] = {
    "identity": lambda: translation([0.0, 0.0]),
    "translation": lambda: translation([1.5, -0.7]),
    "scaling": lambda: scaling([0.5, 2.0]),
    "scaling, negative": lambda: scaling([-1.5, -0.3]),
    "affine": lambda: affine([0.3, -1.2], [0.8, 1.7]),
    "affine, negative": lambda: affine([-0.4, 0.9], [-1.3, 0.6]),
    "two-piece": lambda: two_piece([0.2, -0.5], [0.5, 1.2], [1.5, 0.3]),
    "two-piece, negative": lambda: two_piece([1.0, 0.4], [-0.6, -2.0], [-1.4, -0.5]),
    "two-piece, mixed": lambda: two_piece([-0.8, 0.1], [0.9, -0.2], [0.4, -1.1]),
    "linear spline": lambda: spline(
        1, [-0.7, 0.0, 0.7], [0.2, -0.5], [0.5, -1.2], [1.5, -0.3], [0.4, -0.8], [1.1, -0.6]
    ),
    "quadratic spline": lambda: spline(
        2, [-0.9, 0.1, 0.8], [-0.3, 0.6], [-0.4, 1.3], [-1.7, 0.5], [-0.6, 0.9]
    ),
    "cubic spline": lambda: after(
        affine([0.5, -0.2], [-1.4, 0.6]),
        spline(3, [-0.8, 0.0, 0.8], [0.4, 0.1], [1.2, 0.4], [0.3, 1.6], [0.9, 0.2], [0.6, 0.7]),
    ),
    "three pieces": lambda: after(KINKED, two_piece([0.4, 0.2], [1.2, -0.8], [0.5, -1.5])),
    "three pieces, shifted": lambda: after(KINKED, affine([0.6, -0.4], [-0.9, 1.1])),
}
"""Every family, increasing and decreasing."""

SINGULAR: dict[str, Callable[[], Twin]] = {
    "scaling, zero": lambda: scaling([0.0, 1.2]),
    "affine, zero": lambda: affine([0.7, -0.1], [0.0, -1.1]),
    "two-piece, zero left": lambda: two_piece([0.1, 0.6], [0.0, 0.5], [0.9, 1.4]),
    "two-piece, zero right": lambda: two_piece([0.3, -0.2], [-1.2, -0.3], [0.0, -0.8]),
    "two-piece, zero": lambda: two_piece([-0.6, 0.2], [0.0, 1.0], [0.0, 2.0]),
    "linear spline, zero": lambda: spline(
        1, [-0.6, 0.6], [0.2, -0.5], [0.5, -1.2], [0.0, -0.3], [0.4, -0.8]
    ),
    "quadratic spline, zero end": lambda: spline(
        2, [-0.6, 0.6], [0.3, 0.1], [0.0, -1.2], [-0.7, -0.3]
    ),
    "three pieces, zero inside": lambda: after(
        KINKED, two_piece([0.2, 0.3], [0.0, -0.5], [0.7, -1.2])
    ),
    "three pieces, zero": lambda: after(KINKED, affine([0.5, 0.1], [0.0, -1.0])),
}
"""The same with a scale of zero, in the first coordinate only."""

FUNCTIONS = INVERTIBLE | SINGULAR


# --- x0 -----------------------------------------------------------------------------------------


class Exponential(Variable):
    """A skewed x0, the exponential distribution minus its mean, without closed forms."""

    symmetric = False

    def icdf(self, value: Tensor) -> Tensor:
        return -torch.log1p(-value) - 1

    def cdf(self, value: Tensor) -> Tensor:
        return -torch.expm1(-(value + 1).clamp(min=0))

    def log_prob(self, value: Tensor) -> Tensor:
        return (-value - 1).masked_fill(value < -1, -math.inf)

    def entropy(self) -> Tensor:
        return T(1.0)


FIVE = [(i - 2) / math.sqrt(2) for i in range(5)]
"""Five equidistant points with variance 1."""

VARIABLES: dict[str, tuple[Variable, stats.rv_continuous | stats.rv_discrete]] = {
    "normal": (Normal(), stats.norm()),
    "uniform": (Uniform(), stats.uniform(-SQRT3, 2 * SQRT3)),
    "normal / 2": (Scaled(Normal(), 0.5), stats.norm(scale=0.5)),
    "uniform * 3": (Scaled(Uniform(), 3.0), stats.uniform(-3 * SQRT3, 6 * SQRT3)),
    "triangular": (Triangular(), stats.triang(0.5, -SQRT6, 2 * SQRT6)),
    "logistic": (Logistic(), stats.logistic(scale=SQRT3 / math.pi)),
    "discrete": (Discrete(5), stats.rv_discrete(values=(FIVE, [0.2] * 5))),
    "exponential": (Exponential(), stats.expon(loc=-1)),
}
"""Every x0 with the same distribution in scipy."""

CONTINUOUS = [name for name, (x0, _) in VARIABLES.items() if x0.continuous]

PPF: dict[str, Scalar] = {
    "normal": special.ndtri,
    "uniform": lambda z: SQRT3 * (2 * z - 1),
    "normal / 2": lambda z: special.ndtri(z) / 2,
    "uniform * 3": lambda z: 3 * SQRT3 * (2 * z - 1),
    "triangular": lambda z: (
        SQRT6 * (math.sqrt(2 * z) - 1 if z < 0.5 else 1 - math.sqrt(2 * (1 - z)))
    ),
    "discrete": lambda z: FIVE[min(int(5 * z), 4)],
    "logistic": lambda z: SQRT3 / math.pi * math.log(z / (1 - z)),
    "exponential": lambda z: -math.log1p(-z) - 1,
}
"""Their quantile functions of a scalar, which are slow in scipy."""


# --- oracles ------------------------------------------------------------------------------------


def integral(g: Scalar, *edges: float) -> float:
    """Integrate g over [edges[0], edges[-1]], with kinks allowed at the inner edges."""
    pieces = pairwise(edges)
    # The full output disables warnings about rounding errors: the error estimate shows them.
    accuracy = {"epsabs": 1e-10, "epsrel": 1e-10, "limit": 300, "full_output": True}
    found = [integrate.quad(g, a, b, **accuracy)[:2] for a, b in pieces]
    assert all(error < 1e-6 for _, error in found)
    return sum(value for value, _ in found)


def quantile(f: Scalar, ppf: Scalar) -> Scalar:
    """Return the quantile function of f(x0) for a monotone f and the quantile function of x0."""
    increasing = f(1.0) >= f(-1.0)
    return lambda z: f(ppf(z if increasing else 1 - z))


def wasserstein(f: Scalar, g: Scalar, ppf: Scalar) -> float:
    """Compute the squared 2-Wasserstein distance of f(x0) and g(x0), the formula below Eq. 9."""
    F, G = quantile(f, ppf), quantile(g, ppf)
    return integral(lambda z: (F(z) - G(z)) ** 2, *edges(ppf))


def edges(ppf: Scalar) -> list[float]:
    """Return the bounds of integrals over z: the middle, and the jumps of a discrete variable."""
    return [0, 0.2, 0.4, 0.6, 0.8, 1] if ppf is PPF["discrete"] else [0, 0.5, 1]
