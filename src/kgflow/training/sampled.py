"""Losses that read a few rows of the entity table only."""

from abc import abstractmethod
from collections.abc import Iterator
from typing import Generic, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kgflow.training.query_loss import QueryLoss
from kgflow.training.rows import Lookup, Rows
from kgflow.training.update import Update

D = TypeVar("D")


class SampledLoss(QueryLoss, Generic[D]):
    """A loss of a batch and of what was drawn at random for it."""

    @abstractmethod
    def draw(self, rows: NDArray[np.int64]) -> D:
        """What is drawn for these rows, by torch's random numbers."""

    @abstractmethod
    def ids(self, drawn: D) -> Tensor:
        """The entities that it takes."""

    @abstractmethod
    def parts(self, drawn: D, entity: Lookup) -> Iterator[Tensor]:
        """Scalars whose sum is the loss, each to be differentiated before the next is made."""

    def __call__(self, rows: NDArray[np.int64]) -> Tensor:
        """The loss of these rows of the index, a scalar that autograd can differentiate."""
        return torch.stack(list(self.parts(self.draw(rows), self.model.entity))).sum()

    def backward(
        self, rows: NDArray[np.int64], value: bool = True, update: Update | None = None
    ) -> float | None:
        """Set the gradients of all parameters, without one of the whole entity table."""
        drawn = self.draw(rows)
        entity, total = Rows(self.model.entity.weight, self.ids(drawn)), 0.0
        sink = self.sink(entity.ids, update)
        for part in self.parts(drawn, entity):
            part.backward()
            total += part.item()
        sink.skip_blocks()
        sink.add(entity.ids, entity.grad)
        return total
