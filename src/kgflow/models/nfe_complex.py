"""NFE-1 over the complex numbers: affine flows that turn."""

from typing import ClassVar

import torch
from torch import Tensor

from kgflow.flows import Flow, Keys, Query
from kgflow.models.backwards import pulled_back, squares
from kgflow.models.base import Model
from kgflow.models.card import Card
from kgflow.models.planar import modulus, round_flow


class NFE1Complex(Model):
    r"""Affine flows of the complex plane, squared Wasserstein distance.

    .. math:: f(h, r, t) = -\|r_\sigma h_\mu + r_\mu - t_\mu\|^2
              - \||r_\sigma| h_\sigma - t_\sigma\|^2

    with complex :math:`h_\mu, r_\mu, r_\sigma` and :math:`h_\sigma \ge 0`. The standard complex
    normal x0, :math:`\mathbb E |x_0|^2 = 1`, looks the same after every turn, so of a function
    :math:`\sigma x + \mu` the law knows :math:`|\sigma|` only. Two such laws are scaled and moved
    copies of one another, and the distance has the form of Eq. 10. A relation is a turn, a stretch
    and a translation: without the stretch and the scales it is RotatE with a translation.

    Rows: entity re, im, σ (its absolute value counts) and relation re, im of r_σ and of r_μ, each
    ``(n/2,)``.

    Args:
        entities: how many entities.
        relations: how many relations, with their inverse_relations.
        dim: n, twice the number of complex coordinates.

    Reference:
        Xiao, He, Cao: Knowledge Graph Embedding by Normalizing Flows, AAAI 2023, for the flows;
        Sun et al.: RotatE, ICLR 2019, for the turns.

    Example:
        >>> NFE1Complex(entities=3, relations=2, dim=4).entity.weight.shape
        torch.Size([3, 6])
    """

    name = "nfe-1-complex"
    multiple: ClassVar = 2
    share: ClassVar = 2
    entity_parts: ClassVar = ("re", "im", "sigma")
    relation_parts: ClassVar = ("re", "im", "mu_re", "mu_im")
    card: ClassVar = Card(
        x0="𝒞𝒩(0, I) on ℂⁿᐟ²",
        f_entity="e_σ ⊙ x + e_μ",
        f_relation="r_σ ⊙ x + r_μ, r_σ ∈ ℂ",
        D="-W₂²",
        entity="3 * n // 2",
        relation="2 * n",
        symmetry=True,
        antisymmetry=True,
        inverse=True,
        composition=True,
        year=2026,
    )

    def encode_query(self, h: Tensor, r: Tensor) -> Query:
        """Q = 2u, a = -|u|², with u the location and the size of f_r ∘ f_h."""
        (x, y, sigma), (c, d, p, q) = self.entity.split(h), self.relation.split(r)
        scale = modulus(c, d) * sigma.abs()
        u = torch.cat([c * x - d * y + p, d * x + c * y + q, scale], dim=-1)
        return Query(2 * u, -u.square().sum(-1))

    def encode_keys(self, t: Tensor) -> Keys:
        """K = u, b = -|u|², with u the location and the size of f_t."""
        x, y, sigma = self.entity.split(t)
        u = torch.cat([x, y, sigma.abs()], dim=-1)
        return Keys(u, -u.square().sum(-1))

    def composed(self, h: Tensor, r: Tensor) -> Flow:
        """A location and a size as entities have them."""
        return self.flow(self.encode_query(h, r).Q / 2)

    def relation_flow(self, r: Tensor) -> Flow:
        """As an entity's flow of its location and the size of its stretch."""
        c, d, p, q = self.relation.split(r)
        return self.flow(torch.cat([p, q, modulus(c, d)], dim=-1))

    def score_relations(self, h: Tensor, t: Tensor, r: Tensor) -> Tensor:
        """As NFE-1 does it, with complex numbers written out."""
        (x, y, sigma), (u, v, rho) = self.entity.split(h), self.entity.split(t)
        c, d, p, q = self.relation.split(r)
        size = modulus(c, d)
        square = x.square() + y.square() + sigma.square()
        pairs = [square, x, y, x * u + y * v, x * v - y * u, (sigma * rho).abs(), u, v]
        turned = [-2 * (c * p + d * q), -2 * (c * q - d * p)]
        relations = [-size.square(), *turned, 2 * c, 2 * d, 2 * size, 2 * p, 2 * q]
        found = torch.cat(pairs, dim=1) @ torch.cat(relations, dim=1).T
        shift = (p.square() + q.square()).sum(1)
        return found + self.encode_keys(t).b[:, None] - shift

    def encode_inverse_query(self, h: Tensor, r: Tensor) -> Query:
        """The location less the shift is turned back and stretched once more, the size as well."""
        c, d, p, q = self.relation.split(r)
        x, y, sigma = self.entity.split(h)
        u, v, rho = x - p, y - q, sigma.abs()
        size = modulus(c, d)
        pulled = torch.cat([c * u + d * v, c * v - d * u, size * rho], dim=-1)
        return pulled_back(torch.cat([u, v, rho], dim=-1), pulled, size)

    def extra_keys(self, t: Tensor) -> Tensor:
        """Squares of locations and sizes, which a relation stretches alike."""
        return squares(self.encode_keys(t).K, 3)

    def flow(self, t: Tensor) -> Flow:
        """Real and imaginary parts as n real coordinates, of an x0 with half of the variance."""
        return round_flow(*self.entity.split(t))
