"""The paper's ablations of NFE-1: one of its two functions, or no uncertainty."""

from typing import ClassVar

import torch
from torch import Tensor

from kgflow.flows import Affine, Normal, Point, Query, Scaling, SquaredWasserstein, Translation
from kgflow.models.backwards import pulled_back, squares
from kgflow.models.base import FlowModel
from kgflow.models.card import Card
from kgflow.models.score_relations import moved


class NFE1Mu(FlowModel):
    r"""NFE-1 with translations only: TransE with the squared Euclidean distance.

    .. math:: f(h, r, t) = -\|h_\mu + r_\mu - t_\mu\|^2

    Rows: entity μ and relation μ, each ``(n,)``.
    """

    name = "nfe-1-mu"
    entity_parts: ClassVar = ("mu",)
    relation_parts: ClassVar = ("mu",)
    f_entity = f_relation = Translation
    x0, D = Normal(), SquaredWasserstein()
    card: ClassVar = Card(
        x0="𝒩(0, I)",
        f_entity="x + e_μ",
        f_relation="x + r_μ",
        D="-W₂²",
        entity="n",
        relation="n",
        symmetry=False,
        antisymmetry=True,
        inverse=True,
        composition=True,
        year=2023,
    )

    def score_relations(self, h: Tensor, t: Tensor, r: Tensor) -> Tensor:
        """Relations are translations."""
        return moved(self.encode_keys(h).K, self.encode_keys(t).K, torch.ones_like(r), r)


class NFE1Sigma(FlowModel):
    r"""NFE-1 with scalings only: DistMult's functions under the Wasserstein distance.

    .. math:: f(h, r, t) = -\||r_\sigma h_\sigma| - |t_\sigma|\|^2

    Rows: entity σ and relation σ, each ``(n,)``.
    """

    name = "nfe-1-sigma"
    entity_parts: ClassVar = ("sigma",)
    relation_parts: ClassVar = ("sigma",)
    f_entity = f_relation = Scaling
    x0, D = Normal(), SquaredWasserstein()
    card: ClassVar = Card(
        x0="𝒩(0, I)",
        f_entity="e_σ ⊙ x",
        f_relation="r_σ ⊙ x",
        D="-W₂²",
        entity="n",
        relation="n",
        symmetry=False,
        antisymmetry=True,
        inverse=False,
        composition=True,
        year=2023,
    )

    def score_relations(self, h: Tensor, t: Tensor, r: Tensor) -> Tensor:
        """Relations scale the scales' sizes."""
        return moved(self.encode_keys(h).K, self.encode_keys(t).K, r.abs(), r[:, :0])

    def encode_inverse_query(self, h: Tensor, r: Tensor) -> Query:
        """The scales, stretched once more."""
        gap = self.encode_keys(h).K
        return pulled_back(gap, r.abs() * gap, r)

    def extra_keys(self, t: Tensor) -> Tensor:
        """Squares of scales."""
        return squares(self.encode_keys(t).K, 1)


class NFEPoint(FlowModel):
    r"""NFE without uncertainty: the limit of NFE-1 at a point x0 (Eq. 13).

    .. math:: f(h, r, t) = -\|r_\sigma h_\mu + r_\mu - t_\mu\|^2

    Rows: entity μ and relation μ, σ, each ``(n,)``.
    """

    name = "nfe-point"
    entity_parts: ClassVar = ("mu",)
    relation_parts: ClassVar = ("mu", "sigma")
    f_entity = Translation
    f_relation = Affine
    x0, D = Point(0.0), SquaredWasserstein()
    card: ClassVar = Card(
        x0="0 ∈ ℝⁿ",
        f_entity="x + e_μ",
        f_relation="r_σ ⊙ x + r_μ",
        D="-‖· - ·‖²",
        entity="n",
        relation="2 * n",
        symmetry=True,
        antisymmetry=True,
        inverse=True,
        composition=True,
        year=2023,
    )

    def score_relations(self, h: Tensor, t: Tensor, r: Tensor) -> Tensor:
        """Relations are f_r itself."""
        mu, sigma = self.relation.split(r)
        return moved(self.encode_keys(h).K, self.encode_keys(t).K, sigma, mu)

    def encode_inverse_query(self, h: Tensor, r: Tensor) -> Query:
        """The location less the shift, stretched once more."""
        mu, sigma = self.relation.split(r)
        gap = self.encode_keys(h).K - mu
        return pulled_back(gap, sigma * gap, sigma)

    def extra_keys(self, t: Tensor) -> Tensor:
        """Squares of locations."""
        return squares(self.encode_keys(t).K, 1)
