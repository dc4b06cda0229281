"""The optimizers by name, and what each keeps and does of entity rows."""

from collections.abc import Callable, Iterable

import torch
from torch import Tensor
from torch.nn import Parameter

from kgflow.training.adagrad import Accumulating, NumberwiseAdagrad, RowAdagrad, RowwiseAdagrad
from kgflow.training.row_adam import RowAdam
from kgflow.training.update import Update


def fused_adam(parameters: Iterable[Parameter], lr: float) -> torch.optim.Adam:
    """Adam, in one kernel for all parameters."""
    return torch.optim.Adam(parameters, lr=lr, fused=True)


OPTIMIZERS: dict[str, Callable[[Iterable[Parameter], float], torch.optim.Optimizer]] = {
    "adam": fused_adam,
    "adagrad": NumberwiseAdagrad,
    "row-adagrad": RowwiseAdagrad,
}


def row_update(optimizer: torch.optim.Optimizer, table: Parameter) -> Update:
    """What steps the entity rows as their gradient comes, as this optimizer would."""
    if isinstance(optimizer, Accumulating):
        return RowAdagrad(optimizer, table)
    assert isinstance(optimizer, torch.optim.Adam)
    return RowAdam(optimizer, table)


def beginning(optimizer: torch.optim.Optimizer, parameter: Tensor) -> dict[str, Tensor]:
    """What an optimizer keeps of a parameter, before its first step.

    Example:
        >>> row = torch.ones(1, 2)
        >>> {name: list(beginning(make([row], 0.1), row)) for name, make in OPTIMIZERS.items()}
        {'adam': ['step', 'exp_avg', 'exp_avg_sq'], 'adagrad': ['sum'], 'row-adagrad': ['sum']}
    """
    if isinstance(optimizer, Accumulating):
        return optimizer.beginning(parameter)
    return {
        "step": torch.zeros((), dtype=torch.float32),
        "exp_avg": torch.zeros_like(parameter),
        "exp_avg_sq": torch.zeros_like(parameter),
    }
