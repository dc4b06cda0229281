"""ManifoldE: true tails on a sphere around the translated head."""

from typing import ClassVar

import torch
from torch import Tensor

from kgflow.flows import Keys, Query
from kgflow.models.base import PairwiseModel
from kgflow.models.card import Card


class ManifoldE(PairwiseModel):
    r"""Translations, tails on a sphere of the relation's radius D.

    .. math:: f(h, r, t) = -\big(\|h + r - t\|^2 - D_r^2\big)^2

    The sphere of the paper without a kernel.

    Rows: entity μ ``(n,)``; relation μ ``(n,)`` and D ``(1,)``, of any sign.

    Reference:
        Xiao, Huang, Zhu: From One Point to a Manifold: Knowledge Graph Embedding for Precise Link
        Prediction, IJCAI 2016.

    Example:
        >>> ManifoldE(entities=3, relations=2, dim=4).relation.weight.shape
        torch.Size([2, 5])
    """

    name = "manifolde"
    entity_parts: ClassVar = ("mu",)
    relation_parts: ClassVar = ("mu", "radius")
    settings: ClassVar = {"dim": 32, "margin": 1.0, "epochs": 50}
    card: ClassVar = Card(
        x0="–",
        f_entity="–",
        f_relation="–",
        D="-(‖h + r - t‖² - D_r²)²",
        entity="n",
        relation="n + 1",
        symmetry=True,
        antisymmetry=True,
        inverse=True,
        composition=True,
        year=2016,
    )

    def relation_sizes(self, dim: int) -> dict[str, int]:
        """A translation and a radius."""
        return {"mu": dim, "radius": 1}

    def encode_query(self, h: Tensor, r: Tensor) -> Query:
        """Q = (h + r, D²)."""
        mu, radius = self.relation.split(r)
        return Query(torch.cat([h + mu, radius.square()], dim=-1), h.new_zeros(h.shape[:-1]))

    def encode_keys(self, t: Tensor) -> Keys:
        """K = t."""
        return Keys(t, t.new_zeros(t.shape[:-1]))

    def pairwise(self, Q: Tensor, K: Tensor) -> Tensor:
        """How far, squared, the squared distance is from the squared radius."""
        return -((Q[..., :-1] - K).square().sum(-1) - Q[..., -1]).square()

    def matrix(self, Q: Tensor, K: Tensor) -> Tensor:
        """The same, its squares by a matrix product."""
        moved, radius = Q[:, :-1], Q[:, -1]
        own = moved.square().sum(-1) - radius
        return -(own[:, None] + K.square().sum(-1) - 2 * moved @ K.T).square()

    def inverse_relation(self, r: Tensor) -> Tensor:
        """The way back, to a sphere as large."""
        mu, radius = self.relation.split(r)
        return torch.cat([-mu, radius], dim=-1)
