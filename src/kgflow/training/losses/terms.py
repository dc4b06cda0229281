"""Terms that are added to a loss for the facts of a batch."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from kgflow.kernels import TILE, blocks
from kgflow.models import Model
from kgflow.models.protocols import RelationScores
from kgflow.training.batches import Batch
from kgflow.training.losses.base import Facts, Loss
from kgflow.training.row_updates import Lookup, Rows, Update


class Term(ABC):
    """A weighted sum over the facts of a batch.

    Args:
        model: Model to train.
        weight: Factor λ of the term.
    """

    def __init__(self, model: Model, weight: float) -> None:
        self.model, self.weight = model, weight

    @abstractmethod
    def parts(self, facts: Facts, entity: Lookup) -> Iterator[Tensor]:
        """Yield scalars whose sum is the term, each differentiated before the next is made."""


class Sum(Loss):
    """A loss plus some terms."""

    def __init__(self, loss: Loss, terms: Sequence[Term]) -> None:
        super().__init__(loss.model, loss.index)
        self.loss, self.terms = loss, terms

    def backward(
        self, batch: Batch, value: bool = True, update: Update | None = None
    ) -> float | None:
        facts, table = self.facts(batch), self.model.entity.weight
        entity, added = Rows(table, torch.cat([facts.h, facts.t])), 0.0
        for term in self.terms:
            for part in term.parts(facts, entity):
                part.backward()
                added += part.item()
        # Embeddings that the loss updates in its own pass need their whole gradient by then.
        joined = None if update is None else _Joined(update, entity)
        found = self.loss.backward(batch, value, joined)
        if update is None:
            assert table.grad is not None
            table.grad.index_add_(0, entity.ids, entity.grad)
        return None if found is None else found + added


class _Joined(Update):
    """An update that adds more gradients to those of the heads."""

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


class RelationPrediction(Term):
    r"""Cross entropy of the relation of (h, ?, t) among all relations and inverse relations.

    .. math:: \lambda \big( \log \sum_{r'} \exp f(h, r', t) - f(h, r, t) \big)

    the mean over the triples of the batch. Models that implement `score_relations` score all
    relations in one matrix product.

    Reference:
        Chen, Minervini, Riedel, Stenetorp: Relation Prediction as an Auxiliary Training Objective
        for Improving Multi-Relational Graph Representations, AKBC 2021.
    """

    def parts(self, facts: Facts, entity: Lookup) -> Iterator[Tensor]:
        for low, high in blocks(len(facts.h), self._size()):
            h, r, t, weight = (x[low:high] for x in facts)
            S = self._scores(entity(h), entity(t))
            true = S.gather(1, r[:, None]).squeeze(1)
            yield self.weight * ((S.logsumexp(1) - true) * weight).sum()

    def _size(self) -> int:
        """Return the number of triples whose scores, or queries, fill a tile."""
        entity, relation = self.model.entity.weight, self.model.relation.weight
        at_once = isinstance(self.model.base, RelationScores)
        width = 1 if at_once else max(entity.shape[1], relation.shape[1])
        return max(1, TILE // (len(relation) * width))

    def _scores(self, h: Tensor, t: Tensor) -> Tensor:
        """Score entity embeddings ``(P, w)`` with every relation, ``(P, R)``."""
        table, entity, base = self.model.relation.weight, self.model.entity, self.model.base
        if not isinstance(base, RelationScores):
            return self._one_by_one(h, t, table)
        found = base.score_relations(entity.without_bias(h), entity.without_bias(t), table)
        return found + entity.bias(t)[:, None] if entity.has_bias else found

    def _one_by_one(self, h: Tensor, t: Tensor, table: Tensor) -> Tensor:
        heads, shape = h.repeat_interleave(len(table), dim=0), (len(h), len(table))
        query = self.model.encode_query(heads, table.repeat(len(h), 1))
        keys, Q, a = self.model.encode_keys(t), query.Q.view(*shape, -1), query.a.view(shape)
        if self.model.interaction is None:
            return torch.bmm(Q, keys.K[:, :, None]).squeeze(2) + a + keys.b[:, None]
        return self.model.pairwise(Q, keys.K[:, None]) + a + keys.b[:, None]
