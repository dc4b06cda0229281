"""Adagrad, with an accumulator per number or per row."""

from abc import abstractmethod
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor

from kgflow.training.update import RowUpdate

EPSILON = 1e-10


class Accumulating(torch.optim.Optimizer):
    r"""Steps that get smaller as gradients add up.

    .. math:: G \leftarrow G + \mathrm{square}(g), \quad
              w \leftarrow w - \eta\, g / (\sqrt G + \epsilon)

    What had no gradient does not move, so rows that a batch does not touch cost nothing.

    Args:
        parameters: what is trained.
        lr: η.
    """

    def __init__(self, parameters: Iterable[torch.nn.Parameter], lr: float) -> None:
        super().__init__(parameters, {"lr": lr})

    @abstractmethod
    def square(self, grad: Tensor) -> Tensor:
        """What a gradient ``(N, ...)`` adds to G."""

    def beginning(self, parameter: Tensor) -> dict[str, Tensor]:
        """What is kept of a parameter, before its first step."""
        return {"sum": torch.zeros_like(self.square(parameter.detach()))}

    def move(self, value: Tensor, total: Tensor, grad: Tensor) -> None:
        """One step on some rows and their G, in place."""
        total += self.square(grad)
        value.addcdiv_(grad, total.sqrt().add_(EPSILON), value=-self.param_groups[0]["lr"])

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """One step on all parameters that have a gradient."""
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    state: dict[str, Any] = self.state[parameter]
                    if not state:
                        state |= self.beginning(parameter)
                    self.move(parameter, state["sum"], parameter.grad)


class NumberwiseAdagrad(Accumulating):
    """A G for every number.

    Reference:
        Duchi, Hazan, Singer: Adaptive Subgradient Methods for Online Learning and Stochastic
        Optimization, JMLR 2011.
    """

    def square(self, grad: Tensor) -> Tensor:
        """Each number's square."""
        return grad.square()


class RowwiseAdagrad(Accumulating):
    """A G for every row, of the mean square of its numbers: next to no memory beside the table.

    A parameter without rows has one G for all.

    Reference:
        Lerer et al.: PyTorch-BigGraph: A Large-scale Graph Embedding System, MLSys 2019.
    """

    def square(self, grad: Tensor) -> Tensor:
        """The mean over all but the first dimension, ``(N, 1, ...)``; of a vector, ``(1,)``."""
        dimensions = tuple(range(1, grad.dim())) or tuple(range(grad.dim()))
        return grad.square().mean(dimensions, keepdim=True)


class RowAdagrad(RowUpdate):
    """A step of either on the entity table, inside the backward pass.

    Args:
        optimizer: whose settings and state are used; it steps all other parameters.
        table: the entity rows, ``(E, w)``, one of its parameters.
    """

    def __init__(self, optimizer: Accumulating, table: torch.nn.Parameter) -> None:
        super().__init__(table)
        self.optimizer = optimizer

    def state(self) -> tuple[Tensor]:
        """G."""
        state = self.optimizer.state[self.table]
        if not state:
            state |= self.optimizer.beginning(self.table)
        return (state["sum"],)

    def skip_blocks(self) -> None:
        """Nothing moves."""
        self.grad.zero_()

    def step(self, rows: list[Tensor], grad: Tensor) -> None:
        """As the optimizer does."""
        value, total = rows
        self.optimizer.move(value, total, grad)

    def end(self) -> None:
        """There is nothing to count."""
