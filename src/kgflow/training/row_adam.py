"""Adam on entity rows as their gradient comes, so that the whole gradient never exists."""

import torch
from torch import Tensor
from torch.optim.adam import adam

from kgflow.engine import Sink


class RowAdam(Sink):
    r"""A step of Adam on the entity table, taken block by block inside the backward pass.

    While a block of rows and its gradient are in the processor's cache, they are updated. Rows
    that were heads, too, get the rest of their gradient at the end of the pass: they are put back
    to what they were and updated once more, with all of it. The numbers are those of one step of
    `torch.optim.Adam` on the whole gradient.

    Args:
        optimizer: whose settings and state are used; it steps all other parameters.
        table: the entity rows, ``(E, w)``, one of its parameters.
    """

    def __init__(self, optimizer: torch.optim.Adam, table: torch.nn.Parameter) -> None:
        self.optimizer, self.table = optimizer, table
        self.buffer = torch.empty(0)

    def begin(self, heads: Tensor) -> "RowAdam":
        """Begin a step; ids of heads, ``(B,)``, that will be given to `add`."""
        table = self.table.detach()
        self.table.grad = None
        state = self.optimizer.state[self.table]
        if not state:
            state["step"] = torch.zeros((), dtype=torch.float32, device=table.device)
            state["exp_avg"] = torch.zeros_like(table)
            state["exp_avg_sq"] = torch.zeros_like(table)
        self.rows = (table, state["exp_avg"], state["exp_avg_sq"])
        self.step = state["step"]
        self.heads, self.place = heads.unique(return_inverse=True)
        self.before = [x[self.heads] for x in self.rows]
        self.grad = torch.empty_like(self.before[0])
        self.ids = self.heads.cpu()
        return self

    def room(self, low: int, high: int) -> Tensor:
        """A buffer, used again."""
        table, size = self.rows[0], high - low
        if len(self.buffer) < size or self.buffer.dtype != table.dtype:
            self.buffer = torch.empty(size, *table.shape[1:], dtype=table.dtype).to(table.device)
        return self.buffer[:size]

    def done(self, low: int, high: int) -> None:
        """Update these rows."""
        first, last = torch.searchsorted(self.ids, torch.tensor([low, high])).tolist()
        grad = self.buffer[: high - low]
        if last > first:
            torch.index_select(grad, 0, self.heads[first:last] - low, out=self.grad[first:last])
        self._update([x[low:high] for x in self.rows], grad)

    def add(self, ids: Tensor, grad: Tensor) -> None:
        """Update the heads' rows again, with the whole of their gradient."""
        self.grad.index_add_(0, self.place, grad)
        self._update(self.before, self.grad)
        for x, rows in zip(self.rows, self.before, strict=True):
            x.index_copy_(0, self.heads, rows)
        self.step += 1

    def _update(self, rows: list[Tensor], grad: Tensor) -> None:
        group = self.optimizer.param_groups[0]
        value, mean, square = rows
        beta1, beta2 = group["betas"]
        adam(
            [value],
            [grad],
            [mean],
            [square],
            [],
            [self.step.clone()],
            fused=True,
            amsgrad=False,
            beta1=beta1,
            beta2=beta2,
            lr=group["lr"],
            weight_decay=group["weight_decay"],
            eps=group["eps"],
            maximize=False,
        )
