"""Updates of entity embeddings inside the backward pass, without a gradient of the whole table."""

from abc import abstractmethod
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import embedding

from kgflow.kernels import GradientAccumulator

Lookup = Callable[[Tensor], Tensor]
"""Ids ``(...)`` to embeddings ``(..., w)``: a whole table, or the `Rows` that are needed of it."""


class Rows:
    """The embeddings of some ids as a leaf of autograd, so that no gradient of the table is made.

    Args:
        table: All embeddings, ``(E, w)``.
        ids: Ids that will be looked up.

    Example:
        >>> rows = Rows(torch.eye(5), torch.tensor([3, 1, 3]))
        >>> rows(torch.tensor([3, 3])).sum().backward()
        >>> rows.ids, rows.grad[:, 0]
        (tensor([1, 3]), tensor([0., 2.]))
    """

    def __init__(self, table: Tensor, ids: Tensor) -> None:
        self.ids = ids.unique()
        self.leaf = table.detach()[self.ids].requires_grad_()

    def __call__(self, ids: Tensor) -> Tensor:
        """Return the embeddings of ids ``(...)``, ``(..., w)``."""
        return embedding(torch.searchsorted(self.ids, ids), self.leaf)

    @property
    def grad(self) -> Tensor:
        """Gradient of the embeddings of `ids`."""
        return torch.zeros_like(self.leaf) if self.leaf.grad is None else self.leaf.grad


class Update(GradientAccumulator):
    """A sink that updates the embeddings whose gradient it receives."""

    @abstractmethod
    def begin(self, ids: Tensor) -> "Update":
        """Begin a step; `ids` ``(B,)`` will be passed to `add`."""


class RowUpdate(Update):
    r"""A step of an optimizer on the entity table, block by block inside the backward pass.

    A block of embeddings is updated while it and its gradient are in the processor's cache.
    Embeddings of heads get the rest of their gradient at the end of the pass: they are set back
    and updated once more with the whole of it. The result equals one step of the optimizer on the
    whole gradient.

    Args:
        table: Entity embeddings, ``(E, w)``.
    """

    def __init__(self, table: torch.nn.Parameter) -> None:
        self.table = table
        self.buffer = torch.empty(0)

    @abstractmethod
    def state(self) -> tuple[Tensor, ...]:
        """Return the optimizer's state of each embedding, created if there is none yet."""

    @abstractmethod
    def step(self, rows: list[Tensor], grad: Tensor) -> None:
        """Update some embeddings and their state in place."""

    @abstractmethod
    def end(self) -> None:
        """Finish the step."""

    def begin(self, ids: Tensor) -> "RowUpdate":
        self.table.grad = None
        self.rows = (self.table.detach(), *self.state())
        self.heads, self.place = ids.unique(return_inverse=True)
        self.before = [x[self.heads] for x in self.rows]
        self.grad = torch.empty_like(self.before[0])
        self.ids = self.heads.cpu()
        return self

    def block_buffer(self, low: int, high: int) -> Tensor:
        table, size = self.rows[0], high - low
        if len(self.buffer) < size or self.buffer.dtype != table.dtype:
            self.buffer = torch.empty(size, *table.shape[1:], dtype=table.dtype).to(table.device)
        return self.buffer[:size]

    def finish_block(self, low: int, high: int) -> None:
        first, last = torch.searchsorted(self.ids, torch.tensor([low, high])).tolist()
        grad = self.buffer[: high - low]
        if last > first:
            torch.index_select(grad, 0, self.heads[first:last] - low, out=self.grad[first:last])
        self.step([x[low:high] for x in self.rows], grad)

    def add(self, ids: Tensor, grad: Tensor) -> None:
        """Update the embeddings of heads again, with their whole gradient."""
        self.grad.index_add_(0, self.place, grad)
        self.step(self.before, self.grad)
        for x, rows in zip(self.rows, self.before, strict=True):
            x.index_copy_(0, self.heads, rows)
        self.end()
