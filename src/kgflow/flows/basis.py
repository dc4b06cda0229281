"""Bases of splines: integrals of B-splines."""

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import torch
from torch import Tensor

from kgflow.flows.variables import Variable


@dataclass(frozen=True)
class Basis:
    r"""K increasing functions :math:`\varphi_k` of the real line, whose slopes add up to 1.

    The slopes are the B-splines over the knots: step functions (degree 1, so that every linear
    combination is piecewise linear), hat functions (degree 2, piecewise quadratic) or piecewise
    parabolas (degree 3, piecewise cubic). Beyond the outer knots all functions are linear, and
    :math:`\varphi_k(0) = 0`. So a combination with coefficients of one sign is monotone, and one
    with equal coefficients is linear.

    Args:
        degree: degree of the functions, 1 or more.
        knots: knots in ascending order; at least two, except for degree 1.

    Example:
        >>> Basis(1, (0.0,)).values(torch.tensor([-2.0, 3.0]))  # the basis of NFE-2
        [tensor([-2.,  0.]), tensor([0., 3.])]
        >>> Basis(2, (-1.0, 1.0)).slopes(torch.tensor([-3.0, 0.0, 0.5]))
        [tensor([1.0000, 0.5000, 0.2500]), tensor([0.0000, 0.5000, 0.7500])]
    """

    degree: int
    knots: tuple[float, ...]

    def __post_init__(self) -> None:
        minimum = 0 if self.degree == 1 else 2
        descending = any(a > b for a, b in pairwise(self.knots))
        if self.degree < 1 or len(self.knots) < minimum or descending:
            raise ValueError(
                f"degree {self.degree} with knots {self.knots} is no basis: give a degree above 0 "
                "and ascending knots, two or more for a degree above 1"
            )

    @classmethod
    def over(cls, x0: Variable, degree: int, size: int) -> "Basis":
        """Return `size` functions with knots at equidistant quantiles of a symmetric x0.

        With fewer functions than the degree, the degree is reduced to their number.

        Example:
            >>> from kgflow.flows import Uniform
            >>> Basis.over(Uniform(), degree=1, size=4).knots
            (-0.866..., 0.0, 0.866...)
        """
        degree = min(degree, size)
        pieces = size if degree == 1 else size - degree + 3
        levels = torch.arange(1, pieces, dtype=torch.float64) / pieces
        # The mean with their mirror images makes them exactly symmetric.
        knots = (x0.icdf(levels) - x0.icdf(levels.flip(0))) / 2
        return cls(degree, tuple(knots.tolist()))

    @property
    def symmetric(self) -> bool:
        r"""Whether :math:`\varphi_{K+1-k}(x) = -\varphi_k(-x)`."""
        return self.knots == tuple(-knot for knot in reversed(self.knots))

    def rescaled(self, factor: float) -> "Basis":
        """Return the basis whose combinations are those of this one at ``factor * x``."""
        return Basis(self.degree, tuple(sorted(knot / factor for knot in self.knots)))

    def pieces(self) -> list[tuple[float, float]]:
        """Return the intervals between distinct knots, from minus infinity to infinity."""
        return list(pairwise((-math.inf, *sorted(set(self.knots)), math.inf)))

    def midpoints(self) -> list[float]:
        """Return one x inside every piece."""
        ends = sorted(set(self.knots))
        if not ends:
            return [0.0]
        return [ends[0] - 1, *((a + b) / 2 for a, b in pairwise(ends)), ends[-1] + 1]

    def is_linear(self, low: float, high: float) -> bool:
        """Return whether all functions are linear between low and high."""
        return self.degree == 1 or math.isinf(high - low)

    def slopes(self, x: Tensor) -> list[Tensor]:
        """Return the K slopes at x."""
        if self.degree == 1:
            return _steps(x, self.knots)
        return self._splines(self._clamped(x), self.degree - 1)

    def values(self, x: Tensor) -> list[Tensor]:
        """Return the K functions at x."""
        if self.degree == 1:
            ends = pairwise((-math.inf, *self.knots, math.inf))
            return [x.clamp(a, b) - min(max(a, 0.0), b) for a, b in ends]
        return [
            value - offset for value, offset in zip(self._integrals(x), self._at_zero, strict=True)
        ]

    @cached_property
    def _at_zero(self) -> list[float]:
        """Integrals of the slopes from the first knot to 0."""
        return [float(value) for value in self._integrals(torch.zeros((), dtype=torch.float64))]

    def _clamped(self, x: Tensor) -> Tensor:
        return x.clamp(self.knots[0], self.knots[-1])

    def _integrals(self, x: Tensor) -> list[Tensor]:
        """Return the integrals of the slopes from the first knot to x."""
        # The integral of a B-spline is its width times a sum of B-splines of the next degree.
        p, near, found = self.degree, self._clamped(x), []
        t, total = self._padded(p - 1), torch.zeros_like(x)
        higher, slopes = self._splines(near, p)[1:], self.slopes(x)
        for k in reversed(range(len(slopes))):
            total = total + higher[k]
            found.append((t[k + p] - t[k]) / p * total + (x - near) * slopes[k])
        return found[::-1]

    def _splines(self, x: Tensor, degree: int) -> list[Tensor]:
        """Return the B-splines of a degree of 1 or more at x, by the Cox-de Boor recursion."""
        t, none = self._padded(degree), [torch.zeros_like(x)] * degree
        found = none + _steps(x, self.knots[1:-1]) + none
        for p in range(1, degree + 1):
            rising = [_fraction(x, t[i], t[i + p]) for i in range(len(found))]
            pairs = zip(pairwise(found), pairwise(rising), strict=True)
            found = [a * left + (1 - b) * right for (left, right), (a, b) in pairs]
        return found

    def _padded(self, degree: int) -> tuple[float, ...]:
        return (self.knots[0],) * degree + self.knots + (self.knots[-1],) * degree


def _steps(x: Tensor, cuts: tuple[float, ...]) -> list[Tensor]:
    """Return the indicator functions of the pieces between the cuts at x."""
    above = [torch.ones_like(x), *((x > cut).to(x) for cut in cuts), torch.zeros_like(x)]
    return [a - b for a, b in pairwise(above)]


def _fraction(x: Tensor, low: float, high: float) -> Tensor:
    """Return the fraction of [low, high] below x, or 0 for an empty interval."""
    return (x - low) / (high - low) if high > low else torch.zeros_like(x)
