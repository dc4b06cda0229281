"""Losses that meet every entity."""

from abc import abstractmethod
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kgflow.kernels import AutogradKeys, KeyEncoder, LossKernel, Targets, differentiable_loss
from kgflow.training.keymap import key_map
from kgflow.training.query_loss import QueryLoss
from kgflow.training.update import Update


class AllEntities(QueryLoss):
    """A loss of the scores of each query against every entity, by a kernel of the engine."""

    @abstractmethod
    def targets(self, rows: NDArray[np.int64]) -> Targets:
        """What is true of these rows."""

    @abstractmethod
    def kernel(self, keys: KeyEncoder) -> LossKernel:
        """What computes the loss."""

    def __call__(self, rows: NDArray[np.int64]) -> Tensor:
        """The loss of these rows of the index, a scalar that autograd can differentiate."""
        h, r = (self.tensor(ids[rows]) for ids in (self.index.h, self.index.r))
        Q, a = self.query(self.model.entity(h), r)
        kernel = self.kernel(AutogradKeys(self.model.encode_keys))
        return differentiable_loss(Q, a, self.model.entity.weight, kernel, self.targets(rows))

    def backward(
        self, rows: NDArray[np.int64], value: bool = True, update: Update | None = None
    ) -> float | None:
        """Set the gradients of all parameters, in fewer passes over the entities."""
        table, h = self.model.entity.weight, self.tensor(self.index.h[rows])
        sink = self.sink(h, update)
        heads = table.detach()[h].requires_grad_()
        Q, a = self.query(heads, self.tensor(self.index.r[rows]))
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

    @cached_property
    def _kernel(self) -> LossKernel:
        matrix = self.model.interaction is None
        return self.kernel(key_map(self.model) if matrix else AutogradKeys(self.model.encode_keys))
