"""The flat metric of a Möbius ring."""

import torch
from torch import Tensor

from kgflow.flows.flow import Flow
from kgflow.flows.similarity import Keys, Paired, Query


class MobiusRing(Paired):
    r"""The negative distance of points on n/2 Möbius rings.

    A ring is the plane of (x, u), both in turns: x around the ring, u around its cross-section.
    One turn of x turns the cross-section by `twist`, one turn of u changes nothing:

    .. math:: (x + 1, u) \sim (x, u + \text{twist}), \quad (x, u + 1) \sim (x, u)

    The distance of two points is the least :math:`|x| + |u|` of what is the same as their
    difference; with :math:`(x, u)` such that :math:`0 \le x < 1` it is

    .. math:: \min(x + |u|_1,\; 1 - x + |u + \text{twist}|_1)

    where :math:`|\cdot|_1` is the distance to the nearest integer. All other x are 1 or more.
    A point has its n/2 numbers x first, then its n/2 numbers u.

    Args:
        twist: 1/2 for the Möbius ring, q/p for the rings that close after p turns, 0 for a torus.

    Example:
        >>> from kgflow.flows import Flow, Point, Translation
        >>> turn, half = torch.tensor([1.0, 0.0]), torch.tensor([0.0, 0.5])
        >>> p, q = (Flow(Point(0.0), Translation(x)) for x in (turn, half))
        >>> MobiusRing(0.5)(p, q), MobiusRing(0.0)(p, q)  # one turn is the opposite side
        (tensor(0.), tensor(-0.5000))
    """

    def __init__(self, twist: float) -> None:
        self.twist = twist

    def query(self, p: Flow) -> Query:
        """The point."""
        return Query(p.value, p.value.new_zeros(p.value.shape[:-1]))

    def keys(self, q: Flow) -> Keys:
        """The point."""
        return Keys(q.value, q.value.new_zeros(q.value.shape[:-1]))

    def pairwise(self, Q: Tensor, K: Tensor) -> Tensor:
        """The negative sum of the distances on all rings."""
        x, u = (Q - K).chunk(2, dim=-1)
        turns = x.floor()
        x, u = x - turns, u + self.twist * turns
        forth, back = x + _to_integer(u), 1 - x + _to_integer(u + self.twist)
        return -torch.minimum(forth, back).sum(-1)


def _to_integer(u: Tensor) -> Tensor:
    return (u - u.round()).abs()
