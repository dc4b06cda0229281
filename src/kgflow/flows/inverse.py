"""The inverse of a function that has no formula for it."""

import torch
from torch import Tensor

from kgflow.flows.function import Function

FAR, STEPS = 2.0**64, 100
"""How far from 0 it is looked for, and in how many steps at most."""


class Inverse(Function):
    r""":math:`f^{-1}` of a monotone f from the line onto the line, solved numerically.

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
        """The y with f(y) = x."""
        y = self._solve(x)
        # A step of Newton's adds the last digits, and the gradient by x and by f's parameters.
        return y - (self.f.forward(y) - x) / self.f.slope(y)

    def slope(self, x: Tensor) -> Tensor:
        """One over that of f."""
        return 1 / self.f.slope(self.forward(x))

    @property
    def sign(self) -> Tensor:  # type: ignore[override]
        """That of f."""
        return self.f.sign

    def inverse(self) -> Function:
        """The function itself."""
        return self.f

    def kinks(self) -> list[Tensor]:
        """What f makes of its own."""
        return [self.f.forward(x) for x in self.f.kinks()]

    @torch.no_grad()
    def _solve(self, x: Tensor) -> Tensor:
        sign, y = self.f.sign, torch.zeros_like(x).expand(self.forward_shape(x.shape))
        high = torch.ones_like(y)
        while bool((short := ~self._between(-high, x, high)).any()) and bool((high < FAR).all()):
            high = torch.where(short, 2 * high, high)
        low = -high
        for _ in range(STEPS):
            gap, last = self.f.forward(y) - x, y
            low, high = torch.where(gap * sign <= 0, y, low), torch.where(gap * sign >= 0, y, high)
            # Newton's guess if it is between what is known, or else the middle.
            guess = y - gap / self.f.slope(y)
            y = torch.where((low < guess) & (guess < high), guess, (low + high) / 2)
            if bool((y == last).all()):
                break
        return y

    def _between(self, low: Tensor, x: Tensor, high: Tensor) -> Tensor:
        ends = [(self.f.forward(y) - x) * self.f.sign for y in (low, high)]
        return (ends[0] <= 0) & (ends[1] >= 0)
