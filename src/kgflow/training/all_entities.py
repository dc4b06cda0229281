"""Losses that meet every entity."""

from abc import abstractmethod
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import dropout

from kgflow.data import QueryIndex
from kgflow.engine import AutogradKeys, KeyMap, Pass, Targets, differentiable
from kgflow.models import Model
from kgflow.training.base import Loss
from kgflow.training.keymap import key_map
from kgflow.training.update import Update


class AllEntities(Loss):
    """A loss of the scores of each query against every entity, by a kernel of the engine.

    Args:
        model: what is trained.
        index: the training queries.
        margin: added to every score.
        dropout: the share of each head's numbers that are left out in training.
        query_dropout: the share of each query's numbers, Q, that are left out in training.
    """

    def __init__(
        self,
        model: Model,
        index: QueryIndex,
        margin: float,
        dropout: float = 0.0,
        query_dropout: float = 0.0,
    ) -> None:
        super().__init__(model, index)
        self.margin, self.dropout, self.query_dropout = margin, dropout, query_dropout

    @abstractmethod
    def targets(self, rows: NDArray[np.int64]) -> Targets:
        """What is true of these rows."""

    @abstractmethod
    def kernel(self, keys: KeyMap) -> Pass:
        """What computes the loss."""

    def __call__(self, rows: NDArray[np.int64]) -> Tensor:
        """The loss of these rows of the index, a scalar that autograd can differentiate."""
        Q, a = self.query(self.model.entity(self.tensor(self.index.h[rows])), rows)
        kernel = self.kernel(AutogradKeys(self.model.lower_keys))
        return differentiable(Q, a, self.model.entity.weight, kernel, self.targets(rows))

    def backward(
        self, rows: NDArray[np.int64], value: bool = True, update: Update | None = None
    ) -> float | None:
        """Set the gradients of all parameters, in fewer passes over the entities."""
        table, h = self.model.entity.weight, self.tensor(self.index.h[rows])
        sink = self.sink(h, update)
        heads = table.detach()[h].requires_grad_()
        Q, a = self.query(heads, rows)
        found = self._kernel(
            Q.detach(), a.detach(), table.detach(), self.targets(rows), sink, value
        )
        # A model may have an a that depends on nothing.
        sides = [(x, g) for x, g in ((Q, found.Q), (a, found.a)) if x.requires_grad]
        torch.autograd.backward([x for x, _ in sides], [g for _, g in sides])
        sink.add(h, torch.zeros_like(heads) if heads.grad is None else heads.grad)
        # The gradient by a is the cheapest place where a score that is no number shows.
        if not torch.isfinite(found.a.sum()):
            return float("nan")
        return None if found.loss is None else found.loss.item()

    def query(self, heads: Tensor, rows: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        """Q and a of head rows ``(B, w)`` and these rows' relations, with dropout in training."""
        if self.model.training:
            heads = self.model.entity.drop(heads, self.dropout)
        r = self.model.relation(self.tensor(self.index.r[rows]))
        query = self.model.lower_query(heads, r)
        Q = query.Q
        if self.query_dropout:
            Q = dropout(Q, self.query_dropout, self.model.training)
        return Q, query.a + self.margin

    @cached_property
    def _kernel(self) -> Pass:
        matrix = self.model.meet is None
        return self.kernel(key_map(self.model) if matrix else AutogradKeys(self.model.lower_keys))
