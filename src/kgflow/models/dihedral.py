"""DihEdral: relations as symmetries of squares."""

from typing import ClassVar

import torch
from torch import Tensor

from kgflow.flows import InnerProduct, Orthogonal, Point, Scaling
from kgflow.models.base import FlowModel
from kgflow.models.card import Card


class DihEdral(FlowModel):
    r"""Blocks of two coordinates, turned and mirrored by elements of D₄, inner product.

    .. math:: f(h, r, t) = h^T R t, \quad R_l = \begin{pmatrix} \lambda & -\alpha\gamma \\
              \gamma & \alpha\lambda \end{pmatrix}, \quad \lambda = \tfrac{\beta_1 + \beta_2}2,
              \quad \gamma = \tfrac{\beta_1 - \beta_2}2

    where α = 1 is a rotation by a multiple of π/2 and α = -1 a reflection. α, β₁ and β₂ are the
    signs of free numbers, through which the gradient passes straight (the published D₄-STE).

    Rows: entity e ``(n,)``; relation α, β₁, β₂ ``(n/2,)`` each, before their signs are taken.

    Reference:
        Xu, Li: Relation Embedding with Dihedral Group in Knowledge Graph, ACL 2019.

    Example:
        >>> DihEdral(entities=3, relations=2, dim=4).relation.weight.shape
        torch.Size([2, 6])
    """

    name = "dihedral"
    entity_parts: ClassVar = ("e",)
    relation_parts: ClassVar = ("alpha", "beta_1", "beta_2")
    multiple: ClassVar = 2
    f_entity = Scaling
    x0, D = Point(1.0), InnerProduct()
    settings: ClassVar = {"margin": -5.0, "lr": 0.01, "decay": 0.95, "epochs": 60}
    card: ClassVar = Card(
        x0="1",
        f_entity="e ⊙ x",
        f_relation="Rᵀx, R in D₄",
        D="⟨·, ·⟩",
        entity="n",
        relation="3*n//2",
        symmetry=True,
        antisymmetry=True,
        inverse=True,
        composition=True,
        year=2019,
    )

    def relation_sizes(self, dim: int) -> dict[str, int]:
        """A number for each block."""
        return dict.fromkeys(self.relation_parts, dim // 2)

    def f_relation(self, *free: Tensor) -> Orthogonal:
        """Rᵀ of the signs of three numbers for each block."""
        alpha, beta_1, beta_2 = map(straight_sign, free)
        cos, sin = (beta_1 + beta_2) / 2, (beta_1 - beta_2) / 2
        R = torch.stack([cos, -alpha * sin, sin, alpha * cos], dim=-1).unflatten(-1, (2, 2))
        return Orthogonal(R).inverse()

    def inverse_relation(self, r: Tensor) -> Tensor:
        """Rotations turn back, with β₁ and β₂ exchanged; reflections are their own inverses."""
        alpha, beta_1, beta_2 = self.relation.split(r)
        turns = alpha >= 0
        parts = (alpha, torch.where(turns, beta_2, beta_1), torch.where(turns, beta_1, beta_2))
        return torch.cat(parts, dim=-1)


def straight_sign(x: Tensor) -> Tensor:
    """1 from zero upwards and -1 below, with the gradient of x itself.

    Example:
        >>> straight_sign(torch.tensor([0.3, 0.0, -2.0]))
        tensor([ 1.,  1., -1.])
    """
    sign = torch.where(x >= 0, 1.0, -1.0).to(x)
    return sign + (x - x.detach())
