"""Losses that score every entity for each query."""

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from kgflow.data import QueryIndex
from kgflow.kernels import BLOCK, AutogradKeys, KeyEncoder, LossKernel, Targets
from kgflow.training.batches import Batch
from kgflow.training.key_maps import key_map
from kgflow.training.losses.base import QueryLoss
from kgflow.training.losses.confidence import Confidence, as_soft_labels, as_weights
from kgflow.training.row_updates import Update


@dataclass(eq=False)
class AllEntities(QueryLoss):
    """A loss of the scores of each query with every entity, computed by a blocked kernel.

    Args:
        block: Entities per block.
    """

    block: int = BLOCK

    @abstractmethod
    def targets(self, batch: Batch) -> Targets:
        """Return the targets of a batch."""

    @abstractmethod
    def kernel(self, keys: KeyEncoder) -> LossKernel:
        """Return the kernel that computes the loss."""

    def backward(
        self, batch: Batch, value: bool = True, update: Update | None = None
    ) -> float | None:
        table, h = self.model.entity.weight, self.tensor(batch.h)
        sink = self.sink(h, update)
        heads = table.detach()[h].requires_grad_()
        Q, a = self.query(heads, self.tensor(batch.r))
        found = self._kernel(
            Q.detach(), a.detach(), table.detach(), self.targets(batch), sink, value
        )
        # In some models the bias a is a constant.
        sides = [(x, g) for x, g in ((Q, found.Q), (a, found.a)) if x.requires_grad]
        torch.autograd.backward([x for x, _ in sides], [g for _, g in sides])
        sink.add(h, torch.zeros_like(heads) if heads.grad is None else heads.grad)
        # The gradient of a is the cheapest place where a score that is not a number shows.
        if not torch.isfinite(found.a.sum()):
            return float("nan")
        return None if found.loss is None else found.loss.item()

    @cached_property
    def _kernel(self) -> LossKernel:
        matrix = self.model.interaction is None
        return self.kernel(key_map(self.model) if matrix else AutogradKeys(self.model.encode_keys))


def triple_targets(
    index: QueryIndex, batch: Batch, like: Tensor, confidence: Confidence = as_weights
) -> Targets:
    """Return the kernel's c of queries and y, e of their facts, divided by the batch size.

    The tensors have the type and the device of `like`.

    Example:
        >>> import numpy as np
        >>> from kgflow.data import Triples
        >>> index = QueryIndex.build(Triples.of([(0, 0, 2), (0, 0, 1), (1, 0, 2)]), 3, 1)
        >>> batch = Batch.of_queries(index, np.array([0, 1]))
        >>> triple_targets(index, batch, torch.ones(1)).c  # two and one of three
        tensor([0.6667, 0.3333])
    """
    size, share = len(batch), None
    if batch.weight is None:
        confidence = as_weights  # of one
    elif confidence is as_soft_labels:
        batch, share = batch.with_all_tails(index)
    found = confidence(batch.row, batch.weights(), len(batch.h), index.entities)
    c, y = (found.c, found.y) if share is None else (found.c * share, found.y * share[batch.row])
    C, Y = (torch.from_numpy(x / size).to(like) for x in (c, y))
    e = None if found.e is None else torch.from_numpy(found.e / size).to(like)
    row, tail = (torch.from_numpy(x).to(like.device) for x in (batch.row, batch.tail))
    return Targets(C, row, tail, Y, e)
