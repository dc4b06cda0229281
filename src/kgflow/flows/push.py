"""Example 1: pushing a uniform variable to a normal one, and back."""

import math

import torch
from torch import Tensor

from kgflow.flows.function import Function
from kgflow.flows.variable import SQRT3


class Gaussianise(Function):
    r""":math:`f(x) = \sqrt 2\,\mathrm{erf}^{-1}(x / \sqrt 3)`: uniform x0 becomes standard normal.

    After it, ``Affine(mu, sigma) @ Gaussianise()`` is the paper's Example 1.

    Example:
        >>> Gaussianise()(torch.tensor([-1.0, 0.0, 1.0]))
        tensor([-0.8018,  0.0000,  0.8018])
    """

    def forward(self, x: Tensor) -> Tensor:
        """The standard normal's quantile at x's share of [-√3, √3]."""
        return math.sqrt(2) * torch.erfinv(x / SQRT3)

    def slope(self, x: Tensor) -> Tensor:
        """One over that of the inverse."""
        return 1 / Uniformise().slope(self.forward(x))

    @property
    def sign(self) -> Tensor:  # type: ignore[override]
        """It increases."""
        return torch.ones(())

    def inverse(self) -> "Uniformise":
        """The push from normal to uniform."""
        return Uniformise()


class Uniformise(Function):
    r""":math:`f(x) = \sqrt 3\,\mathrm{erf}(x / \sqrt 2)`: normal x0 becomes uniform.

    Example:
        >>> Uniformise()(Gaussianise()(torch.tensor(1.5)))
        tensor(1.5000)
    """

    def forward(self, x: Tensor) -> Tensor:
        """The point of [-√3, √3] at x's standard normal probability."""
        return SQRT3 * torch.erf(x / math.sqrt(2))

    def slope(self, x: Tensor) -> Tensor:
        """The bell curve, to scale."""
        return SQRT3 * math.sqrt(2 / math.pi) * torch.exp(-x.square() / 2)

    @property
    def sign(self) -> Tensor:  # type: ignore[override]
        """It increases."""
        return torch.ones(())

    def inverse(self) -> Gaussianise:
        """The push from uniform to normal."""
        return Gaussianise()
