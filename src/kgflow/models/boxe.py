"""BoxE: relations as pairs of boxes, entities as points that bump one another."""

from typing import ClassVar

import torch
from torch import Tensor

from kgflow.flows import Keys, Query
from kgflow.models.base import PairwiseModel
from kgflow.models.card import Card


class BoxE(PairwiseModel):
    r"""The head, bumped by the tail, in the relation's head box; the tail, bumped, in its tail box.

    .. math:: f(h, r, t) = -\|d(h + t_b, r^1)\| - \|d(t + h_b, r^2)\|,
              \quad d(x, box)_i = \begin{cases} |x - c| / w & |x - c| \le (w - 1)/2 \\
              |x - c|\, w - \kappa & \text{else} \end{cases}

    with the centre c of a box, its size plus one w, and :math:`\kappa = (w - 1)(w - 1/w) / 2`,
    which makes d continuous: it rises slowly within the box and steeply outside. The sizes are
    absolute values of free numbers, with neither the paper's optional common scale nor its bound
    on the space.

    Rows: entity position and bump, relation centre and size of the head's box and of the tail's,
    each ``(n,)``.

    Reference:
        Abboud et al.: BoxE: A Box Embedding Model for Knowledge Base Completion, NeurIPS 2020.

    Example:
        >>> BoxE(entities=3, relations=2, dim=4).relation.weight.shape
        torch.Size([2, 16])
    """

    name = "boxe"
    entity_parts: ClassVar = ("position", "bump")
    relation_parts: ClassVar = ("head_centre", "head_size", "tail_centre", "tail_size")
    settings: ClassVar = {"dim": 32, "epochs": 30}
    card: ClassVar = Card(
        x0="–",
        f_entity="–",
        f_relation="–",
        D="-‖d(h + t_b, r¹)‖ - ‖d(t + h_b, r²)‖",
        entity="2*n",
        relation="4*n",
        symmetry=True,
        antisymmetry=True,
        inverse=True,
        composition=False,
        year=2020,
    )

    def encode_query(self, h: Tensor, r: Tensor) -> Query:
        """Q = (h - c¹, h_b - c², w¹, w²)."""
        position, bump = self.entity.split(h)
        head, head_size, tail, tail_size = self.relation.split(r)
        sizes = torch.cat([head_size, tail_size], dim=-1).abs() + 1
        Q = torch.cat([position - head, bump - tail, sizes], dim=-1)
        return Query(Q, Q.new_zeros(Q.shape[:-1]))

    def encode_keys(self, t: Tensor) -> Keys:
        """K = (t_b, t): the bump meets the head, the position the head's bump."""
        position, bump = self.entity.split(t)
        return Keys(torch.cat([bump, position], dim=-1), t.new_zeros(t.shape[:-1]))

    def pairwise(self, Q: Tensor, K: Tensor) -> Tensor:
        """The two norms of d, which is the larger of its two cases."""
        offset, w = Q.chunk(2, dim=-1)
        kappa = 0.5 * (w - 1) * (w - w.reciprocal())
        away = (offset + K).abs()
        d = torch.maximum(away / w, away * w - kappa)
        return -sum(torch.linalg.vector_norm(side, dim=-1) for side in d.chunk(2, dim=-1))

    def inverse_relation(self, r: Tensor) -> Tensor:
        """The two boxes exchanged."""
        head, head_size, tail, tail_size = self.relation.split(r)
        return torch.cat([tail, tail_size, head, head_size], dim=-1)
