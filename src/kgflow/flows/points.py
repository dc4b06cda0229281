"""Functions and similarities of points: blocks, the complex plane, the torus, the Möbius ring."""

import math

import torch
from torch import Tensor

from kgflow.flows.flow import Flow
from kgflow.flows.functions import Function, Scaling
from kgflow.flows.similarities import Keys, PairwiseSimilarity, Query, Similarity


class Orthogonal(Function):
    r""":math:`f(x) = Rx` with an orthogonal, block diagonal R: rotations and reflections of points.

    It acts on blocks of k coordinates, not on each of the n alone, so that it has no slope and its
    flow no marginal distributions: x0 must be a point.

    Args:
        blocks: blocks of R, ``(..., n/k, k, k)``.

    Example:
        >>> quarter = Orthogonal(torch.tensor([[[0.0, -1.0], [1.0, 0.0]]]))
        >>> quarter.forward(torch.tensor([1.0, 0.0]))
        tensor([0., 1.])
    """

    def __init__(self, blocks: Tensor) -> None:
        super().__init__()
        self.blocks = blocks

    def forward(self, x: Tensor) -> Tensor:
        """Return R x for x ``(..., n)``."""
        size = self.blocks.shape[-1]
        return (self.blocks @ x.unflatten(-1, (-1, size))[..., None]).flatten(-3)

    def inverse(self) -> "Orthogonal":
        return Orthogonal(self.blocks.mT)

    def slope(self, x: Tensor) -> Tensor:
        raise TypeError("an orthogonal map mixes coordinates: it has no slope; use a point x0")

    @property
    def sign(self) -> Tensor:  # type: ignore[override]
        raise TypeError("an orthogonal map mixes coordinates: it has no sign; use a point x0")

    @property
    def shape(self) -> torch.Size:
        """Shape of the points, ``(..., n)``."""
        return self.blocks[..., 0].flatten(-2).shape


class BlockNorm(PairwiseSimilarity):
    r""":math:`D(x, y) = -\sum_l \|x_l - y_l\|` over blocks of coordinates.

    With blocks of two it is the sum of the moduli of complex differences.

    Args:
        size: number of coordinates in a block.

    Example:
        >>> from kgflow.flows import Flow, Point, Translation
        >>> p = Flow(Point(0.0), Translation(torch.tensor([3.0, 4.0, 0.0, 2.0])))
        >>> q = Flow(Point(0.0), Translation(torch.zeros(4)))
        >>> BlockNorm(2)(p, q)
        tensor(-7.)
    """

    def __init__(self, size: int) -> None:
        self.size = size

    def pairwise(self, Q: Tensor, K: Tensor) -> Tensor:
        blocks = (Q - K).unflatten(-1, (-1, self.size))
        return -torch.linalg.vector_norm(blocks, dim=-1).sum(-1)

    def interaction(self, Q: Tensor, K: Tensor) -> Tensor:
        """Return the same for all pairs, without a tensor of all differences."""
        x, y = (points.unflatten(1, (-1, self.size)).transpose(0, 1) for points in (Q, K))
        # The faster way by matrix products loses precision near zero.
        return -torch.cdist(x, y, compute_mode="donot_use_mm_for_euclid_dist").sum(0)


class Rotation(Scaling):
    r""":math:`f(x) = e^{i\theta} x` on the complex plane, RotatE's function.

    Example:
        >>> quarter = Rotation(torch.tensor([torch.pi / 2]))
        >>> (quarter @ quarter)(torch.tensor([1.0 + 1.0j])).real.round()
        tensor([-1.])
    """

    def __init__(self, phase: Tensor) -> None:
        super().__init__(torch.polar(torch.ones_like(phase), phase))
        self.phase = phase

    def inverse(self) -> "Rotation":
        return Rotation(-self.phase)


class ComplexNorm(PairwiseSimilarity):
    r""":math:`D(x, y) = -\sum_i |x_i - y_i|` for complex points, RotatE's published similarity.

    Q and K hold all real parts, then all imaginary parts.

    Example:
        >>> from kgflow.flows import Flow, Point, Scaling
        >>> p = Flow(Point(1.0), Scaling(torch.tensor([3 + 4j, 2j])))
        >>> q = Flow(Point(1.0), Scaling(torch.tensor([0j, 1j])))
        >>> ComplexNorm()(p, q)
        tensor(-6.)
    """

    def pairwise(self, Q: Tensor, K: Tensor) -> Tensor:
        (x, y), (u, v) = Q.chunk(2, dim=-1), K.chunk(2, dim=-1)
        # The modulus has no gradient at 0; a tiny offset gives it one and changes no score.
        return -torch.hypot(x - u, y - v + 1e-30).sum(-1)


class TorusNorm(PairwiseSimilarity):
    r""":math:`D(x, y) = -\sum_i (2 \min_{k \in \mathbb Z} |x_i - y_i - k|)^p`, TorusE's similarity.

    The torus is :math:`\mathbb T^n = \mathbb R^n / \mathbb Z^n`. No coordinate is further away than
    half a turn, so D lies in [-n, 0].

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
        gap = Q - K
        gap = gap - gap.detach().round()
        return -(2**self.p) * (gap.abs() if self.p == 1 else gap.square()).sum(-1)


class TorusChord(Similarity):
    r""":math:`D(x, y) = -\tfrac14 \|e^{2\pi i x} - e^{2\pi i y}\|^2`, TorusE's eL2 similarity.

    The torus is a product of unit circles, and the distance is that of the chord:

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
        return -torch.sin(math.pi * (p.value - q.value)).square().sum(-1)

    def encode_query(self, p: Flow) -> Query:
        """Return Q = half the points on the circles, a = -n/2."""
        Q = on_circles(p.value) / 2
        return Query(Q, Q.new_full(Q.shape[:-1], -p.value.shape[-1] / 2))

    def encode_keys(self, q: Flow) -> Keys:
        """Return K = the points on the circles, b = 0."""
        K = on_circles(q.value)
        return Keys(K, K.new_zeros(K.shape[:-1]))


class MobiusRing(PairwiseSimilarity):
    r"""The negative distance of points on n/2 Möbius rings, in their flat metric.

    A ring is the plane of (x, u), both in turns: x around the ring, u around its cross-section.
    One turn of x turns the cross-section by `twist`, one turn of u changes nothing:

    .. math:: (x + 1, u) \sim (x, u + \text{twist}), \quad (x, u + 1) \sim (x, u)

    The distance of two points is the least :math:`|x| + |u|` over all representations of their
    difference; with :math:`(x, u)` such that :math:`0 \le x < 1` it is

    .. math:: \min(x + |u|_1,\; 1 - x + |u + \text{twist}|_1)

    where :math:`|\cdot|_1` is the distance to the nearest integer. All other x are 1 or more.
    A point holds its n/2 coordinates x first, then its n/2 coordinates u.

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

    def pairwise(self, Q: Tensor, K: Tensor) -> Tensor:
        x, u = (Q - K).chunk(2, dim=-1)
        turns = x.floor()
        x, u = x - turns, u + self.twist * turns
        forward, backward = x + _to_integer(u), 1 - x + _to_integer(u + self.twist)
        return -torch.minimum(forward, backward).sum(-1)


def on_circles(x: Tensor) -> Tensor:
    """Return the points of the unit circle at x turns, all cosines first."""
    angle = 2 * math.pi * x
    return torch.cat([angle.cos(), angle.sin()], dim=-1)


def _to_integer(u: Tensor) -> Tensor:
    return (u - u.round()).abs()
