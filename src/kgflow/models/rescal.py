"""RESCAL: relations as matrices."""

from typing import ClassVar

import torch
from torch import Tensor

from kgflow.flows import Keys, Query
from kgflow.models.base import Model
from kgflow.models.card import Card


class RESCAL(Model):
    r"""A matrix for each relation, inner product.

    .. math:: f(h, r, t) = h^T R\, t

    Rows: entity e ``(n,)``; relation R ``(n²,)``, row by row.

    Reference:
        Nickel, Tresp, Kriegel: A Three-Way Model for Collective Learning on Multi-Relational Data,
        ICML 2011.

    Example:
        >>> RESCAL(entities=3, relations=2, dim=4).relation.weight.shape
        torch.Size([2, 16])
    """

    name = "rescal"
    entity_parts: ClassVar = ("e",)
    relation_parts: ClassVar = ("R",)
    settings: ClassVar = {"dim": 32, "margin": -4.0, "lr": 0.005, "epochs": 30, "decay": 0.95}
    card: ClassVar = Card(
        x0="1 ∈ ℝⁿ",
        f_entity="e ⊙ x",
        f_relation="Rᵀx",
        D="⟨·, ·⟩",
        entity="n",
        relation="n**2",
        symmetry=True,
        antisymmetry=True,
        inverse=True,
        composition=True,
        year=2011,
    )

    def relation_sizes(self, dim: int) -> dict[str, int]:
        """A square matrix."""
        return {"R": dim * dim}

    def encode_query(self, h: Tensor, r: Tensor) -> Query:
        """Q = Rᵀh, a = 0."""
        R = r.unflatten(-1, (self.dim, self.dim))
        return Query((h[:, None] @ R)[:, 0], h.new_zeros(len(h)))

    def ask(self, h: Tensor, r: Tensor) -> Query:
        """A matrix product for all heads of a relation: its n² numbers are read once."""
        order = r.argsort()
        once, counts = r[order].unique_consecutive(return_counts=True)
        R = self.relation(once).unflatten(-1, (self.dim, self.dim))
        groups = h[order].split(counts.tolist())
        Q = torch.cat([h[:0], *(x @ matrix for x, matrix in zip(groups, R, strict=True))])
        return Query(Q[order.argsort()], h.new_zeros(len(h)))

    def encode_keys(self, t: Tensor) -> Keys:
        """K = t, b = 0."""
        return Keys(t, t.new_zeros(len(t)))

    def inverse_relation(self, r: Tensor) -> Tensor:
        """The transposes."""
        return r.unflatten(-1, (self.dim, self.dim)).mT.flatten(-2)
