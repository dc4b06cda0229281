"""Which relation holds between two entities, as a second question."""

from collections.abc import Iterator

import torch
from torch import Tensor

from kgflow.engine import TILE, blocks
from kgflow.models import Model
from kgflow.training.base import Facts
from kgflow.training.rows import Lookup
from kgflow.training.term import Term


class RelationPrediction(Term):
    r"""Cross entropy over all relations, reciprocals included, of (h, ?, t).

    .. math:: \lambda \big( \log \sum_{r'} \exp f(h, r', t) - f(h, r, t) \big)

    the batch's mean over its triples; a few triples at a time meet all relations.

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
        relations, width = self.model.relation.weight.shape
        size = max(1, TILE // (relations * max(width, self.model.entity.weight.shape[1])))
        for low, high in blocks(len(facts.h), size):
            h, r, t, weight = (x[low:high] for x in facts)
            S = self._scores(entity(h), entity(t))
            true = S.gather(1, r[:, None]).squeeze(1)
            yield self.weight * ((S.logsumexp(1) - true) * weight).sum()

    def _scores(self, h: Tensor, t: Tensor) -> Tensor:
        """The scores of rows ``(P, w)`` with every relation, ``(P, R)``."""
        table = self.model.relation.weight
        heads = h.repeat_interleave(len(table), dim=0)
        query, keys = (
            self.model.lower_query(heads, table.repeat(len(h), 1)),
            self.model.lower_keys(t),
        )
        shape = (len(h), len(table))
        Q, a = query.Q.view(*shape, -1), query.a.view(shape)
        if self.model.meet is None:
            return torch.bmm(Q, keys.K[:, :, None]).squeeze(2) + a + keys.b[:, None]
        return self.model.pairwise(Q, keys.K[:, None]) + a + keys.b[:, None]
