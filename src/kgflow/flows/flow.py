"""f(x0): what a function makes of the initial object."""

from dataclasses import dataclass
from functools import singledispatch

import torch
from torch import Tensor
from torch.distributions import TransformedDistribution

from kgflow.flows.function import Function, Linear, Scaling
from kgflow.flows.quadrature import integrate, rule
from kgflow.flows.spline import Spline
from kgflow.flows.variable import Point, Scaled, Variable


@dataclass(frozen=True, eq=False)
class Flow:
    r"""The random vector (or, for a point x0, the vector) :math:`f(x_0)`.

    Args:
        x0: one variable; each of the n coordinates of f acts on its own copy of it.
        f: an invertible function with parameters ``(..., n)``.

    Example:
        >>> from kgflow.flows import Affine, Flow, Normal
        >>> p = Flow(Normal(), Affine(mu=torch.tensor([1.0, 0.0]), sigma=torch.tensor([2.0, -1.0])))
        >>> p.quantile(torch.tensor(0.5))
        tensor([1., 0.])
        >>> p.entropy_change()  # log 2 + log 1
        tensor(0.6931)
    """

    x0: Variable | Point
    f: Function

    @property
    def value(self) -> Tensor:
        """The point f(x0), of shape ``(..., n)``; only a point x0 has it."""
        if not isinstance(self.x0, Point):
            raise TypeError(f"{self.x0} is random: its image has a distribution, not a value")
        x0 = torch.tensor(self.x0.value, dtype=torch.float64)
        return self.f.forward(x0).expand(self.f.shape)

    @property
    def reals(self) -> tuple[Tensor, ...]:
        """The value as real numbers, ``(..., n)`` each: itself, or its real and imaginary part."""
        value = self.value
        return (value.real, value.imag) if value.is_complex() else (value,)

    @property
    def variable(self) -> Variable:
        """The random x0; a point has no distribution."""
        if isinstance(self.x0, Point):
            raise TypeError("a point x0 has no density, quantile or entropy")
        return self.x0

    def unscaled(self) -> "Flow":
        """The same flow with x0 in place of x0/k, which is one more scaling of it."""
        if not isinstance(self.x0, Scaled):
            return self
        factor = torch.tensor(self.x0.factor, dtype=torch.float64, device=self.f.device)
        return Flow(self.x0.x0, self.f @ Scaling(factor)).unscaled()

    @property
    def marginals(self) -> TransformedDistribution:
        """The n one-dimensional distributions, by Eq. 1."""
        flow = self.unscaled()
        return TransformedDistribution(flow.variable, [flow.f], validate_args=False)

    def log_prob(self, x: Tensor) -> Tensor:
        r"""Eq. 1: :math:`\log p_{x_0}(f^{-1}(x)) + \log|\det \partial f^{-1}/\partial x|`.

        Args:
            x: ``(..., n)``.

        Returns:
            The joint log density, ``(...)``.
        """
        return self.marginals.log_prob(x).sum(-1)

    def sample(self, count: int) -> Tensor:
        """Draw ``(count, ..., n)``."""
        z = torch.rand(count, *self.f.shape, dtype=torch.float64)
        return self.quantile(z.clamp(min=2**-53).to(next(iter(self.f.tensors()), z)))

    def quantile(self, z: Tensor) -> Tensor:
        r"""The marginal quantile functions: :math:`f(F_{x_0}^{-1}(z))`, mirrored where f falls."""
        x0 = self.variable
        return self.f.forward(torch.where(self.f.sign >= 0, x0.icdf(z), x0.icdf(1 - z)))

    def kinks(self) -> list[Tensor]:
        """The z where the quantile function has kinks or jumps, and their mirror images."""
        below = [self.variable.cdf(x) for x in self.f.kinks()]
        below += self.variable.jumps().to(self.f.device)
        return below + [1 - z for z in below]

    def entropy(self) -> Tensor:
        r"""The differential entropy :math:`H(f(x_0))`, ``(...)``."""
        change = self.entropy_change()
        return self.f.shape[-1] * self.variable.entropy().to(change) + change

    def entropy_change(self) -> Tensor:
        r""":math:`H(f(x_0)) - H(x_0) = \mathbb E \log|f'(x_0)|`, summed over n, ``(...)``.

        It is minus infinity where a scale is zero: the image is then a point.
        """
        _ = self.f.sign  # refuses a fold, whose entropy is another
        return expected_log_slope(self.f, self.variable).expand(self.f.shape).sum(-1)


@singledispatch
def expected_log_slope(f: Function, x0: Variable) -> Tensor:
    r""":math:`\mathbb E \log|f'(x_0)|` for each coordinate, integrated where it has no formula."""
    breaks = [x0.cdf(x) for x in f.kinks()]
    return integrate(lambda z: f.slope(x0.icdf(z)).abs().log(), len(f.shape), breaks, f.device)


@expected_log_slope.register
def _(f: Linear, x0: Variable) -> Tensor:
    return f.sigma.abs().log()


@expected_log_slope.register
def _(f: Spline, x0: Variable) -> Tensor:
    # Node by node: the slopes of all flows at all nodes might not fit into memory.
    total = torch.zeros_like(f.mu)
    for piece, middle in zip(f.basis.pieces(), f.basis.middles(), strict=True):
        low, high = x0.cdf(torch.tensor(piece, dtype=torch.float64, device=f.device))
        if f.basis.straight(*piece):
            x, weights = low.new_tensor([middle]), high - low[None]
        else:
            nodes, weights = (part.to(low) * (high - low) for part in rule())
            x = x0.icdf(low + nodes)
        for place, weight in zip(x, weights, strict=True):
            if weight > 0:
                total = total + weight * f.slope(place).abs().log()
    return total
