"""Which relation holds between two entities, as a second question."""

from collections.abc import Iterator

import torch
from torch import Tensor

from kgflow.engine import TILE, blocks
from kgflow.models import Model, Motion
from kgflow.training.base import Facts
from kgflow.training.rows import Lookup
from kgflow.training.term import Term


class RelationPrediction(Term):
    r"""Cross entropy over all relations, reciprocals included, of (h, ?, t).

    .. math:: \lambda \big( \log \sum_{r'} \exp f(h, r', t) - f(h, r, t) \big)

    the batch's mean over its triples. Where relations are motions of keys, u ↦ s ⊙ u + m, all of
    them are scored at once, by

    .. math:: -|s u_h + m - u_t|^2 = -s^2 \cdot u_h^2 - 2sm \cdot u_h + 2s \cdot u_h u_t
              + 2m \cdot u_t - |m|^2 - |u_t|^2,

    a matrix product of what h and t bring and what r brings; else a few triples at a time meet all
    relations one by one.

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
        relation, entity = self.model.relation.weight, self.model.entity.weight
        widths = (relation.shape[1], entity.shape[1])
        width = 1 if self.model.motion(relation[:1]) is not None else max(widths)
        return max(1, TILE // (len(relation) * width))

    def _scores(self, h: Tensor, t: Tensor) -> Tensor:
        """The scores of rows ``(P, w)`` with every relation, ``(P, R)``."""
        table, keys = self.model.relation.weight, self.model.lower_keys(t)
        motion = self.model.motion(table)
        if motion is not None:
            return _moved(self.model.lower_keys(h).K, keys.K, motion)
        heads = h.repeat_interleave(len(table), dim=0)
        query = self.model.lower_query(heads, table.repeat(len(h), 1))
        shape = (len(h), len(table))
        Q, a = query.Q.view(*shape, -1), query.a.view(shape)
        if self.model.meet is None:
            return torch.bmm(Q, keys.K[:, :, None]).squeeze(2) + a + keys.b[:, None]
        return self.model.pairwise(Q, keys.K[:, None]) + a + keys.b[:, None]


def _moved(h: Tensor, t: Tensor, motion: Motion) -> Tensor:
    """Scores of keys ``(P, m)`` with every motion, ``(P, R)``, written out as a product."""
    s, m = motion
    k = m.shape[1]
    pairs = torch.cat([h.square(), h[:, :k], h * t, t[:, :k]], dim=1)
    relations = torch.cat([-s.square(), -2 * s[:, :k] * m, 2 * s, 2 * m], dim=1)
    return pairs @ relations.T - t.square().sum(1)[:, None] - m.square().sum(1)
