"""Flows f(x0): distributions or points that a function maps x0 to."""

from dataclasses import dataclass
from functools import singledispatch

import torch
from torch import Tensor
from torch.distributions import TransformedDistribution

from kgflow.flows.functions import Function, Linear, Scaling
from kgflow.flows.quadrature import integrate, rule
from kgflow.flows.spline import Spline
from kgflow.flows.variables import Point, Scaled, Variable


@dataclass(frozen=True, eq=False)
class Flow:
    r"""The random vector (or, for a point x0, the vector) :math:`f(x_0)`.

    Args:
        x0: random variable, of which each of the n coordinates has its own copy, or point.
        f: invertible function with parameters ``(..., n)``.

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
        """Point f(x0), ``(..., n)``, for a point x0."""
        if not isinstance(self.x0, Point):
            raise TypeError(f"x0 = {self.x0} is random: f(x0) has a distribution, but no value")
        x0 = torch.tensor(self.x0.value, dtype=torch.float64)
        return self.f.forward(x0).expand(self.f.shape)

    @property
    def real_components(self) -> tuple[Tensor, ...]:
        """The value, or its real and imaginary part if it is complex, ``(..., n)`` each."""
        value = self.value
        return (value.real, value.imag) if value.is_complex() else (value,)

    @property
    def variable(self) -> Variable:
        """The random x0; raises TypeError for a point."""
        if isinstance(self.x0, Point):
            raise TypeError("a point x0 has no density, quantile or entropy")
        return self.x0

    def unscaled(self) -> "Flow":
        """Return the same flow of the unscaled x0, with the factor of x0/k as a scaling in f."""
        if not isinstance(self.x0, Scaled):
            return self
        factor = torch.tensor(self.x0.factor, dtype=torch.float64, device=self.f.device)
        return Flow(self.x0.x0, self.f @ Scaling(factor)).unscaled()

    @property
    def marginals(self) -> TransformedDistribution:
        """Marginal distributions of the n coordinates, by Eq. 1."""
        flow = self.unscaled()
        return TransformedDistribution(flow.variable, [flow.f], validate_args=False)

    def log_prob(self, x: Tensor) -> Tensor:
        r"""Compute Eq. 1: :math:`\log p_{x_0}(f^{-1}(x)) + \log|\det \partial f^{-1}/\partial x|`.

        Args:
            x: points, ``(..., n)``.

        Returns:
            Joint log density, ``(...)``.
        """
        return self.marginals.log_prob(x).sum(-1)

    def sample(self, count: int) -> Tensor:
        """Draw a sample ``(count, ..., n)``."""
        z = torch.rand(count, *self.f.shape, dtype=torch.float64)
        return self.quantile(z.clamp(min=2**-53).to(next(iter(self.f.tensors()), z)))

    def quantile(self, z: Tensor) -> Tensor:
        r"""Return the quantiles :math:`f(F_{x_0}^{-1}(z))`, with 1 - z where f decreases."""
        x0 = self.variable
        return self.f.forward(torch.where(self.f.sign >= 0, x0.icdf(z), x0.icdf(1 - z)))

    def kinks(self) -> list[Tensor]:
        """Return the z where the quantile function may have kinks or jumps, and 1 - z of them."""
        below = [self.variable.cdf(x) for x in self.f.kinks()]
        below += self.variable.jumps().to(self.f.device)
        return below + [1 - z for z in below]

    def entropy(self) -> Tensor:
        r"""Return the differential entropy :math:`H(f(x_0))`, ``(...)``."""
        change = self.entropy_change()
        return self.f.shape[-1] * self.variable.entropy().to(change) + change

    def entropy_change(self) -> Tensor:
        r"""Return :math:`H(f(x_0)) - H(x_0) = \mathbb E \log|f'(x_0)|`, summed over n, ``(...)``.

        It is minus infinity where a scale is zero: f(x0) is then a point.
        """
        _ = self.f.sign  # raises if f is not monotone: the formula does not hold then
        return expected_log_slope(self.f, self.variable).expand(self.f.shape).sum(-1)


@singledispatch
def expected_log_slope(f: Function, x0: Variable) -> Tensor:
    r"""Compute :math:`\mathbb E \log|f'(x_0)|` of each coordinate, by default numerically."""
    breaks = [x0.cdf(x) for x in f.kinks()]
    return integrate(lambda z: f.slope(x0.icdf(z)).abs().log(), len(f.shape), breaks, f.device)


@expected_log_slope.register
def _(f: Linear, x0: Variable) -> Tensor:
    return f.sigma.abs().log()


@expected_log_slope.register
def _(f: Spline, x0: Variable) -> Tensor:
    # One node at a time: the slopes of all flows at all nodes might not fit into memory.
    total = torch.zeros_like(f.mu)
    for piece, middle in zip(f.basis.pieces(), f.basis.midpoints(), strict=True):
        low, high = x0.cdf(torch.tensor(piece, dtype=torch.float64, device=f.device))
        if f.basis.is_linear(*piece):
            x, weights = low.new_tensor([middle]), high - low[None]
        else:
            nodes, weights = (part.to(low) * (high - low) for part in rule())
            x = x0.icdf(low + nodes)
        for place, weight in zip(x, weights, strict=True):
            if weight > 0:
                total = total + weight * f.slope(place).abs().log()
    return total
