"""The paper's loss, for one batch of queries."""

from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kgflow.data import QueryIndex
from kgflow.engine import (
    BLOCK,
    AutogradKeys,
    Dense,
    Kernel,
    PairwiseKernel,
    Pullback,
    Sink,
    Stored,
    Targets,
    one_vs_all,
)
from kgflow.errors import KgflowError
from kgflow.models import Model
from kgflow.training.confidence import Confidence, Weights
from kgflow.training.keymap import key_map
from kgflow.training.row_adam import RowAdam


class OneVsAll:
    r"""Every triple against every entity, grouped by (h, r).

    .. math:: \ell(h, r, t) = \sum_{t'} \log(1 + \exp(-y_{t'} (\gamma + f(h, r, t'))))

    with :math:`y_t = 1` and -1 elsewhere; the batch's mean over its triples. A query with n true
    tails is scored once: its n triples together cost :math:`n \sum_{t'} \mathrm{softplus}(s_{t'})
    - \sum_t s_t`. What the confidence of a triple means, if it has one, is for `confidence` to say.

    Args:
        model: what is trained.
        index: the training queries.
        margin: the paper's γ.
        dropout: the share of each head's numbers that are left out in training.
        pullback: how the gradient reaches queries and keys: exactly by default, or sampled.
        block: entities at a time.
        confidence: what confidences do; by default a triple counts as often as it is confident.
    """

    def __init__(
        self,
        model: Model,
        index: QueryIndex,
        margin: float,
        dropout: float = 0.0,
        pullback: Pullback | None = None,
        block: int = BLOCK,
        confidence: Confidence | None = None,
    ) -> None:
        self.model, self.index, self.margin, self.dropout = model, index, margin, dropout
        self.pullback, self.block = pullback, block
        self.confidence = confidence or Weights()

    def __call__(self, rows: NDArray[np.int64]) -> Tensor:
        """The loss of these rows of the index, a scalar that autograd can differentiate."""
        table, targets = self.model.entity.weight, self.targets(rows)
        Q, a = self._query(self.model.entity(self._tensor(self.index.h[rows])), rows)
        model = self.model
        return one_vs_all(Q, a, table, model.lower_keys, targets, model.meet, self.block)

    def backward(
        self, rows: NDArray[np.int64], value: bool = True, update: RowAdam | None = None
    ) -> float | None:
        """Set the gradients of all parameters, and give the loss if it is wanted.

        The same as calling and differentiating, in fewer passes over the entities. With `update`
        the entity rows are updated at once, and have no gradient.
        """
        table, h = self.model.entity.weight, self._tensor(self.index.h[rows])
        sink: Sink
        if update is not None:
            sink = update.begin(h)
        else:
            if table.grad is None:
                table.grad = torch.empty_like(table)
            sink = Stored(table.grad)
        heads = table.detach()[h].requires_grad_()
        Q, a = self._query(heads, rows)
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

    def targets(self, rows: NDArray[np.int64]) -> Targets:
        """The numbers of queries (c) and of their triples (y, e), over the batch's size."""
        row, tail, weight = self.index.gather(rows)
        found = self.confidence(row, weight, len(rows), self.index.entities)
        c, y, e = (
            None if x is None else torch.from_numpy(x / len(tail)).to(self.model.entity.weight)
            for x in found
        )
        assert c is not None
        assert y is not None
        return Targets(c, self._tensor(row), self._tensor(tail), y, e)

    @cached_property
    def _kernel(self) -> Kernel | PairwiseKernel:
        if self.model.meet is None:
            return Kernel(key_map(self.model), self.pullback, self.block)
        if self.pullback is not None and not isinstance(self.pullback, Dense):
            raise KgflowError(
                f"{self.model.name} is no matrix product: train it with --backward dense"
            )
        return PairwiseKernel(AutogradKeys(self.model.lower_keys), self.model.meet)

    def _query(self, heads: Tensor, rows: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        if self.model.training:
            heads = self.model.entity.drop(heads, self.dropout)
        r = self.model.relation(self._tensor(self.index.r[rows]))
        query = self.model.lower_query(heads, r)
        return query.Q, query.a + self.margin

    def _tensor(self, ids: NDArray[np.int64]) -> Tensor:
        return torch.from_numpy(ids).to(self.model.entity.weight.device)
