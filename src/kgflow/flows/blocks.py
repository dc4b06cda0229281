"""Points seen as blocks of a few coordinates: their orthogonal maps, and a distance by blocks."""

import torch
from torch import Tensor

from kgflow.flows.flow import Flow
from kgflow.flows.function import Function
from kgflow.flows.similarity import Keys, Paired, Query


class Orthogonal(Function):
    r""":math:`f(x) = Rx` with an orthogonal, block diagonal R: rotations and reflections of points.

    It acts on blocks of k coordinates, not on each of the n alone, so that it has no slope and a
    flow of it no marginals: x0 must be a point.

    Args:
        blocks: the blocks of R, ``(..., n/k, k, k)``.

    Example:
        >>> quarter = Orthogonal(torch.tensor([[[0.0, -1.0], [1.0, 0.0]]]))
        >>> quarter.forward(torch.tensor([1.0, 0.0]))
        tensor([0., 1.])
    """

    def __init__(self, blocks: Tensor) -> None:
        super().__init__()
        self.blocks = blocks

    def forward(self, x: Tensor) -> Tensor:
        """R x, of x ``(..., n)``."""
        size = self.blocks.shape[-1]
        return (self.blocks @ x.unflatten(-1, (-1, size))[..., None]).flatten(-3)

    def inverse(self) -> "Orthogonal":
        """The transpose."""
        return Orthogonal(self.blocks.mT)

    def slope(self, x: Tensor) -> Tensor:
        """None: refused."""
        raise TypeError("an orthogonal map mixes coordinates: it has no slope, and x0 is a point")

    @property
    def sign(self) -> Tensor:  # type: ignore[override]
        """None: refused."""
        raise TypeError("an orthogonal map mixes coordinates: it has no sign, and x0 is a point")

    @property
    def shape(self) -> torch.Size:
        """``(..., n)``."""
        return self.blocks[..., 0].flatten(-2).shape


class BlockNorm(Paired):
    r""":math:`D(x, y) = -\sum_l \|x_l - y_l\|` over blocks of points.

    Blocks of two are the sum of moduli of complex numbers.

    Args:
        size: coordinates in a block.

    Example:
        >>> from kgflow.flows import Flow, Point, Translation
        >>> p = Flow(Point(0.0), Translation(torch.tensor([3.0, 4.0, 0.0, 2.0])))
        >>> q = Flow(Point(0.0), Translation(torch.zeros(4)))
        >>> BlockNorm(2)(p, q)
        tensor(-7.)
    """

    def __init__(self, size: int) -> None:
        self.size = size

    def query(self, p: Flow) -> Query:
        """The point."""
        return Query(p.value, p.value.new_zeros(p.value.shape[:-1]))

    def keys(self, q: Flow) -> Keys:
        """The point."""
        return Keys(q.value, q.value.new_zeros(q.value.shape[:-1]))

    def pairwise(self, Q: Tensor, K: Tensor) -> Tensor:
        """The negative sum of the norms of the differences."""
        blocks = (Q - K).unflatten(-1, (-1, self.size))
        return -torch.linalg.vector_norm(blocks, dim=-1).sum(-1)

    def matrix(self, Q: Tensor, K: Tensor) -> Tensor:
        """The same without holding the differences."""
        x, y = (rows.unflatten(1, (-1, self.size)).transpose(0, 1) for rows in (Q, K))
        # By differences: the quicker way over products loses what is near zero.
        return -torch.cdist(x, y, compute_mode="donot_use_mm_for_euclid_dist").sum(0)
