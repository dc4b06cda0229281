"""The complex plane: rotations, and the distance of complex points."""

import torch
from torch import Tensor

from kgflow.flows.function import Scaling
from kgflow.flows.similarity import Paired


class Rotation(Scaling):
    r""":math:`f(x) = e^{i\theta} x` on the complex plane, RotatE's function.

    A scaling by a complex number turns and stretches; this one only turns.

    Example:
        >>> quarter = Rotation(torch.tensor([torch.pi / 2]))
        >>> (quarter @ quarter)(torch.tensor([1.0 + 1.0j])).real.round()
        tensor([-1.])
    """

    def __init__(self, phase: Tensor) -> None:
        super().__init__(torch.polar(torch.ones_like(phase), phase))
        self.phase = phase

    def inverse(self) -> "Rotation":
        """The turn back."""
        return Rotation(-self.phase)


class Moduli(Paired):
    r""":math:`D(x, y) = -\sum_i |x_i - y_i|` for complex points, RotatE's similarity as published.

    Rows hold all real parts, then all imaginary ones.

    Example:
        >>> from kgflow.flows import Flow, Point, Scaling
        >>> p = Flow(Point(1.0), Scaling(torch.tensor([3 + 4j, 2j])))
        >>> q = Flow(Point(1.0), Scaling(torch.tensor([0j, 1j])))
        >>> Moduli()(p, q)
        tensor(-6.)
    """

    def pairwise(self, Q: Tensor, K: Tensor) -> Tensor:
        """The negative sum of the moduli of the differences."""
        (x, y), (u, v) = Q.chunk(2, dim=-1), K.chunk(2, dim=-1)
        # Where two points meet the modulus has no gradient; one this near has, and is as good.
        return -torch.hypot(x - u, y - v + 1e-30).sum(-1)
