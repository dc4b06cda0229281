"""Losses that score every entity for each query."""

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kgflow.data import QueryIndex
from kgflow.kernels import BLOCK, AutogradKeys, KeyEncoder, LossKernel, Targets, differentiable_loss
from kgflow.training.key_maps import key_map
from kgflow.training.losses.base import QueryLoss
from kgflow.training.losses.confidence import WEIGHTED, Confidence
from kgflow.training.row_updates import Update


@dataclass(eq=False)
class AllEntities(QueryLoss):
    """A loss of the scores of each query with every entity, computed by a blocked kernel.

    Args:
        block: Entities per block.
    """

    block: int = BLOCK

    @abstractmethod
    def targets(self, rows: NDArray[np.int64]) -> Targets:
        """Return the targets of these rows of the index."""

    @abstractmethod
    def kernel(self, keys: KeyEncoder) -> LossKernel:
        """Return the kernel that computes the loss."""

    def __call__(self, rows: NDArray[np.int64]) -> Tensor:
        h, r = (self.tensor(ids[rows]) for ids in (self.index.h, self.index.r))
        Q, a = self.query(self.model.entity(h), r)
        kernel = self.kernel(AutogradKeys(self.model.encode_keys))
        return differentiable_loss(Q, a, self.model.entity.weight, kernel, self.targets(rows))

    def backward(
        self, rows: NDArray[np.int64], value: bool = True, update: Update | None = None
    ) -> float | None:
        table, h = self.model.entity.weight, self.tensor(self.index.h[rows])
        sink = self.sink(h, update)
        heads = table.detach()[h].requires_grad_()
        Q, a = self.query(heads, self.tensor(self.index.r[rows]))
        found = self._kernel(
            Q.detach(), a.detach(), table.detach(), self.targets(rows), sink, value
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
    index: QueryIndex, rows: NDArray[np.int64], like: Tensor, confidence: Confidence = WEIGHTED
) -> Targets:
    """Return the kernel's c of queries and y, e of their triples, divided by the batch size.

    The tensors have the type and the device of `like`.

    Example:
        >>> from kgflow.data import Triples
        >>> index = QueryIndex.build(Triples.of([(0, 0, 2), (0, 0, 1), (1, 0, 2)]), 3, 1)
        >>> triple_targets(index, np.array([0, 1]), torch.ones(1)).c  # two and one of three
        tensor([0.6667, 0.3333])
    """
    row, tail, weight = index.gather(rows)
    found = confidence(row, weight, len(rows), index.entities)
    c, y = (torch.from_numpy(x / len(tail)).to(like) for x in (found.c, found.y))
    e = None if found.e is None else torch.from_numpy(found.e / len(tail)).to(like)
    ids = [torch.from_numpy(x).to(like.device) for x in (row, tail)]
    return Targets(c, ids[0], ids[1], y, e)
