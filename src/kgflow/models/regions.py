"""Models whose answers lie in regions: BoxE (boxes) and ManifoldE (spheres)."""

import torch
from torch import Tensor

from kgflow.flows import Keys, PairwiseInteraction, Query
from kgflow.models.base import Model
from kgflow.models.card import ALL_PATTERNS, NO_FLOW, Card, recommended


class BoxDistance(PairwiseInteraction):
    """Negative sum of the distances of two points from two boxes."""

    def pairwise(self, Q: Tensor, K: Tensor) -> Tensor:
        """Return the two norms of d, which is the maximum of its two cases."""
        offset, w = Q.chunk(2, dim=-1)
        kappa = 0.5 * (w - 1) * (w - w.reciprocal())
        away = (offset + K).abs()
        d = torch.maximum(away / w, away * w - kappa)
        return -sum(torch.linalg.vector_norm(side, dim=-1) for side in d.chunk(2, dim=-1))


class BoxE(Model):
    r"""Relations as a head box and a tail box, entities as points that translate one another.

    .. math:: f(h, r, t) = -\|d(h + t_b, r^1)\| - \|d(t + h_b, r^2)\|,
              \quad d(x, box)_i = \begin{cases} |x - c| / w & |x - c| \le (w - 1)/2 \\
              |x - c|\, w - \kappa & \text{else} \end{cases}

    with the centre c of a box, its size plus one w, and :math:`\kappa = (w - 1)(w - 1/w) / 2`,
    which makes d continuous: it grows slowly inside the box and steeply outside. Sizes are absolute
    values of free parameters, without the optional common scale and bound of the paper.

    Embeddings: entity position and bump, relation centre and size of the head box and of the tail
    box, each ``(n,)``.

    Reference:
        Abboud et al.: BoxE: A Box Embedding Model for Knowledge Base Completion, NeurIPS 2020.

    Example:
        >>> BoxE(entities=3, relations=2, dim=4).relation.weight.shape
        torch.Size([2, 16])
    """

    name = "boxe"
    entity_parts = ("position", "bump")
    relation_parts = ("head_centre", "head_size", "tail_centre", "tail_size")
    interaction_function = BoxDistance()
    settings = recommended(dim=32, epochs=30)
    card = Card(
        D="-‖d(h + t_b, r¹)‖ - ‖d(t + h_b, r²)‖",
        entity="2*n",
        relation="4*n",
        year=2020,
        patterns=ALL_PATTERNS - {"composition"},
        pairwise=True,
    )

    def encode_query(self, h: Tensor, r: Tensor) -> Query:
        """Encode Q = (h - c¹, h_b - c², w¹, w²)."""
        position, bump = self.entity.split(h)
        head, head_size, tail, tail_size = self.relation.split(r)
        sizes = torch.cat([head_size, tail_size], dim=-1).abs() + 1
        Q = torch.cat([position - head, bump - tail, sizes], dim=-1)
        return Query(Q, Q.new_zeros(Q.shape[:-1]))

    def encode_keys(self, t: Tensor) -> Keys:
        """Encode K = (t_b, t), to be added to the head and to the head's bump."""
        position, bump = self.entity.split(t)
        return Keys(torch.cat([bump, position], dim=-1), t.new_zeros(t.shape[:-1]))

    def inverse_relation(self, r: Tensor) -> Tensor:
        head, head_size, tail, tail_size = self.relation.split(r)
        return torch.cat([tail, tail_size, head, head_size], dim=-1)


class SphereDistance(PairwiseInteraction):
    """Negative squared difference of a squared distance and a squared radius."""

    def pairwise(self, Q: Tensor, K: Tensor) -> Tensor:
        return -((Q[..., :-1] - K).square().sum(-1) - Q[..., -1]).square()

    def interaction(self, Q: Tensor, K: Tensor) -> Tensor:
        """Return all scores, with squared distances by a matrix product."""
        centre, radius = Q[:, :-1], Q[:, -1]
        own = centre.square().sum(-1) - radius
        return -(own[:, None] + K.square().sum(-1) - 2 * centre @ K.T).square()


class ManifoldE(Model):
    r"""Translations, with tails on a sphere of the relation's radius D.

    .. math:: f(h, r, t) = -\big(\|h + r - t\|^2 - D_r^2\big)^2

    This is the paper's sphere without a kernel.

    Embeddings: entity μ ``(n,)``; relation μ ``(n,)`` and D ``(1,)``, of any sign.

    Reference:
        Xiao, Huang, Zhu: From One Point to a Manifold: Knowledge Graph Embedding for Precise Link
        Prediction, IJCAI 2016.

    Example:
        >>> ManifoldE(entities=3, relations=2, dim=4).relation.weight.shape
        torch.Size([2, 5])
    """

    name = "manifolde"
    entity_parts = ("mu",)
    relation_parts = ("mu", "radius")
    interaction_function = SphereDistance()
    settings = recommended(dim=32, margin=1.0, epochs=50)
    card = Card(*NO_FLOW, "-(‖h + r - t‖² - D_r²)²", "n", "n+1", 2016, pairwise=True)

    def relation_sizes(self, dim: int) -> dict[str, int]:
        return {"mu": dim, "radius": 1}

    def encode_query(self, h: Tensor, r: Tensor) -> Query:
        """Encode Q = (h + r, D²)."""
        mu, radius = self.relation.split(r)
        return Query(torch.cat([h + mu, radius.square()], dim=-1), h.new_zeros(h.shape[:-1]))

    def encode_keys(self, t: Tensor) -> Keys:
        return Keys(t, t.new_zeros(t.shape[:-1]))

    def inverse_relation(self, r: Tensor) -> Tensor:
        mu, radius = self.relation.split(r)
        return torch.cat([-mu, radius], dim=-1)
