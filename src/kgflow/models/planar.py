"""Models whose numbers are complex."""

from typing import ClassVar

import torch
from torch import Tensor

from kgflow.algebra import Point, Scaling
from kgflow.models.model import FlowModel


def complex_scaling(re: Tensor, im: Tensor) -> Scaling:
    """(re + i im) x: a turn and a stretch of the plane."""
    return Scaling(torch.complex(re, im))


class PlanarModel(FlowModel):
    r"""A flow model of :math:`\mathbb C^{n/2}` with the entities :math:`f_e(x) = e \odot x`.

    Complex numbers are held as their real and imaginary parts, ``(n/2,)`` each: n reals in all.
    """

    multiple: ClassVar = 2
    x0 = Point(1.0)
    f_entity = staticmethod(complex_scaling)

    def entity_sizes(self, dim: int) -> dict[str, int]:
        """Half of the reals for each part."""
        return dict.fromkeys(self.entity_parts, dim // 2)

    def relation_sizes(self, dim: int) -> dict[str, int]:
        """Half of the reals for each part."""
        return dict.fromkeys(self.relation_parts, dim // 2)
