"""Bilinear models: DistMult, RESCAL and DihEdral."""

from collections.abc import Sequence

import torch
from torch import Tensor

from kgflow.flows import InnerProduct, Keys, Orthogonal, Point, Query, Scaling
from kgflow.models.base import Model
from kgflow.models.card import Card, recommended
from kgflow.models.flow_model import FlowModel


class DistMult(FlowModel):
    r"""Scalings of the point 1 under the inner product.

    .. math:: f(h, r, t) = \sum_i h_i r_i t_i

    Embeddings: entity σ and relation σ, each ``(n,)``.

    Reference:
        Yang et al.: Embedding Entities and Relations for Learning and Inference, ICLR 2015.

    Example:
        >>> DistMult(entities=3, relations=2, dim=4).entity.weight.shape
        torch.Size([3, 4])
    """

    name = "distmult"
    entity_parts = ("sigma",)
    relation_parts = ("sigma",)
    f_entity = f_relation = Scaling
    x0, D = Point(1.0), InnerProduct()
    settings = recommended(margin=-4.0, lr=0.005, epochs=30, decay=0.95)
    card = Card("1 ∈ ℝⁿ", "e ⊙ x", "r ⊙ x", "⟨·, ·⟩", "n", "n", 2015, {"symmetry"})

    def score_relations(self, h: Tensor, t: Tensor, r: Tensor) -> Tensor:
        """Score by the inner product of h ⊙ t and r."""
        return (h * t) @ r.T

    def inverse_relation(self, r: Tensor) -> Tensor:
        return r


class RESCAL(Model):
    r"""A matrix for each relation, under the inner product.

    .. math:: f(h, r, t) = h^T R\, t

    Embeddings: entity e ``(n,)``; relation R ``(n²,)``, row by row.

    Reference:
        Nickel, Tresp, Kriegel: A Three-Way Model for Collective Learning on Multi-Relational Data,
        ICML 2011.

    Example:
        >>> RESCAL(entities=3, relations=2, dim=4).relation.weight.shape
        torch.Size([2, 16])
    """

    name = "rescal"
    entity_parts = ("e",)
    relation_parts = ("R",)
    settings = recommended(dim=32, margin=-4.0, lr=0.005, epochs=30, decay=0.95)
    card = Card("1 ∈ ℝⁿ", "e ⊙ x", "Rᵀx", "⟨·, ·⟩", "n", "n**2", 2011)

    def relation_sizes(self, dim: int) -> dict[str, int]:
        return {"R": dim * dim}

    def encode_query(self, h: Tensor, r: Tensor) -> Query:
        """Encode Q = Rᵀh, a = 0."""
        R = r.unflatten(-1, (self.dim, self.dim))
        return Query((h[:, None] @ R)[:, 0], h.new_zeros(len(h)))

    def encode_query_ids(self, h: Tensor, r: Tensor) -> Query:
        """Multiply all heads of a relation at once, so that its n × n matrix is read once."""
        order = r.argsort()
        once, counts = r[order].unique_consecutive(return_counts=True)
        R = self.relation(once).unflatten(-1, (self.dim, self.dim))
        groups = h[order].split(counts.tolist())
        Q = torch.cat([h[:0], *(x @ matrix for x, matrix in zip(groups, R, strict=True))])
        return Query(Q[order.argsort()], h.new_zeros(len(h)))

    def encode_path(self, h: Tensor, path: Sequence[Tensor]) -> Query:
        """The vector Rᵀh is again an entity embedding."""
        for r in path[:-1]:
            h = self.encode_query(h, r).Q
        return self.encode_query(h, path[-1])

    def encode_keys(self, t: Tensor) -> Keys:
        return Keys(t, t.new_zeros(len(t)))

    def inverse_relation(self, r: Tensor) -> Tensor:
        return r.unflatten(-1, (self.dim, self.dim)).mT.flatten(-2)


class DihEdral(FlowModel):
    r"""Rotations and reflections in D₄ of blocks of two coordinates, under the inner product.

    .. math:: f(h, r, t) = h^T R t, \quad R_l = \begin{pmatrix} \lambda & -\alpha\gamma \\
              \gamma & \alpha\lambda \end{pmatrix}, \quad \lambda = \tfrac{\beta_1 + \beta_2}2,
              \quad \gamma = \tfrac{\beta_1 - \beta_2}2

    where α = 1 is a rotation by a multiple of π/2 and α = -1 a reflection. α, β₁ and β₂ are the
    signs of free parameters with the straight-through gradient (the published D₄-STE).

    Embeddings: entity e ``(n,)``; relation α, β₁, β₂ ``(n/2,)`` each, before their signs are taken.

    Reference:
        Xu, Li: Relation Embedding with Dihedral Group in Knowledge Graph, ACL 2019.

    Example:
        >>> DihEdral(entities=3, relations=2, dim=4).relation.weight.shape
        torch.Size([2, 6])
    """

    name = "dihedral"
    entity_parts = ("e",)
    relation_parts = ("alpha", "beta_1", "beta_2")
    dim_multiple = 2
    f_entity = Scaling
    x0, D = Point(1.0), InnerProduct()
    settings = recommended(margin=-5.0, lr=0.01, decay=0.95, epochs=60)
    card = Card("1", "e ⊙ x", "Rᵀx, R in D₄", "⟨·, ·⟩", "n", "3*n//2", 2019)

    def relation_sizes(self, dim: int) -> dict[str, int]:
        return dict.fromkeys(self.relation_parts, dim // 2)

    def f_relation(self, *free: Tensor) -> Orthogonal:
        """Return Rᵀ of the signs of three parameters for each block."""
        alpha, beta_1, beta_2 = map(straight_sign, free)
        cos, sin = (beta_1 + beta_2) / 2, (beta_1 - beta_2) / 2
        R = torch.stack([cos, -alpha * sin, sin, alpha * cos], dim=-1).unflatten(-1, (2, 2))
        return Orthogonal(R).inverse()

    def inverse_relation(self, r: Tensor) -> Tensor:
        """Exchange β₁ and β₂ of rotations; reflections are their own inverses."""
        alpha, beta_1, beta_2 = self.relation.split(r)
        rotates = alpha >= 0
        parts = (alpha, torch.where(rotates, beta_2, beta_1), torch.where(rotates, beta_1, beta_2))
        return torch.cat(parts, dim=-1)


def straight_sign(x: Tensor) -> Tensor:
    """Return 1 for x ≥ 0 and -1 for x < 0, with the gradient of x (straight-through).

    Example:
        >>> straight_sign(torch.tensor([0.3, 0.0, -2.0]))
        tensor([ 1.,  1., -1.])
    """
    sign = torch.where(x >= 0, 1.0, -1.0).to(x)
    return sign + (x - x.detach())
