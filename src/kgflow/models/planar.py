"""Models whose numbers are complex."""

import math
from typing import ClassVar

import torch
from torch import Tensor

from kgflow.flows import Affine, Flow, Normal, Point, Scaled, Scaling
from kgflow.models.base import FlowModel


def complex_scaling(re: Tensor, im: Tensor) -> Scaling:
    """(re + i im) x: a turn and a stretch of the plane."""
    return Scaling(torch.complex(re, im))


def conjugate(rows: Tensor) -> Tensor:
    """Of rows of real and imaginary parts ``(..., 2n)``, those of the conjugates."""
    re, im = rows.chunk(2, dim=-1)
    return torch.cat([re, -im], dim=-1)


def modulus(re: Tensor, im: Tensor) -> Tensor:
    """|re + i im|, with a gradient everywhere."""
    # Where a stretch is zero its size has no gradient; one this near has, and is as good.
    return torch.hypot(re, im + 1e-30)


def round_flow(x: Tensor, y: Tensor, sigma: Tensor) -> Flow:
    """σ x0 + (x + iy) of the standard complex normal x0, E|x0|² = 1, as 2n real coordinates."""
    f = Affine(torch.cat([x, y], dim=-1), torch.cat([sigma, sigma], dim=-1))
    return Flow(Scaled(Normal(), math.sqrt(0.5)), f)


class PlanarModel(FlowModel):
    r"""A flow model of :math:`\mathbb C^{n/2}` with the entities :math:`f_e(x) = e \odot x`.

    Complex numbers are held as their real and imaginary parts, ``(n/2,)`` each: n reals in all.
    """

    multiple: ClassVar = 2
    share: ClassVar = 2
    x0 = Point(1.0)
    f_entity = staticmethod(complex_scaling)
