"""Splines: the functions of NFE-2, and of what the paper's Discussion proposes beyond it."""

import copy
from collections.abc import Sequence

import torch
from torch import Tensor

from kgflow.flows.basis import Basis
from kgflow.flows.function import (
    RULES,
    Composition,
    Function,
    Linear,
    NotInvertibleError,
    Scaling,
    Translation,
    nonzero,
)
from kgflow.flows.inverse import Inverse


class Spline(Function):
    r""":math:`f(x) = \mu + \sum_k \sigma_k \varphi_k(x)` in a basis of rising functions.

    It is invertible where all scales have one sign. A linear function after it is a spline of the
    same basis, so that for every h and linear r there is a t with :math:`f_t = f_r \circ f_h`.

    Args:
        basis: the K functions :math:`\varphi_k`.
        mu: f(0).
        scales: the K scales.

    Example:
        >>> scales = [torch.tensor(s) for s in (1.0, 2.0, 3.0)]
        >>> f = Spline(Basis(1, (-1.0, 1.0)), torch.tensor(0.0), scales)
        >>> f(torch.tensor([-2.0, 0.5, 2.0]))
        tensor([-3.,  1.,  5.])
    """

    def __init__(self, basis: Basis, mu: Tensor, scales: Sequence[Tensor]) -> None:
        super().__init__()
        self.basis, self.mu, self.scales = basis, mu, tuple(scales)

    def forward(self, x: Tensor) -> Tensor:
        """The combination of the basis."""
        return self._combine(self.basis.values(x)) + self.mu

    def slope(self, x: Tensor) -> Tensor:
        """The same combination of the basis' slopes."""
        return self._combine(self.basis.slopes(x))

    @property
    def sign(self) -> Tensor:  # type: ignore[override]
        """Whether it increases (1) or decreases (-1); a fold, which does both, is refused."""
        signs = torch.stack(torch.broadcast_tensors(*(scale.sign() for scale in self.scales)))
        if bool((signs.amin(0) * signs.amax(0) < 0).any()):
            raise NotInvertibleError("a piecewise function needs slopes of one sign")
        return signs.sum(0).sign()

    def inverse(self) -> Function:
        """Solved numerically; refused where a piece is flat."""
        _ = self.sign  # refuses a fold
        for x in self.basis.middles():
            nonzero(self.slope(self.mu.new_tensor(x)))
        return Inverse(self)

    def kinks(self) -> list[Tensor]:
        """The knots."""
        return [self.mu.new_tensor(knot) for knot in self.basis.knots]

    def rising(self) -> tuple[Tensor, ...]:
        """The scales of the function that rises to the same values, over a symmetric basis."""
        return tuple(scale.abs() for scale in self._ordered(self.sign >= 0))

    def like(self, mu: Tensor, scales: Sequence[Tensor]) -> "Spline":
        """Another of the same family and basis."""
        new = copy.copy(self)
        new.mu, new.scales = mu, tuple(scales)
        return new

    def _ordered(self, keep: Tensor) -> list[Tensor]:
        """The scales, from last to first where they are not to be kept."""
        pairs = zip(self.scales, reversed(self.scales), strict=True)
        return [torch.where(keep, straight, mirrored) for straight, mirrored in pairs]

    def _combine(self, parts: Sequence[Tensor]) -> Tensor:
        terms = zip(self.scales, parts, strict=True)
        return sum((scale * part for scale, part in terms), start=self.mu.new_zeros(()))


class TwoPiece(Spline):
    r""":math:`f(x) = \sigma_1 x + \mu` for :math:`x \le 0`, else :math:`\sigma_2 x + \mu` (Eq. 6).

    It is invertible where :math:`\sigma_1 \sigma_2 > 0`.

    Example:
        >>> f = TwoPiece(mu=torch.tensor(1.0), left=torch.tensor(2.0), right=torch.tensor(3.0))
        >>> f(torch.tensor([-1.0, 1.0]))
        tensor([-1.,  4.])
    """

    def __init__(self, mu: Tensor, left: Tensor, right: Tensor) -> None:
        super().__init__(HALVES, mu, (left, right))

    @property
    def left(self) -> Tensor:
        """σ₁."""
        return self.scales[0]

    @property
    def right(self) -> Tensor:
        """σ₂."""
        return self.scales[1]

    def inverse(self) -> Function:
        """Back to the kink, then one over the slopes, which swap sides where f decreases."""
        left, right = (1 / nonzero(half) for half in self._ordered(self.sign >= 0))
        return TwoPiece(torch.zeros_like(self.mu), left, right) @ Translation(-self.mu)


HALVES = Basis(1, (0.0,))
"""The negative part of x, and its positive part."""


def _move(f: Linear, g: Spline) -> Spline:
    return g.like(f.forward(g.mu), [f.sigma * scale for scale in g.scales])


def _shrink(f: Spline, g: Scaling) -> Function:
    # The knots are shared: they can move all together, or be at 0, where a scaling leaves them.
    if any(f.basis.knots) and (g.sigma.ndim or g.sigma.requires_grad):
        return Composition(f, g)
    new = f.like(f.mu, [scale * g.sigma for scale in f._ordered(g.sigma >= 0)])
    if any(f.basis.knots) and g.sigma != 0:
        new.basis = f.basis.shrunk(float(g.sigma))
    return new


RULES += [(Linear, Spline, _move), (Spline, Scaling, _shrink)]
