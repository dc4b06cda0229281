"""Interface of the loss kernels: targets, gradients, and the accumulator of entity gradients."""

from abc import ABC, abstractmethod
from typing import NamedTuple, Protocol

import torch
from torch import Tensor
from torch.nn.functional import softplus


class Targets(NamedTuple):
    """Targets of a batch of B queries: a weight c per query, and sparse matrices y and e.

    c ``(B,)`` multiplies the terms of all entities; row, column ``(P,)`` are the positions in the
    (batch x entities) matrix where y and, if given, e ``(P,)`` are not zero.
    """

    c: Tensor
    row: Tensor
    column: Tensor
    y: Tensor
    e: Tensor | None = None

    def by_column(self) -> "Targets":
        """Return the same targets with their sparse entries sorted by column."""
        order = torch.argsort(self.column, stable=True)
        row, column, y = (part[order] for part in (self.row, self.column, self.y))
        return Targets(self.c, row, column, y, None if self.e is None else self.e[order])

    def block_bounds(self, entities: int, size: int) -> list[int]:
        """Return where each block of columns begins among entries that are sorted by column."""
        edges = torch.arange(0, entities + size, size, device=self.column.device)
        return torch.searchsorted(self.column, edges).tolist()


class Gradients(NamedTuple):
    """Loss, or None if it was not requested, and its gradients with respect to Q and a."""

    loss: Tensor | None
    Q: Tensor
    a: Tensor


class GradientAccumulator(ABC):
    """Receives the gradient of the entity embeddings: as tails, block by block, then as heads."""

    @abstractmethod
    def block_buffer(self, low: int, high: int) -> Tensor:
        """Return the tensor ``(N, w)`` to write the gradient of tails low to high to."""

    @abstractmethod
    def finish_block(self, low: int, high: int) -> None:
        """Process a block that has been written; its embeddings are not read again."""

    @abstractmethod
    def skip_blocks(self) -> None:
        """Set the gradient of all tails to zero, instead of writing any block."""

    @abstractmethod
    def add(self, ids: Tensor, grad: Tensor) -> None:
        """Add the gradient ``(B, w)`` of heads, whose ids may repeat; the last call of a batch."""


class WholeGradient(GradientAccumulator):
    """Gradient of all entity embeddings in one tensor.

    Args:
        out: tensor ``(E, w)`` that is overwritten with the gradient.
    """

    def __init__(self, out: Tensor) -> None:
        self.out = out

    def block_buffer(self, low: int, high: int) -> Tensor:
        return self.out[low:high]

    def finish_block(self, low: int, high: int) -> None:
        pass

    def skip_blocks(self) -> None:
        self.out.zero_()

    def add(self, ids: Tensor, grad: Tensor) -> None:
        self.out.index_add_(0, ids, grad)


class LossKernel(Protocol):
    """Loss of a batch of queries against all entities, with its gradients."""

    def __call__(
        self,
        Q: Tensor,
        a: Tensor,
        table: Tensor,
        targets: Targets,
        accumulator: GradientAccumulator,
        value: bool = True,
    ) -> Gradients:
        """Compute the loss and its gradients.

        Args:
            Q: query vectors, ``(B, m)``.
            a: bias terms of the queries, margin included, ``(B,)``.
            table: entity embeddings, ``(E, w)``.
            targets: c, y and e.
            accumulator: receives the gradient of the entity embeddings as tails.
            value: whether to return the loss itself, which costs one more pass over the scores.
        """


def add_softplus_targets(s: Tensor, y: Tensor, e: Tensor) -> tuple[Tensor, Tensor]:
    """Return the loss Σ e softplus(s) of scores s ``(P,)``, and y with its gradient subtracted."""
    return (softplus(s) * e).sum(), y - e * torch.sigmoid(s)
