"""Adam on entity rows."""

import torch
from torch import Tensor
from torch.optim.adam import adam

from kgflow.kernels import blocks
from kgflow.training.update import RowUpdate


class RowAdam(RowUpdate):
    r"""A step of `torch.optim.Adam` on the entity table.

    Args:
        optimizer: whose settings and state are used; it steps all other parameters.
        table: the entity rows, ``(E, w)``, one of its parameters.
    """

    def __init__(self, optimizer: torch.optim.Adam, table: torch.nn.Parameter) -> None:
        super().__init__(table)
        self.optimizer = optimizer

    def state(self) -> tuple[Tensor, Tensor]:
        """Both moments."""
        table, state = self.table.detach(), self.optimizer.state[self.table]
        if not state:
            state["step"] = torch.zeros((), dtype=torch.float32, device=table.device)
            state["exp_avg"] = torch.zeros_like(table)
            state["exp_avg_sq"] = torch.zeros_like(table)
        self.steps = state["step"]
        return state["exp_avg"], state["exp_avg_sq"]

    def skip_blocks(self) -> None:
        """Rows without a gradient go on with the momentum they have."""
        for low, high in blocks(len(self.table)):
            self.block_buffer(low, high).zero_()
            self.finish_block(low, high)

    def end(self) -> None:
        """Count it."""
        self.steps += 1

    def step(self, rows: list[Tensor], grad: Tensor) -> None:
        """As Adam does."""
        group = self.optimizer.param_groups[0]
        value, mean, square = rows
        beta1, beta2 = group["betas"]
        adam(
            [value],
            [grad],
            [mean],
            [square],
            [],
            [self.steps.clone()],
            fused=True,
            amsgrad=False,
            beta1=beta1,
            beta2=beta2,
            lr=group["lr"],
            weight_decay=group["weight_decay"],
            eps=group["eps"],
            maximize=False,
        )
