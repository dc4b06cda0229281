"""Which relation holds between two entities, as a second question."""

from collections.abc import Iterator

import torch
from torch import Tensor

from kgflow.kernels import TILE, blocks
from kgflow.models import Model
from kgflow.models.protocols import RelationScores
from kgflow.training.base import Facts
from kgflow.training.rows import Lookup
from kgflow.training.term import Term


class RelationPrediction(Term):
    r"""Cross entropy over all relations, inverse_relations included, of (h, ?, t).

    .. math:: \lambda \big( \log \sum_{r'} \exp f(h, r', t) - f(h, r, t) \big)

    the batch's mean over its triples. If the model has `RelationScores`, all
    relations are scored by one matrix product; else a few triples at a time, one by one.

    Args:
        model: what is trained.
        weight: λ.

    Reference:
        Chen, Minervini, Riedel, Stenetorp: Relation Prediction as an Auxiliary Training Objective
        for Improving Multi-Relational Graph Representations, AKBC 2021.
    """

    def __init__(self, model: Model, weight: float) -> None:
        self.model, self.weight = model, weight

    def parts(self, facts: Facts, entity: Lookup) -> Iterator[Tensor]:
        """By blocks of triples."""
        for low, high in blocks(len(facts.h), self._size()):
            h, r, t, weight = (x[low:high] for x in facts)
            S = self._scores(entity(h), entity(t))
            true = S.gather(1, r[:, None]).squeeze(1)
            yield self.weight * ((S.logsumexp(1) - true) * weight).sum()

    def _size(self) -> int:
        """Triples at a time: those whose scores, or queries, fill a tile."""
        entity, relation = self.model.entity.weight, self.model.relation.weight
        at_once = isinstance(self.model.base, RelationScores)
        width = 1 if at_once else max(entity.shape[1], relation.shape[1])
        return max(1, TILE // (len(relation) * width))

    def _scores(self, h: Tensor, t: Tensor) -> Tensor:
        """The scores of rows ``(P, w)`` with every relation, ``(P, R)``."""
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
