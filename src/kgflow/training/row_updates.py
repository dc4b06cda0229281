"""Updates of entity embeddings inside the backward pass, without a gradient of the whole table."""

from abc import abstractmethod
from collections.abc import Callable
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn import Parameter
from torch.nn.functional import embedding
from torch.optim import Optimizer

from kgflow.kernels import GradientAccumulator

InitialState = Callable[[Tensor], dict[str, Tensor]]
"""State of an optimizer for a parameter before its first step."""
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
        optimizer: Optimizer whose settings and state are used; it steps all other parameters.
        table: Entity embeddings, ``(E, w)``, one of its parameters.
        initial_state: State of the optimizer for a parameter before its first step.
    """

    names: ClassVar[tuple[str, ...]]
    """Names of the optimizer's state of each embedding."""

    def __init__(self, optimizer: Optimizer, table: Parameter, initial_state: InitialState) -> None:
        self.optimizer, self.table, self.initial_state = optimizer, table, initial_state
        self.buffer = torch.empty(0)

    @abstractmethod
    def step(self, rows: list[Tensor], grad: Tensor) -> None:
        """Update some embeddings and their state in place."""

    def end(self) -> None:
        """Finish the step."""

    def begin(self, ids: Tensor) -> "RowUpdate":
        self.table.grad = None
        self.state: dict[str, Tensor] = self.optimizer.state[self.table]
        if not self.state:
            self.state.update(self.initial_state(self.table.detach()))
        self.rows = (self.table.detach(), *(self.state[name] for name in self.names))
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
