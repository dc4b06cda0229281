"""Complex-valued models: ComplEx, RotatE and ComplEx with a random x0."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

import torch
from pydantic import Field
from torch import Tensor

from kgflow.flows import (
    Affine,
    ComplexNorm,
    Flow,
    InnerProduct,
    Keys,
    Normal,
    Point,
    Query,
    Rotation,
    Scaled,
    Scaling,
    Similarity,
    SquaredWasserstein,
)
from kgflow.models.base import Model
from kgflow.models.card import Card, Variant, recommended
from kgflow.models.flow_model import FlowModel
from kgflow.models.options import ModelOptions, Option


def complex_scaling(re: Tensor, im: Tensor) -> Scaling:
    """Return the function (re + i im) x, a rotation and scaling of the plane."""
    return Scaling(torch.complex(re, im))


def conjugate(x: Tensor) -> Tensor:
    """Return the conjugates of real and imaginary parts ``(..., 2n)``."""
    re, im = x.chunk(2, dim=-1)
    return torch.cat([re, -im], dim=-1)


def modulus(re: Tensor, im: Tensor) -> Tensor:
    """Return |re + i im|, with a gradient everywhere."""
    # Shifted by a tiny number, since the modulus has no gradient at zero.
    return torch.hypot(re, im + 1e-30)


class ComplEx(FlowModel):
    r"""Complex scalings of the point 1 under the real part of the Hermitian product.

    .. math:: f(h, r, t) = \mathrm{Re} \sum_i h_i r_i \bar t_i

    Embeddings: entity re, im and relation re, im, each ``(n/2,)``.

    Reference:
        Trouillon et al.: Complex Embeddings for Simple Link Prediction, ICML 2016.

    Example:
        >>> ComplEx(entities=3, relations=2, dim=4).relation.weight.shape
        torch.Size([2, 4])
    """

    name = "complex"
    dim_multiple = 2
    reals_per_coordinate = 2
    x0 = Point(1.0)
    f_entity = staticmethod(complex_scaling)
    entity_parts = ("re", "im")
    relation_parts = ("re", "im")
    f_relation = staticmethod(complex_scaling)
    D = InnerProduct()
    settings = recommended(margin=-4.0, dropout=0.1, lr=0.01, epochs=30, decay=0.95)
    card = Card("1 ∈ ℂⁿᐟ²", "e ⊙ x", "r ⊙ x", "Re⟨·, ·⟩", "n", "n", 2016)

    def score_relations(self, h: Tensor, t: Tensor, r: Tensor) -> Tensor:
        """Score by the inner product of the conjugate of h times t, and r."""
        (x, y), (u, v) = self.entity.split(h), self.entity.split(t)
        return torch.cat([x * u + y * v, x * v - y * u], dim=1) @ r.T

    def inverse_relation(self, r: Tensor) -> Tensor:
        return conjugate(r)


NORMS: Mapping[str, Similarity] = {"l1": ComplexNorm(), "squared-l2": SquaredWasserstein()}

ROTATE = Card("1 ∈ ℂⁿᐟ²", "e ⊙ x", "r ⊙ x, |r| = 1", "-Σ|· - ·|", "n", "n//2", 2019, pairwise=True)


class RotatE(FlowModel):
    r"""Rotations of complex points.

    .. math:: f(h, r, t) = -\sum_i |h_i e^{i \theta_i} - t_i|

    as published, or the sum of the squared moduli.

    Embeddings: entity re, im and relation phase θ, each ``(n/2,)``.

    Reference:
        Sun et al.: RotatE: Knowledge Graph Embedding by Relational Rotation in Complex Space,
        ICLR 2019.

    Example:
        >>> RotatE(entities=3, relations=2, dim=4).relation.weight.shape
        torch.Size([2, 2])
    """

    class Options(ModelOptions):
        """Options of RotatE."""

        norm: Literal["l1", "squared-l2"] = Field(
            "l1",
            description="Norm of the distance: sum of moduli, or the matrix product squared-l2.",
        )

    options: Options
    name = "rotate"
    dim_multiple = 2
    reals_per_coordinate = 2
    x0 = Point(1.0)
    f_entity = staticmethod(complex_scaling)
    f_relation = Rotation
    entity_parts = ("re", "im")
    relation_parts = ("phase",)
    settings = recommended(dim=64, margin=6.0, dropout=0.0, lr=0.05, epochs=30, decay=0.95)
    card = ROTATE
    variants = (
        Variant(
            {"norm": "squared-l2"},
            replace(ROTATE, D="-‖· - ·‖²", pairwise=False),
            recommended(margin=6.0, dropout=0.0, lr=0.05, epochs=30, decay=0.95),
        ),
    )

    def __init__(self, entities: int, relations: int, dim: int, **options: Option) -> None:
        super().__init__(entities, relations, dim, **options)
        self.D = NORMS[self.options.norm]
        self.relation.weight.data.uniform_(-math.pi, math.pi)

    def inverse_relation(self, r: Tensor) -> Tensor:
        return -r


class ComplexNormalModel(Model):
    """Model whose entities are complex normal distributions σ x0 + (x + iy)."""

    dim_multiple = 2
    reals_per_coordinate = 2
    entity_parts = ("re", "im", "sigma")

    def normal(self, t: Tensor) -> Tensor:
        """Return the location and the scale |σ| of entity embeddings, side by side."""
        x, y, sigma = self.entity.split(t)
        return torch.cat([x, y, sigma.abs()], dim=-1)

    def rotated(self, h: Tensor, c: Tensor, d: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return real part, imaginary part and scale of (c + id) f_h."""
        x, y, sigma = self.entity.split(h)
        return c * x - d * y, d * x + c * y, modulus(c, d) * sigma.abs()

    def flow(self, t: Tensor) -> Flow:
        """Return the flow of n real coordinates, real and imaginary parts of variance 1/2."""
        x, y, sigma = self.entity.split(t)
        f = Affine(torch.cat([x, y], dim=-1), torch.cat([sigma, sigma], dim=-1))
        return Flow(Scaled(Normal(), math.sqrt(0.5)), f)


