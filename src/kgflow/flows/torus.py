r"""The torus :math:`\mathbb T^n = \mathbb R^n / \mathbb Z^n`: distances that wrap around."""

import math

import torch
from torch import Tensor

from kgflow.flows.flow import Flow
from kgflow.flows.similarity import Keys, Lowered, Paired, Query


class TorusNorm(Paired):
    r""":math:`D(x, y) = -\sum_i (2 \min_{k \in \mathbb Z} |x_i - y_i - k|)^p`, TorusE's similarity.

    No coordinate is ever further than half a turn away, so D lies in [-n, 0].

    Args:
        p: 1 or 2.

    Example:
        >>> from kgflow.flows import Flow, Point, Translation
        >>> p = Flow(Point(0.0), Translation(torch.tensor([0.9, 0.5])))
        >>> q = Flow(Point(0.0), Translation(torch.tensor([0.1, 0.0])))
        >>> TorusNorm(1)(p, q), TorusNorm(2)(p, q)  # 0.4 + 1, 0.16 + 1
        (tensor(-1.4000), tensor(-1.1600))
    """

    def __init__(self, p: int) -> None:
        self.p = p

    def pairwise(self, Q: Tensor, K: Tensor) -> Tensor:
        """The negative sum of the powers."""
        gap = Q - K
        gap = gap - gap.detach().round()
        return -(2**self.p) * (gap.abs() if self.p == 1 else gap.square()).sum(-1)


class TorusChord(Lowered):
    r""":math:`D(x, y) = -\tfrac14 \|e^{2\pi i x} - e^{2\pi i y}\|^2`, TorusE's eL2 similarity.

    The torus as a product of unit circles, and the distance straight through the plane. It lowers:

    .. math:: D(x, y) = \tfrac12 \sum_i (\cos 2\pi x_i \cos 2\pi y_i
              + \sin 2\pi x_i \sin 2\pi y_i) - \tfrac n2

    Example:
        >>> from kgflow.flows import Flow, Point, Translation
        >>> p = Flow(Point(0.0), Translation(torch.tensor([0.5, 0.25])))
        >>> q = Flow(Point(0.0), Translation(torch.tensor([0.0, 0.25])))
        >>> TorusChord()(p, q)
        tensor(-1.)
    """

    def __call__(self, p: Flow, q: Flow) -> Tensor:
        """D(p, q)."""
        return -torch.sin(math.pi * (p.value - q.value)).square().sum(-1)

    def query(self, p: Flow) -> Query:
        """Q = half the points of the circles, a = -n/2."""
        Q = _circles(p.value) / 2
        return Query(Q, Q.new_full(Q.shape[:-1], -p.value.shape[-1] / 2))

    def keys(self, q: Flow) -> Keys:
        """K = the points of the circles, b = 0."""
        K = _circles(q.value)
        return Keys(K, K.new_zeros(K.shape[:-1]))


def _circles(x: Tensor) -> Tensor:
    angle = 2 * math.pi * x
    return torch.cat([angle.cos(), angle.sin()], dim=-1)
