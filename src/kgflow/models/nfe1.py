"""NFE-1: affine flows under the Wasserstein distance, and its ablations."""

from abc import abstractmethod

import torch
from torch import Tensor
from torch.nn.functional import pad

from kgflow.flows import Affine, Normal, Point, Query, Scaling, SquaredWasserstein, Translation
from kgflow.models.card import ALL_PATTERNS, Card
from kgflow.models.distances import affine_distances, inverse_query, squares
from kgflow.models.flow_model import FlowModel, RandomFlowModel


class AffineFlowModel(FlowModel):
    """Flow model under -|q - k|² whose relations act on key vectors by a scale and a shift."""

    @abstractmethod
    def scale_and_shift(self, r: Tensor) -> tuple[Tensor, Tensor]:
        """Return the scale ``(B, m)`` of r, and its shift ``(B, k)`` of the first k coordinates."""

    def score_relations(self, h: Tensor, t: Tensor, r: Tensor) -> Tensor:
        h, t = self.encode_keys(h).K, self.encode_keys(t).K
        return affine_distances(h, t, *self.scale_and_shift(r))

    def encode_inverse_query(self, h: Tensor, r: Tensor) -> Query:
        """Scale t - shift, the transpose of f_r's linear part."""
        K, (scale, shift) = self.encode_keys(h).K, self.scale_and_shift(r)
        gap = K - pad(shift, (0, K.shape[1] - shift.shape[1]))
        return inverse_query(gap, scale * gap, scale[:, : self.dim])

    def extra_keys(self, t: Tensor) -> Tensor:
        """Return squares of locations and scales, which a relation scales alike."""
        return squares(self.encode_keys(t).K, len(self.entity_parts))


class NFE1(AffineFlowModel, RandomFlowModel):
    r"""Affine flows under the squared Wasserstein distance (Eq. 10).

    .. math:: f(h, r, t) = -|r_\sigma h_\mu + r_\mu - t_\mu|^2
              - \tfrac1{k^2} ||r_\sigma h_\sigma| - |t_\sigma||^2

    Embeddings: entity μ, σ and relation μ, σ, each ``(n,)``.

    The scores do not depend on the choice of x0; densities and entropies do.

    Reference:
        Xiao, He, Cao: Knowledge Graph Embedding by Normalizing Flows, AAAI 2023.

    Example:
        >>> import torch
        >>> model = NFE1(entities=3, relations=2, dim=4)
        >>> model.score(torch.tensor([0]), torch.tensor([1]), torch.tensor([2])).item() < 0
        True
    """

    name = "nfe-1"
    entity_parts = ("mu", "sigma")
    relation_parts = ("mu", "sigma")
    f_entity = f_relation = Affine
    D = SquaredWasserstein()
    card = Card("𝒩(0, I)", "e_σ ⊙ x + e_μ", "r_σ ⊙ x + r_μ", "-W₂²", "2*n", "2*n", 2023)

    def scale_and_shift(self, r: Tensor) -> tuple[Tensor, Tensor]:
        """Scale locations by r_σ and scales by |r_σ|; shift locations by r_μ."""
        mu, sigma = self.relation.split(r)
        return torch.cat([sigma, sigma.abs()], dim=-1), mu


class NFE1Mu(FlowModel):
    r"""NFE-1 with translations only: TransE with the squared Euclidean distance.

    .. math:: f(h, r, t) = -|h_\mu + r_\mu - t_\mu|^2

    Embeddings: entity μ and relation μ, each ``(n,)``.
    """

    name = "nfe-1-mu"
    entity_parts = ("mu",)
    relation_parts = ("mu",)
    f_entity = f_relation = Translation
    x0, D = Normal(), SquaredWasserstein()
    card = Card(
        "𝒩(0, I)", "x + e_μ", "x + r_μ", "-W₂²", "n", "n", 2023, ALL_PATTERNS - {"symmetry"}
    )

    def score_relations(self, h: Tensor, t: Tensor, r: Tensor) -> Tensor:
        return affine_distances(self.encode_keys(h).K, self.encode_keys(t).K, torch.ones_like(r), r)

    def inverse_relation(self, r: Tensor) -> Tensor:
        return -r


class NFE1Sigma(AffineFlowModel):
    r"""NFE-1 with scalings only: DistMult's functions under the Wasserstein distance.

    .. math:: f(h, r, t) = -||r_\sigma h_\sigma| - |t_\sigma||^2

    Embeddings: entity σ and relation σ, each ``(n,)``.
    """

    name = "nfe-1-sigma"
    entity_parts = ("sigma",)
    relation_parts = ("sigma",)
    f_entity = f_relation = Scaling
    x0, D = Normal(), SquaredWasserstein()
    card = Card(
        "𝒩(0, I)", "e_σ ⊙ x", "r_σ ⊙ x", "-W₂²", "n", "n", 2023, {"antisymmetry", "composition"}
    )

    def scale_and_shift(self, r: Tensor) -> tuple[Tensor, Tensor]:
        return r.abs(), r[:, :0]


class NFEPoint(AffineFlowModel):
    r"""NFE without uncertainty: NFE-1 of a point x0 (Eq. 13).

    .. math:: f(h, r, t) = -|r_\sigma h_\mu + r_\mu - t_\mu|^2

    Embeddings: entity μ and relation μ, σ, each ``(n,)``.
    """

    name = "nfe-point"
    entity_parts = ("mu",)
    relation_parts = ("mu", "sigma")
    f_entity = Translation
    f_relation = Affine
    x0, D = Point(0.0), SquaredWasserstein()
    card = Card("0 ∈ ℝⁿ", "x + e_μ", "r_σ ⊙ x + r_μ", "-‖· - ·‖²", "n", "2*n", 2023)

    def scale_and_shift(self, r: Tensor) -> tuple[Tensor, Tensor]:
        mu, sigma = self.relation.split(r)
        return sigma, mu
