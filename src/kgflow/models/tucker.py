"""TuckER: one core tensor between all heads, relations and tails."""

from typing import ClassVar

import torch
from torch import Tensor, nn

from kgflow.flows import Keys, Query
from kgflow.models.base import Model
from kgflow.models.card import Card
from kgflow.models.layers import BatchNorm, dropout


class TuckER(Model):
    r"""The Tucker decomposition of the tensor of all facts.

    .. math:: f(h, r, t) = \sum_{ijk} W_{ijk} h_i r_j t_k

    with batch normalization of h and of the vector :math:`\sum_{ij} W_{ijk} h_i r_j`, and dropout
    of the matrix :math:`\sum_j W_{ijk} r_j` and of that vector. The published dropout of h is the
    training's own, so it comes before the normalization of h rather than after it.

    Rows: entity e and relation r, each ``(n,)``. All share the core W ``(n, n, n)``, kept with the
    relation's axis first.

    Args:
        entities: how many entities.
        relations: how many relations, with their inverse_relations.
        dim: n.
        hidden_dropout: the share of the matrix and of the vector that is left out in training.

    Reference:
        Balazevic, Allen, Hospedales: TuckER: Tensor Factorization for Knowledge Graph Completion,
        EMNLP 2019.

    Example:
        >>> TuckER(entities=3, relations=2, dim=4).core.shape
        torch.Size([4, 4, 4])
    """

    name = "tucker"
    entity_parts: ClassVar = ("e",)
    relation_parts: ClassVar = ("r",)
    settings: ClassVar = {
        "dim": 64,
        "margin": -5.0,
        "batch_size": 512,
        "dropout": 0.2,
        "lr": 0.01,
        "decay": 0.95,
    }
    card: ClassVar = Card(
        x0="1",
        f_entity="e ⊙ x",
        f_relation="(Σⱼ Wⱼ rⱼ)ᵀ x",
        D="⟨·, ·⟩",
        entity="n",
        relation="n",
        symmetry=True,
        antisymmetry=True,
        inverse=True,
        composition=True,
        year=2019,
    )

    def __init__(
        self, entities: int, relations: int, dim: int, hidden_dropout: float = 0.1
    ) -> None:
        super().__init__(entities, relations, dim)
        self.core = nn.Parameter(torch.empty(dim, dim, dim).uniform_(-0.2, 0.2))
        self.norm_head, self.norm_query = BatchNorm(dim), BatchNorm(dim)
        self.drop = dropout(hidden_dropout)

    def encode_query(self, h: Tensor, r: Tensor) -> Query:
        """Q = Σ W h r, normalized."""
        matrix = (r @ self.core.flatten(1)).unflatten(1, (self.dim, self.dim))
        moved = self.norm_head(h)[:, None] @ self.drop(matrix)
        Q = self.drop(self.norm_query(moved.squeeze(1)))
        return Query(Q, Q.new_zeros(len(Q)))

    def encode_keys(self, t: Tensor) -> Keys:
        """K = t, b = 0."""
        return Keys(t, t.new_zeros(len(t)))
