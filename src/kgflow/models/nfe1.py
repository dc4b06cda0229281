"""NFE-1: affine flows under the Wasserstein distance."""

from typing import ClassVar

import torch
from torch import Tensor

from kgflow.flows import Affine, Query, SquaredWasserstein
from kgflow.models.backwards import pulled_back, squares
from kgflow.models.card import Card
from kgflow.models.score_relations import moved
from kgflow.models.uncertain import UncertainModel


class NFE1(UncertainModel):
    r"""Affine flows, squared Wasserstein distance (Eq. 10).

    .. math:: f(h, r, t) = -\|r_\sigma h_\mu + r_\mu - t_\mu\|^2
              - \tfrac1{k^2} \||r_\sigma h_\sigma| - |t_\sigma|\|^2

    Rows: entity μ, σ and relation μ, σ, each ``(n,)``.

    Args:
        entities: how many entities.
        relations: how many relations, with their inverse_relations.
        dim: n.
        x0: normal, uniform or another: the scores are the same, densities and entropies are not.
        uncertainty: the paper's 1/k² (Proposition 5, Table 2), how much the scales count.

    Reference:
        Xiao, He, Cao: Knowledge Graph Embedding by Normalizing Flows, AAAI 2023.

    Example:
        >>> import torch
        >>> model = NFE1(entities=3, relations=2, dim=4)
        >>> model.score(torch.tensor([0]), torch.tensor([1]), torch.tensor([2])).item() < 0
        True
    """

    name = "nfe-1"
    entity_parts: ClassVar = ("mu", "sigma")
    relation_parts: ClassVar = ("mu", "sigma")
    f_entity = f_relation = Affine
    D = SquaredWasserstein()
    card: ClassVar = Card(
        x0="𝒩(0, I)",
        f_entity="e_σ ⊙ x + e_μ",
        f_relation="r_σ ⊙ x + r_μ",
        D="-W₂²",
        entity="2 * n",
        relation="2 * n",
        symmetry=True,
        antisymmetry=True,
        inverse=True,
        composition=True,
        year=2023,
    )

    def score_relations(self, h: Tensor, t: Tensor, r: Tensor) -> Tensor:
        """Relations move locations by f_r itself, and scales by its own scale's size."""
        mu, sigma = self.relation.split(r)
        return moved(
            self.encode_keys(h).K,
            self.encode_keys(t).K,
            torch.cat([sigma, sigma.abs()], dim=-1),
            mu,
        )

    def encode_inverse_query(self, h: Tensor, r: Tensor) -> Query:
        """The location less the shift, and the scale, each stretched once more."""
        mu, sigma = self.relation.split(r)
        gap = self.encode_keys(h).K - torch.cat([mu, torch.zeros_like(mu)], dim=-1)
        return pulled_back(gap, torch.cat([sigma, sigma.abs()], dim=-1) * gap, sigma)

    def extra_keys(self, t: Tensor) -> Tensor:
        """Squares of locations and scales, which a relation stretches alike."""
        return squares(self.encode_keys(t).K, 2)
