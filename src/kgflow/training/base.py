"""What a loss is."""

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kgflow.data import QueryIndex
from kgflow.kernels import GradientAccumulator, WholeGradient
from kgflow.models import Model
from kgflow.training.update import Update


class Facts(NamedTuple):
    """The true triples of a batch: ids of head, relation and tail, and weights, each ``(P,)``.

    The weights are shares of the batch: each its triple's own weight over P.
    """

    h: Tensor
    r: Tensor
    t: Tensor
    weight: Tensor


class Loss(ABC):
    """A number to be made small, of a batch of rows of an index.

    Args:
        model: what is trained.
        index: the training queries.
    """

    def __init__(self, model: Model, index: QueryIndex) -> None:
        self.model, self.index = model, index

    @abstractmethod
    def __call__(self, rows: NDArray[np.int64]) -> Tensor:
        """The loss of these rows of the index, a scalar that autograd can differentiate."""

    @abstractmethod
    def backward(
        self, rows: NDArray[np.int64], value: bool = True, update: Update | None = None
    ) -> float | None:
        """Set the gradients of all parameters, and give the loss if it is wanted.

        The same as calling and differentiating, only quicker. With `update` the entity rows are
        updated at once, and have no gradient.
        """

    def facts(self, rows: NDArray[np.int64]) -> Facts:
        """The true triples of some rows."""
        row, tail, weight = self.index.gather(rows)
        share = (np.ones(len(tail)) if weight is None else weight.astype(np.float64)) / len(tail)
        h, r = self.index.h[rows][row], self.index.r[rows][row]
        weights = torch.from_numpy(share).to(self.model.entity.weight)
        return Facts(self.tensor(h), self.tensor(r), self.tensor(tail), weights)

    def tensor(self, ids: NDArray[np.int64]) -> Tensor:
        """Ids on the model's device."""
        return torch.from_numpy(ids).to(self.model.entity.weight.device)

    def sink(self, ids: Tensor, update: Update | None) -> GradientAccumulator:
        """Where the gradient by entity rows goes; ids are those that will be given to `add`."""
        table = self.model.entity.weight
        if update is not None:
            return update.begin(ids)
        if table.grad is None:
            table.grad = torch.empty_like(table)
        return WholeGradient(table.grad)
