"""Optimizers, with their updates inside the backward pass, and learning rate schedules."""

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable
from typing import Annotated, Any, ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor
from torch.nn import Parameter
from torch.optim.adam import adam

from kgflow.config import LR_SCHEDULES, OPTIMIZERS, Component, Group
from kgflow.kernels import blocks
from kgflow.training.row_updates import RowUpdate, Update

EPSILON = 1e-10


class OptimizerSettings(Component):
    """Base class of the settings of optimizers."""

    group: ClassVar[Group] = OPTIMIZERS
    row_update_type: ClassVar[type[RowUpdate] | None] = None
    lr: Annotated[float, Field(gt=0, description="Learning rate.")] = 0.02

    @abstractmethod
    def build(self, parameters: Iterable[Parameter]) -> torch.optim.Optimizer:
        """Create the optimizer."""

    def row_update(self, optimizer: torch.optim.Optimizer, table: Parameter) -> Update | None:
        """Return what updates the entity table block by block, or None for a normal step."""
        kind = self.row_update_type
        return None if kind is None else kind(optimizer, table, self.initial_state)

    def initial_state(self, parameter: Tensor) -> dict[str, Tensor]:
        """Return the state of a parameter before its first step; empty if there is none."""
        names = () if self.row_update_type is None else self.row_update_type.names
        return {name: torch.zeros_like(parameter) for name in names}


class RowAdam(RowUpdate):
    """A step of `torch.optim.Adam` on the entity table."""

    names = ("exp_avg", "exp_avg_sq")

    def skip_blocks(self) -> None:
        """Update all embeddings with a zero gradient: momentum moves them."""
        for low, high in blocks(len(self.table)):
            self.block_buffer(low, high).zero_()
            self.finish_block(low, high)

    def end(self) -> None:
        self.state["step"] += 1

    def step(self, rows: list[Tensor], grad: Tensor) -> None:
        group = self.optimizer.param_groups[0]
        value, mean, square = rows
        beta1, beta2 = group["betas"]
        names = ("lr", "weight_decay", "eps", "amsgrad", "maximize", "fused")
        options: dict[str, Any] = {name: group[name] for name in names}
        steps = self.state["step"].clone()
        adam([value], [grad], [mean], [square], [], [steps], beta1=beta1, beta2=beta2, **options)


class AdagradOptimizer(torch.optim.Optimizer):
    r"""Adagrad: steps get smaller as squared gradients add up.

    .. math:: G \leftarrow G + g^2, \quad w \leftarrow w - \eta\, g / (\sqrt G + \epsilon)

    Parameters without a gradient do not move, so embeddings that a batch does not touch cost
    nothing. `lr` is η.

    Reference:
        Duchi, Hazan, Singer: Adaptive Subgradient Methods for Online Learning and Stochastic
        Optimization, JMLR 2011.
    """

    def __init__(self, parameters: Iterable[Parameter], lr: float) -> None:
        super().__init__(parameters, {"lr": lr})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """Update all parameters that have a gradient."""
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    state: dict[str, Any] = self.state[parameter]
                    total = state.setdefault("sum", torch.zeros_like(parameter))
                    move(parameter, total, parameter.grad, group["lr"])


def move(value: Tensor, total: Tensor, grad: Tensor, lr: float) -> None:
    """Make a step of Adagrad: update some embeddings and their G in place."""
    total += grad.square()
    value.addcdiv_(grad, total.sqrt().add_(EPSILON), value=-lr)


class RowAdagrad(RowUpdate):
    """A step of `AdagradOptimizer` on the entity table; embeddings without gradient stay."""

    names = ("sum",)

    def skip_blocks(self) -> None:
        self.grad.zero_()

    def step(self, rows: list[Tensor], grad: Tensor) -> None:
        value, total = rows
        move(value, total, grad, self.optimizer.param_groups[0]["lr"])


class AdamSettings(OptimizerSettings):
    """Settings of Adam."""

    name: Literal["adam"] = "adam"
    row_update_type: ClassVar = RowAdam

    def build(self, parameters: Iterable[Parameter]) -> torch.optim.Adam:
        return torch.optim.Adam(parameters, lr=self.lr, fused=True)

    def initial_state(self, parameter: Tensor) -> dict[str, Tensor]:
        step = torch.zeros((), device=parameter.device)
        return {"step": step, **super().initial_state(parameter)}


class AdagradSettings(OptimizerSettings):
    """Settings of Adagrad."""

    name: Literal["adagrad"] = "adagrad"
    row_update_type: ClassVar = RowAdagrad

    def build(self, parameters: Iterable[Parameter]) -> AdagradOptimizer:
        return AdagradOptimizer(parameters, self.lr)


class LrScheduleSettings(Component):
    """Base class of learning rate schedules, which are their own settings."""

    group: ClassVar[Group] = LR_SCHEDULES

    @abstractmethod
    def factor(self, epoch: float, epochs: int) -> float:
        """Return the factor of the learning rate after `epoch` of `epochs` epochs."""


class Exponential(LrScheduleSettings):
    """Multiply the learning rate by a factor after every epoch.

    Example:
        >>> Exponential(decay=0.5).factor(2.75, epochs=10)
        0.25
    """

    name: Literal["exponential"] = "exponential"
    decay: float = Field(default=0.98, gt=0, le=1, description="Learning rate factor per epoch.")

    def factor(self, epoch: float, epochs: int) -> float:
        return self.decay ** int(epoch)


class Cosine(LrScheduleSettings):
    """Decrease the learning rate from batch to batch along half a cosine, to 0 at the last epoch.

    Reference:
        Loshchilov, Hutter: SGDR: Stochastic Gradient Descent with Warm Restarts, ICLR 2017.

    Example:
        >>> round(Cosine().factor(5.0, epochs=10), 9)
        0.5
    """

    name: Literal["cosine"] = "cosine"

    def factor(self, epoch: float, epochs: int) -> float:
        return 0.5 + 0.5 * math.cos(math.pi * min(1.0, epoch / epochs))
