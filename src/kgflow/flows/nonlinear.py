"""Numerical inverses of functions."""

import torch
from torch import Tensor

from kgflow.flows.functions import Function

MAX_DISTANCE, MAX_STEPS = 2.0**64, 100
"""Bound of the interval around 0 that is searched for an inverse, and of the iterations."""


class Inverse(Function):
    r""":math:`f^{-1}` of a monotone f from the real line onto itself, solved numerically.

    For families whose inverse has no formula; gradients are exact.

    Example:
        >>> from kgflow.flows import Affine
        >>> f = Affine(mu=torch.tensor(1.0), sigma=torch.tensor(-2.0))
        >>> Inverse(f)(torch.tensor(-5.0))
        tensor(3.)
    """

    def __init__(self, f: Function) -> None:
        super().__init__()
        self.f = f

    def forward(self, x: Tensor) -> Tensor:
        """Return the y with f(y) = x."""
        y = self._solve(x)
        # One Newton step adds the last digits, and the gradient by x and by the parameters of f.
        return y - (self.f.forward(y) - x) / self.f.slope(y)

    def slope(self, x: Tensor) -> Tensor:
        return 1 / self.f.slope(self.forward(x))

    @property
    def sign(self) -> Tensor:  # type: ignore[override]
        return self.f.sign

    def inverse(self) -> Function:
        return self.f

    def kinks(self) -> list[Tensor]:
        return [self.f.forward(x) for x in self.f.kinks()]

    @torch.no_grad()
    def _solve(self, x: Tensor) -> Tensor:
        sign, y = self.f.sign, torch.zeros_like(x).expand(self.forward_shape(x.shape))
        high = torch.ones_like(y)
        while bool((outside := ~self._brackets(-high, x, high)).any()):
            if bool((high >= MAX_DISTANCE).any()):
                break
            high = torch.where(outside, 2 * high, high)
        low = -high
        for _ in range(MAX_STEPS):
            gap, last = self.f.forward(y) - x, y
            low, high = torch.where(gap * sign <= 0, y, low), torch.where(gap * sign >= 0, y, high)
            # Newton's step if it stays inside the bracket, else bisection.
            step = y - gap / self.f.slope(y)
            y = torch.where((low < step) & (step < high), step, (low + high) / 2)
            if bool((y == last).all()):
                break
        return y

    def _brackets(self, low: Tensor, x: Tensor, high: Tensor) -> Tensor:
        ends = [(self.f.forward(y) - x) * self.f.sign for y in (low, high)]
        return (ends[0] <= 0) & (ends[1] >= 0)