class ComplExFlow(ComplexNormalModel):
    r"""Entities as complex normal distributions, relations as rotations with scalings.

    .. math:: f(h, r, t) = \mathrm{Re} \langle r h_\mu, t_\mu \rangle
              + \langle |r| h_\sigma, t_\sigma \rangle
              = \max \mathbb E\, \mathrm{Re} \langle f_r \circ f_h(x_0), f_t(x_0) \rangle

    over all couplings of the two distributions, with :math:`f_e(x) = e_\sigma x + e_\mu`,
    :math:`f_r(x) = r x`, complex :math:`e_\mu, r` and :math:`e_\sigma \ge 0`. D is to the
    squared Wasserstein distance what an inner product is to a squared distance:
    :math:`W_2^2(p, q) = \mathbb E |p|^2 + \mathbb E |q|^2 - 2 D(p, q)`. If all scales are zero, it
    is ComplEx.

    Embeddings: entity re, im, σ (its absolute value) and relation re, im, each ``(n/2,)``.

    Reference:
        Xiao, He, Cao: Knowledge Graph Embedding by Normalizing Flows, AAAI 2023, for the flows;
        Trouillon et al.: Complex Embeddings for Simple Link Prediction, ICML 2016.

    Example:
        >>> model = ComplExFlow(entities=3, relations=2, dim=4)
        >>> model.entity.weight.shape, model.relation.weight.shape
        (torch.Size([3, 6]), torch.Size([2, 4]))
    """

    name = "complex-flow"
    relation_parts = ("re", "im")
    settings = recommended(margin=-4.0, dropout=0.1, lr=0.01, epochs=30, decay=0.95)
    card = Card(
        "𝒞𝒩(0, I) on ℂⁿᐟ²", "e_σ ⊙ x + e_μ", "r ⊙ x, r ∈ ℂ", "max 𝔼 Re⟨·, ·⟩", "3*n//2", "n", 2026
    )

    def encode_query(self, h: Tensor, r: Tensor) -> Query:
        """Encode Q = u, a = 0, with u the location and scale of f_r ∘ f_h."""
        u = torch.cat(self.rotated(h, *self.relation.split(r)), dim=-1)
        return Query(u, u.new_zeros(u.shape[:-1]))

    def encode_path(self, h: Tensor, path: Sequence[Tensor]) -> Query:
        """Location and scale of f_r ∘ f_h are again an entity embedding."""
        for r in path[:-1]:
            h = self.encode_query(h, r).Q
        return self.encode_query(h, path[-1])

    def encode_keys(self, t: Tensor) -> Keys:
        """Encode K = u, b = 0, with u the location and scale of f_t."""
        u = self.normal(t)
        return Keys(u, u.new_zeros(u.shape[:-1]))

    def score_relations(self, h: Tensor, t: Tensor, r: Tensor) -> Tensor:
        """Score by an inner product of features of the pair and of the relation."""
        (x, y, sigma), (u, v, rho) = self.entity.split(h), self.entity.split(t)
        c, d = self.relation.split(r)
        pairs = torch.cat([x * u + y * v, x * v - y * u, (sigma * rho).abs()], dim=1)
        return pairs @ torch.cat([c, d, modulus(c, d)], dim=1).T

    def inverse_relation(self, r: Tensor) -> Tensor:
        return conjugate(r)

    def relation_flow(self, r: Tensor) -> Flow:
        """Return the flow with location 0 and scale |r|."""
        c, d = self.relation.split(r)
        return self.flow(torch.cat([torch.zeros_like(r), modulus(c, d)], dim=-1))

    def composed(self, h: Tensor, r: Tensor) -> Flow:
        return self.flow(self.encode_query(h, r).Q)
