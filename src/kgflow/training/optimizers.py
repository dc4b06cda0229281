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
    lr: Annotated[float, Field(gt=0, description="Learning rate.")] = 0.02

    @abstractmethod
    def build(self, parameters: Iterable[Parameter]) -> torch.optim.Optimizer:
        """Create the optimizer."""

    def row_update(self, optimizer: torch.optim.Optimizer, table: Parameter) -> Update | None:
        """Return what updates the entity table block by block, or None for a normal step."""
        return None

    def initial_state(self, parameter: Tensor) -> dict[str, Tensor]:
        """Return the state of a parameter before its first step; empty if there is none."""
        return {}


class AdamSettings(OptimizerSettings):
    """Settings of Adam."""

    name: Literal["adam"] = "adam"

    def build(self, parameters: Iterable[Parameter]) -> torch.optim.Adam:
        return torch.optim.Adam(parameters, lr=self.lr, fused=True)

    def row_update(self, optimizer: torch.optim.Optimizer, table: Parameter) -> Update:
        assert isinstance(optimizer, torch.optim.Adam)
        return RowAdam(optimizer, table)

    def initial_state(self, parameter: Tensor) -> dict[str, Tensor]:
        return {
            "step": torch.zeros((), dtype=torch.float32),
            "exp_avg": torch.zeros_like(parameter),
            "exp_avg_sq": torch.zeros_like(parameter),
        }


class AdagradSettings(OptimizerSettings):
    """Settings of Adagrad."""

    name: Literal["adagrad"] = "adagrad"

    def build(self, parameters: Iterable[Parameter]) -> "AdagradOptimizer":
        return AdagradOptimizer(parameters, self.lr)

    def row_update(self, optimizer: torch.optim.Optimizer, table: Parameter) -> Update:
        assert isinstance(optimizer, AdagradOptimizer)
        return RowAdagrad(optimizer, table)

    def initial_state(self, parameter: Tensor) -> dict[str, Tensor]:
        return {"sum": torch.zeros_like(parameter)}


class RowAdam(RowUpdate):
    """A step of `torch.optim.Adam` on the entity table.

    Args:
        optimizer: Optimizer whose settings and state are used; it steps all other parameters.
        table: Entity embeddings, ``(E, w)``, one of its parameters.
    """

    def __init__(self, optimizer: torch.optim.Adam, table: Parameter) -> None:
        super().__init__(table)
        self.optimizer = optimizer

    def state(self) -> tuple[Tensor, Tensor]:
        table, state = self.table.detach(), self.optimizer.state[self.table]
        if not state:
            state["step"] = torch.zeros((), dtype=torch.float32, device=table.device)
            state["exp_avg"] = torch.zeros_like(table)
            state["exp_avg_sq"] = torch.zeros_like(table)
        self.steps = state["step"]
        return state["exp_avg"], state["exp_avg_sq"]

    def skip_blocks(self) -> None:
        """Update all embeddings with a zero gradient: momentum moves them."""
        for low, high in blocks(len(self.table)):
            self.block_buffer(low, high).zero_()
            self.finish_block(low, high)

    def end(self) -> None:
        self.steps += 1

    def step(self, rows: list[Tensor], grad: Tensor) -> None:
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


class AdagradOptimizer(torch.optim.Optimizer):
    r"""Adagrad: steps get smaller as squared gradients add up.

    .. math:: G \leftarrow G + g^2, \quad w \leftarrow w - \eta\, g / (\sqrt G + \epsilon)

    Parameters without a gradient do not move, so embeddings that a batch does not touch cost
    nothing.

    Args:
        parameters: Parameters to train.
        lr: η.

    Reference:
        Duchi, Hazan, Singer: Adaptive Subgradient Methods for Online Learning and Stochastic
        Optimization, JMLR 2011.
    """

    def __init__(self, parameters: Iterable[Parameter], lr: float) -> None:
        super().__init__(parameters, {"lr": lr})

    def move(self, value: Tensor, total: Tensor, grad: Tensor) -> None:
        """Update some embeddings and their G in place."""
        total += grad.square()
        value.addcdiv_(grad, total.sqrt().add_(EPSILON), value=-self.param_groups[0]["lr"])

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """Update all parameters that have a gradient."""
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    state: dict[str, Any] = self.state[parameter]
                    if not state:
                        state["sum"] = torch.zeros_like(parameter)
                    self.move(parameter, state["sum"], parameter.grad)


class RowAdagrad(RowUpdate):
    """A step of `AdagradOptimizer` on the entity table.

    Args:
        optimizer: Optimizer whose settings and state are used; it steps all other parameters.
        table: Entity embeddings, ``(E, w)``, one of its parameters.
    """

    def __init__(self, optimizer: AdagradOptimizer, table: Parameter) -> None:
        super().__init__(table)
        self.optimizer = optimizer

    def state(self) -> tuple[Tensor]:
        state = self.optimizer.state[self.table]
        if not state:
            state["sum"] = torch.zeros_like(self.table)
        return (state["sum"],)

    def skip_blocks(self) -> None:
        self.grad.zero_()

    def step(self, rows: list[Tensor], grad: Tensor) -> None:
        value, total = rows
        self.optimizer.move(value, total, grad)

    def end(self) -> None:
        """Do nothing: Adagrad counts no steps."""


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
    decay: Annotated[
        float, Field(gt=0, le=1, description="Factor of the learning rate per epoch.")
    ] = 0.98

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
