"""Splines: the function of NFE-2, and the more flexible ones of the paper's Discussion."""

import copy
from collections.abc import Sequence

import torch
from torch import Tensor

from kgflow.flows.basis import Basis
from kgflow.flows.functions import (
    RULES,
    Composition,
    Function,
    Linear,
    NotInvertibleError,
    Scaling,
    Translation,
    require_nonzero,
)
from kgflow.flows.nonlinear import Inverse


class Spline(Function):
    r""":math:`f(x) = \mu + \sum_k \sigma_k \varphi_k(x)` in a basis of increasing functions.

    It is invertible if all scales have the same sign. Its composition with a linear outer function
    is a spline in the same basis, so that for every h and linear r there is a t with
    :math:`f_t = f_r \circ f_h`.

    Args:
        basis: K functions :math:`\varphi_k`.
        mu: f(0), ``(..., n)``.
        scales: K scales, ``(..., n)`` each.

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
        return self._combine(self.basis.values(x)) + self.mu

    def slope(self, x: Tensor) -> Tensor:
        return self._combine(self.basis.slopes(x))

    @property
    def sign(self) -> Tensor:  # type: ignore[override]
        """Sign of the slopes; raises `NotInvertibleError` if they have both signs."""
        signs = torch.stack(torch.broadcast_tensors(*(scale.sign() for scale in self.scales)))
        if bool((signs.amin(0) * signs.amax(0) < 0).any()):
            raise NotInvertibleError(
                "a spline without slopes of one sign is not monotone: it has no inverse"
            )
        return signs.sum(0).sign()

    def inverse(self) -> Function:
        """Return the numerical inverse, or raise `NotInvertibleError` if a piece is constant."""
        _ = self.sign  # raises if it is not monotone
        for x in self.basis.midpoints():
            require_nonzero(self.slope(self.mu.new_tensor(x)))
        return Inverse(self)

    def kinks(self) -> list[Tensor]:
        return [self.mu.new_tensor(knot) for knot in self.basis.knots]

    def increasing_scales(self) -> tuple[Tensor, ...]:
        """Return the scales of the increasing spline with the same law, for a symmetric basis."""
        return tuple(scale.abs() for scale in self._ordered(self.sign >= 0))

    def like(self, mu: Tensor, scales: Sequence[Tensor]) -> "Spline":
        """Return a spline of the same class and basis with other parameters."""
        new = copy.copy(self)
        new.mu, new.scales = mu, tuple(scales)
        return new

    def _ordered(self, keep: Tensor) -> list[Tensor]:
        """Return the scales, in reversed order where `keep` is False."""
        pairs = zip(self.scales, reversed(self.scales), strict=True)
        return [torch.where(keep, straight, mirrored) for straight, mirrored in pairs]

    def _combine(self, parts: Sequence[Tensor]) -> Tensor:
        terms = zip(self.scales, parts, strict=True)
        return sum((scale * part for scale, part in terms), start=self.mu.new_zeros(()))


class TwoPiece(Spline):
    r""":math:`f(x) = \sigma_1 x + \mu` for :math:`x \le 0`, else :math:`\sigma_2 x + \mu` (Eq. 6).

    It is invertible if :math:`\sigma_1 \sigma_2 > 0`.

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
        """Return the two-piece function with inverse slopes, exchanged where f decreases."""
        left, right = (1 / require_nonzero(half) for half in self._ordered(self.sign >= 0))
        return TwoPiece(torch.zeros_like(self.mu), left, right) @ Translation(-self.mu)


HALVES = Basis(1, (0.0,))
"""Basis of the negative part of x and its positive part."""


def _compose_linear_spline(f: Linear, g: Spline) -> Spline:
    return g.like(f.forward(g.mu), [f.sigma * scale for scale in g.scales])


def _compose_spline_scaling(f: Spline, g: Scaling) -> Function:
    # All coordinates share the knots: one scaling can move them, and knots at 0 stay anyway.
    if any(f.basis.knots) and (g.sigma.ndim or g.sigma.requires_grad):
        return Composition(f, g)
    new = f.like(f.mu, [scale * g.sigma for scale in f._ordered(g.sigma >= 0)])
    if any(f.basis.knots) and g.sigma != 0:
        new.basis = f.basis.rescaled(float(g.sigma))
    return new


RULES += [(Linear, Spline, _compose_linear_spline), (Spline, Scaling, _compose_spline_scaling)]
