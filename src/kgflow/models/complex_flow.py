"""ComplEx with a random x0: flows that turn and stretch, and how well they can be paired."""

from typing import ClassVar

import torch
from torch import Tensor

from kgflow.flows import Flow, Keys, Query
from kgflow.models.base import Model
from kgflow.models.card import Card
from kgflow.models.planar import conjugate, modulus, round_flow


class ComplExFlow(Model):
    r"""Entities as normal laws on the complex plane, relations that turn and stretch them.

    .. math:: f(h, r, t) = \mathrm{Re} \langle r h_\mu, t_\mu \rangle
              + \langle |r| h_\sigma, t_\sigma \rangle
              = \max \mathbb E\, \mathrm{Re} \langle f_r \circ f_h(x_0), f_t(x_0) \rangle

    over all joint laws of the two sides, with :math:`f_e(x) = e_\sigma x + e_\mu`,
    :math:`f_r(x) = r x`, complex :math:`e_\mu, r` and :math:`e_\sigma \ge 0`. D is what the squared
    Wasserstein distance leaves without the sizes of both sides, as an inner product is of a
    distance: :math:`W_2^2(p, q) = \mathbb E |p|^2 + \mathbb E |q|^2 - 2 D(p, q)`. With scales of
    zero, a point x0, it is ComplEx.

    Rows: entity re, im, σ (its absolute value counts) and relation re, im, each ``(n/2,)``.

    Args:
        entities: how many entities.
        relations: how many relations, with their inverse_relations.
        dim: n, twice the number of complex coordinates.

    Reference:
        Xiao, He, Cao: Knowledge Graph Embedding by Normalizing Flows, AAAI 2023, for the flows;
        Trouillon et al.: Complex Embeddings for Simple Link Prediction, ICML 2016.

    Example:
        >>> model = ComplExFlow(entities=3, relations=2, dim=4)
        >>> model.entity.weight.shape, model.relation.weight.shape
        (torch.Size([3, 6]), torch.Size([2, 4]))
    """

    name = "complex-flow"
    multiple: ClassVar = 2
    share: ClassVar = 2
    entity_parts: ClassVar = ("re", "im", "sigma")
    relation_parts: ClassVar = ("re", "im")
    settings: ClassVar = {"margin": -4.0, "dropout": 0.1, "lr": 0.01, "epochs": 30, "decay": 0.95}
    card: ClassVar = Card(
        x0="𝒞𝒩(0, I) on ℂⁿᐟ²",
        f_entity="e_σ ⊙ x + e_μ",
        f_relation="r ⊙ x, r ∈ ℂ",
        D="max 𝔼 Re⟨·, ·⟩",
        entity="3 * n // 2",
        relation="n",
        symmetry=True,
        antisymmetry=True,
        inverse=True,
        composition=True,
        year=2026,
    )

    def encode_query(self, h: Tensor, r: Tensor) -> Query:
        """Q = u, a = 0, with u the location and the size of f_r ∘ f_h."""
        (x, y, sigma), (c, d) = self.entity.split(h), self.relation.split(r)
        u = torch.cat([c * x - d * y, d * x + c * y, modulus(c, d) * sigma.abs()], dim=-1)
        return Query(u, u.new_zeros(u.shape[:-1]))

    def encode_keys(self, t: Tensor) -> Keys:
        """K = u, b = 0, with u the location and the size of f_t."""
        x, y, sigma = self.entity.split(t)
        u = torch.cat([x, y, sigma.abs()], dim=-1)
        return Keys(u, u.new_zeros(u.shape[:-1]))

    def score_relations(self, h: Tensor, t: Tensor, r: Tensor) -> Tensor:
        """Bilinear in the pair and the relation."""
        (x, y, sigma), (u, v, rho) = self.entity.split(h), self.entity.split(t)
        c, d = self.relation.split(r)
        pairs = torch.cat([x * u + y * v, x * v - y * u, (sigma * rho).abs()], dim=1)
        return pairs @ torch.cat([c, d, modulus(c, d)], dim=1).T

    def inverse_relation(self, r: Tensor) -> Tensor:
        """The conjugates."""
        return conjugate(r)

    def flow(self, t: Tensor) -> Flow:
        """Real and imaginary parts as n real coordinates, of an x0 with half of the variance."""
        return round_flow(*self.entity.split(t))

    def relation_flow(self, r: Tensor) -> Flow:
        """Around zero, of the size of its stretch."""
        c, d = self.relation.split(r)
        return round_flow(torch.zeros_like(c), torch.zeros_like(c), modulus(c, d))

    def composed(self, h: Tensor, r: Tensor) -> Flow:
        """A location and a size as entities have them."""
        return self.flow(self.encode_query(h, r).Q)
