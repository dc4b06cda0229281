"""What is added to a loss, for each true triple of a batch."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kgflow.data import QueryIndex
from kgflow.training.base import Facts, Loss
from kgflow.training.rows import Lookup, Rows
from kgflow.training.update import Update


class Term(ABC):
    """A sum over the true triples of a batch, each with its share."""

    @abstractmethod
    def parts(self, facts: Facts, entity: Lookup) -> Iterator[Tensor]:
        """Scalars whose sum it is, each to be differentiated before the next is made."""


class Sum(Loss):
    """A loss and some terms.

    Args:
        loss: the loss.
        terms: what is added.
        index: the queries whose facts the terms take, with the weights they have there; by default
            those of the loss, and in any case the same ones in the same order.
    """

    def __init__(self, loss: Loss, terms: Sequence[Term], index: QueryIndex | None = None) -> None:
        super().__init__(loss.model, loss.index if index is None else index)
        self.loss, self.terms = loss, terms

    def __call__(self, rows: NDArray[np.int64]) -> Tensor:
        """The sum, a scalar that autograd can differentiate."""
        facts, total = self.facts(rows), self.loss(rows)
        for term in self.terms:
            total = total + torch.stack(list(term.parts(facts, self.model.entity))).sum()
        return total

    def backward(
        self, rows: NDArray[np.int64], value: bool = True, update: Update | None = None
    ) -> float | None:
        """Set the gradients of all parameters: those of the terms, then those of the loss."""
        facts, table = self.facts(rows), self.model.entity.weight
        entity, added = Rows(table, torch.cat([facts.h, facts.t])), 0.0
        for term in self.terms:
            for part in term.parts(facts, entity):
                part.backward()
                added += part.item()
        # Rows that are updated in the loss's own pass must have all of their gradient by then.
        joined = None if update is None else _Joined(update, entity)
        found = self.loss.backward(rows, value, joined)
        if update is None:
            assert table.grad is not None
            table.grad.index_add_(0, entity.ids, entity.grad)
        return None if found is None else found + added


class _Joined(Update):
    """An update that is given further gradients together with those of the heads."""

    def __init__(self, update: Update, extra: Rows) -> None:
        self.update, self.extra = update, extra

    def begin(self, ids: Tensor) -> Update:
        self.update.begin(torch.cat([ids, self.extra.ids]))
        return self

    def block_buffer(self, low: int, high: int) -> Tensor:
        return self.update.block_buffer(low, high)

    def finish_block(self, low: int, high: int) -> None:
        self.update.finish_block(low, high)

    def skip_blocks(self) -> None:
        self.update.skip_blocks()

    def add(self, ids: Tensor, grad: Tensor) -> None:
        ids = torch.cat([ids, self.extra.ids])
        self.update.add(ids, torch.cat([grad, self.extra.grad]))
