"""The functions that a spline is a combination of."""

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import torch
from torch import Tensor

from kgflow.flows.variable import Variable


@dataclass(frozen=True)
class Basis:
    r"""K rising functions :math:`\varphi_k` of the line, whose slopes add up to 1 everywhere.

    The slopes are the B-splines over the knots: steps (degree 1, so that every combination is
    piecewise linear), hats (degree 2, piecewise quadratic) or parabolic bumps (degree 3, piecewise
    cubic). Beyond the outer knots all go on in straight lines, and :math:`\varphi_k(0) = 0`. So a
    combination with coefficients of one sign is monotone, and with equal ones it is linear.

    Args:
        degree: of the functions, 1 or more.
        knots: in rising order; at least two, except for degree 1.

    Example:
        >>> Basis(1, (0.0,)).values(torch.tensor([-2.0, 3.0]))  # NFE-2's two halves
        [tensor([-2.,  0.]), tensor([0., 3.])]
        >>> Basis(2, (-1.0, 1.0)).slopes(torch.tensor([-3.0, 0.0, 0.5]))
        [tensor([1.0000, 0.5000, 0.2500]), tensor([0.0000, 0.5000, 0.7500])]
    """

    degree: int
    knots: tuple[float, ...]

    def __post_init__(self) -> None:
        fewest = 0 if self.degree == 1 else 2
        falls = any(a > b for a, b in pairwise(self.knots))
        if self.degree < 1 or len(self.knots) < fewest or falls:
            raise ValueError(f"no basis of degree {self.degree} has knots {self.knots}")

    @classmethod
    def over(cls, x0: Variable, degree: int, size: int) -> "Basis":
        """`size` functions, with knots that cut a symmetric x0 into equally likely pieces.

        Fewer functions than the degree are of the highest degree that they can be.

        Example:
            >>> from kgflow.flows import Uniform
            >>> Basis.over(Uniform(), degree=1, size=4).knots
            (-0.866..., 0.0, 0.866...)
        """
        degree = min(degree, size)
        pieces = size if degree == 1 else size - degree + 3
        levels = torch.arange(1, pieces, dtype=torch.float64) / pieces
        # Half the way to their mirror images: so they are symmetric to the last digit.
        knots = (x0.icdf(levels) - x0.icdf(levels.flip(0))) / 2
        return cls(degree, tuple(knots.tolist()))

    @property
    def symmetric(self) -> bool:
        r"""Whether :math:`\varphi_{K+1-k}(x) = -\varphi_k(-x)`."""
        return self.knots == tuple(-knot for knot in reversed(self.knots))

    def shrunk(self, factor: float) -> "Basis":
        """The basis whose combinations are those of this one at ``factor * x``."""
        return Basis(self.degree, tuple(sorted(knot / factor for knot in self.knots)))

    def pieces(self) -> list[tuple[float, float]]:
        """The intervals between different knots, from minus infinity to infinity."""
        return list(pairwise((-math.inf, *sorted(set(self.knots)), math.inf)))

    def middles(self) -> list[float]:
        """A number inside every piece."""
        ends = sorted(set(self.knots))
        if not ends:
            return [0.0]
        return [ends[0] - 1, *((a + b) / 2 for a, b in pairwise(ends)), ends[-1] + 1]

    def straight(self, low: float, high: float) -> bool:
        """Whether all functions are straight lines on a piece."""
        return self.degree == 1 or math.isinf(high - low)

    def slopes(self, x: Tensor) -> list[Tensor]:
        """The K slopes at x."""
        if self.degree == 1:
            return _steps(x, self.knots)
        return self._splines(self._near(x), self.degree - 1)

    def values(self, x: Tensor) -> list[Tensor]:
        """The K functions at x."""
        if self.degree == 1:
            ends = pairwise((-math.inf, *self.knots, math.inf))
            return [x.clamp(a, b) - min(max(a, 0.0), b) for a, b in ends]
        return [area - left for area, left in zip(self._areas(x), self._left, strict=True)]

    @cached_property
    def _left(self) -> list[float]:
        """The areas on the left of 0."""
        return [float(area) for area in self._areas(torch.zeros((), dtype=torch.float64))]

    def _near(self, x: Tensor) -> Tensor:
        return x.clamp(self.knots[0], self.knots[-1])

    def _areas(self, x: Tensor) -> list[Tensor]:
        """The integrals of the slopes from the first knot to x."""
        # Of a B-spline it is its width times the sum of all later B-splines of one degree more.
        p, near, found = self.degree, self._near(x), []
        t, total = self._padded(p - 1), torch.zeros_like(x)
        higher, slopes = self._splines(near, p)[1:], self.slopes(x)
        for k in reversed(range(len(slopes))):
            total = total + higher[k]
            found.append((t[k + p] - t[k]) / p * total + (x - near) * slopes[k])
        return found[::-1]

    def _splines(self, x: Tensor, degree: int) -> list[Tensor]:
        """The B-splines of a degree of 1 or more at an x between the knots, by recursion."""
        t, none = self._padded(degree), [torch.zeros_like(x)] * degree
        found = none + _steps(x, self.knots[1:-1]) + none
        for p in range(1, degree + 1):
            rising = [_share(x, t[i], t[i + p]) for i in range(len(found))]
            pairs = zip(pairwise(found), pairwise(rising), strict=True)
            found = [a * left + (1 - b) * right for (left, right), (a, b) in pairs]
        return found

    def _padded(self, degree: int) -> tuple[float, ...]:
        return (self.knots[0],) * degree + self.knots + (self.knots[-1],) * degree


def _steps(x: Tensor, cuts: tuple[float, ...]) -> list[Tensor]:
    """One where x is in a piece between the cuts, for each piece."""
    above = [torch.ones_like(x), *((x > cut).to(x) for cut in cuts), torch.zeros_like(x)]
    return [a - b for a, b in pairwise(above)]


def _share(x: Tensor, low: float, high: float) -> Tensor:
    """How much of [low, high] lies below x; no B-spline lives on an empty one."""
    return (x - low) / (high - low) if high > low else torch.zeros_like(x)
