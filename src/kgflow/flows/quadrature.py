"""Numerical integration over (0, 1), for similarities and entropies without a closed form."""

import math
from collections.abc import Callable, Sequence
from functools import cache

import torch
from torch import Tensor

NODES = 80
EDGE = 2.0**-53
"""Distance of the nodes from 0 and 1, so that z and 1 - z are both in (0, 1)."""


@cache
def rule() -> tuple[Tensor, Tensor]:
    """Return the nodes in (0, 1) and the weights, which sum to 1, of tanh-sinh quadrature."""
    # Tanh-sinh converges despite poles of quantile functions and kinks at the ends of an interval.
    step = torch.linspace(-3.4, 3.4, NODES, dtype=torch.float64)
    inner = 0.5 * math.pi * torch.sinh(step)
    weight = torch.cosh(step) / torch.cosh(inner).square()
    return torch.sigmoid(2 * inner), weight / weight.sum()


def integrate(
    integrand: Callable[[Tensor], Tensor],
    ndim: int = 0,
    breaks: Sequence[Tensor] = (),
    device: torch.device | None = None,
) -> Tensor:
    r"""Compute :math:`\int_0^1 g(z)\,dz` on the intervals between 0, 1/2, 1 and the breaks.

    Args:
        integrand: function of z ``(N, ...)`` in float64, with `ndim` axes after the nodes, to
            values of the same shape; may have poles at 0 and 1, and kinks or jumps at breaks.
        ndim: number of axes of the integrals.
        breaks: points in [0, 1], each of a shape that broadcasts to that of the integrals.
        device: device of the integrand; the CPU if not given.

    Returns:
        Integrals, ``(...)``.

    Example:
        >>> integrate(lambda z: torch.special.ndtri(z) ** 2)  # variance of the normal distribution
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
    # An empty interval adds nothing, even where the integrand is infinite.
    return torch.where(weight > 0, integrand(z.flatten(0, 1)) * weight, 0).sum(0)
