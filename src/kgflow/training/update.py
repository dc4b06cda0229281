"""Steps on entity rows as their gradient comes, so that the whole gradient never exists."""

from abc import abstractmethod

import torch
from torch import Tensor

from kgflow.kernels import GradientAccumulator


class Update(GradientAccumulator):
    """A sink that updates the rows it is told the gradient of."""

    @abstractmethod
    def begin(self, ids: Tensor) -> "Update":
        """Begin a step; the ids, ``(B,)``, that will be given to `add`."""


class RowUpdate(Update):
    r"""A step of an optimizer on the entity table, taken block by block inside the backward pass.

    While a block of rows and its gradient are in the processor's cache, they are updated. Rows
    that were heads, too, get the rest of their gradient at the end of the pass: they are put back
    to what they were and updated once more, with all of it. The numbers are those of one step of
    the optimizer on the whole gradient.

    Args:
        table: the entity rows, ``(E, w)``.
    """

    def __init__(self, table: torch.nn.Parameter) -> None:
        self.table = table
        self.buffer = torch.empty(0)

    @abstractmethod
    def state(self) -> tuple[Tensor, ...]:
        """What the optimizer keeps of each row, made where there is none yet."""

    @abstractmethod
    def step(self, rows: list[Tensor], grad: Tensor) -> None:
        """Update some rows and what is kept of them, in place."""

    @abstractmethod
    def end(self) -> None:
        """The step is done."""

    def begin(self, ids: Tensor) -> "RowUpdate":
        """Begin a step; the ids, ``(B,)``, that will be given to `add`."""
        self.table.grad = None
        self.rows = (self.table.detach(), *self.state())
        self.heads, self.place = ids.unique(return_inverse=True)
        self.before = [x[self.heads] for x in self.rows]
        self.grad = torch.empty_like(self.before[0])
        self.ids = self.heads.cpu()
        return self

    def block_buffer(self, low: int, high: int) -> Tensor:
        """A buffer, used again."""
        table, size = self.rows[0], high - low
        if len(self.buffer) < size or self.buffer.dtype != table.dtype:
            self.buffer = torch.empty(size, *table.shape[1:], dtype=table.dtype).to(table.device)
        return self.buffer[:size]

    def finish_block(self, low: int, high: int) -> None:
        """Update these rows."""
        first, last = torch.searchsorted(self.ids, torch.tensor([low, high])).tolist()
        grad = self.buffer[: high - low]
        if last > first:
            torch.index_select(grad, 0, self.heads[first:last] - low, out=self.grad[first:last])
        self.step([x[low:high] for x in self.rows], grad)

    def add(self, ids: Tensor, grad: Tensor) -> None:
        """Update the heads' rows again, with the whole of their gradient."""
        self.grad.index_add_(0, self.place, grad)
        self.step(self.before, self.grad)
        for x, rows in zip(self.rows, self.before, strict=True):
            x.index_copy_(0, self.heads, rows)
        self.end()
