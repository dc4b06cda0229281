"""Numerical integration over (0, 1): the fallback for every D, and its oracle."""

import math
from collections.abc import Callable, Sequence
from functools import cache

import torch
from torch import Tensor

STEPS = 80
EDGE = 2.0**-53
"""How far nodes keep from 0 and 1, so that z and 1 - z are both inside."""


@cache
def rule() -> tuple[Tensor, Tensor]:
    """Nodes in (0, 1) and their weights, which add up to 1."""
    # Tanh-sinh forgives what happens at the ends of a panel: poles of quantile functions, kinks.
    step = torch.linspace(-3.4, 3.4, STEPS, dtype=torch.float64)
    inner = 0.5 * math.pi * torch.sinh(step)
    weight = torch.cosh(step) / torch.cosh(inner).square()
    return torch.sigmoid(2 * inner), weight / weight.sum()


def integrate(
    integrand: Callable[[Tensor], Tensor],
    ndim: int = 0,
    breaks: Sequence[Tensor] = (),
    device: torch.device | None = None,
) -> Tensor:
    r""":math:`\int_0^1 g(z)\,dz`, panel by panel between 0, 1/2, 1 and the breaks.

    Args:
        integrand: takes z of shape ``(N, ...)`` in float64, with `ndim` axes after the nodes, and
            gives one value for each; it may have poles at 0 and 1, and kinks or jumps at breaks.
        ndim: how many axes the integrals have.
        breaks: numbers in [0, 1], each of a shape that broadcasts to the integrals'.
        device: where to integrate: the integrand's own, the CPU if not given.

    Returns:
        The integrals, of shape ``(...)``.

    Example:
        >>> integrate(lambda z: torch.special.ndtri(z) ** 2)  # the normal's variance
        tensor(1..., dtype=torch.float64)
        >>> integrate(lambda z: (z > 0.7).double(), breaks=[torch.tensor(0.7)])
        tensor(0.3000, dtype=torch.float64)
        >>> integrate(lambda z: z, device=torch.device("meta")).device
        device(type='meta')
    """
    node, weight = (x.to(device).view(-1, *[1] * (ndim + 1)) for x in rule())
    fixed = torch.tensor([0.0, 0.5, 1.0], dtype=torch.float64, device=device).view(-1, *[1] * ndim)
    edges = torch.stack(torch.broadcast_tensors(*fixed, *breaks)).sort(dim=0).values
    width = edges.diff(dim=0)
    z = (edges[:-1] + width * node).clamp(EDGE, 1 - EDGE)
    weight = (width * weight).flatten(0, 1)
    # An empty panel counts for nothing, even where the integrand is infinite.
    return torch.where(weight > 0, integrand(z.flatten(0, 1)) * weight, 0).sum(0)
