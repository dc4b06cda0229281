"""NFE-1 over the complex numbers."""

from collections.abc import Sequence

import torch
from torch import Tensor

from kgflow.flows import Flow, Keys, Query
from kgflow.models.card import Card
from kgflow.models.complex import ComplexNormalModel, modulus
from kgflow.models.distances import inverse_query, squares


class NFE1Complex(ComplexNormalModel):
    r"""Affine flows of the complex plane under the squared Wasserstein distance.

    .. math:: f(h, r, t) = -\|r_\sigma h_\mu + r_\mu - t_\mu\|^2
              - \||r_\sigma| h_\sigma - t_\sigma\|^2

    with complex :math:`h_\mu, r_\mu, r_\sigma` and :math:`h_\sigma \ge 0`. The standard complex
    normal x0, :math:`\mathbb E |x_0|^2 = 1`, is invariant under rotations, so the distribution of
    :math:`\sigma x_0 + \mu` depends on :math:`|\sigma|` and μ only, and the distance has the form
    of Eq. 10. A relation is a rotation, a scaling and a translation: without the scaling and the
    scales of entities it is RotatE with a translation.

    Embeddings: entity re, im and σ (its absolute value), relation re and im of r_σ and of r_μ, each
    ``(n/2,)``.

    Reference:
        Xiao, He, Cao: Knowledge Graph Embedding by Normalizing Flows, AAAI 2023, for the flows;
        Sun et al.: RotatE, ICLR 2019, for the rotations.

    Example:
        >>> NFE1Complex(entities=3, relations=2, dim=4).entity.weight.shape
        torch.Size([3, 6])
    """

    name = "nfe-1-complex"
    relation_parts = ("re", "im", "mu_re", "mu_im")
    is_squared_distance = True
    card = Card(
        "𝒞𝒩(0, I) on ℂⁿᐟ²", "e_σ ⊙ x + e_μ", "r_σ ⊙ x + r_μ, r_σ ∈ ℂ", "-W₂²", "3*n//2", "2*n", 2026
    )

    def encode_query(self, h: Tensor, r: Tensor) -> Query:
        """Encode Q = 2u, a = -|u|², with u the location and scale of f_r ∘ f_h."""
        c, d, p, q = self.relation.split(r)
        re, im, scale = self.rotated(h, c, d)
        u = torch.cat([re + p, im + q, scale], dim=-1)
        return Query(2 * u, -u.square().sum(-1))

    def encode_path(self, h: Tensor, path: Sequence[Tensor]) -> Query:
        """Location and scale of f_r ∘ f_h are again an entity embedding."""
        for r in path[:-1]:
            h = self.encode_query(h, r).Q / 2
        return self.encode_query(h, path[-1])

    def encode_keys(self, t: Tensor) -> Keys:
        """Encode K = u, b = -|u|², with u the location and scale of f_t."""
        u = self.normal(t)
        return Keys(u, -u.square().sum(-1))

    def composed(self, h: Tensor, r: Tensor) -> Flow:
        return self.flow(self.encode_query(h, r).Q / 2)

    def relation_flow(self, r: Tensor) -> Flow:
        c, d, p, q = self.relation.split(r)
        return self.flow(torch.cat([p, q, modulus(c, d)], dim=-1))

    def score_relations(self, h: Tensor, t: Tensor, r: Tensor) -> Tensor:
        """Expand the squared distances, as NFE-1 does, in real and imaginary parts."""
        (x, y, sigma), (u, v, rho) = self.entity.split(h), self.entity.split(t)
        c, d, p, q = self.relation.split(r)
        size = modulus(c, d)
        square = x.square() + y.square() + sigma.square()
        pairs = [square, x, y, x * u + y * v, x * v - y * u, (sigma * rho).abs(), u, v]
        rotated = [-2 * (c * p + d * q), -2 * (c * q - d * p)]
        relations = [-size.square(), *rotated, 2 * c, 2 * d, 2 * size, 2 * p, 2 * q]
        found = torch.cat(pairs, dim=1) @ torch.cat(relations, dim=1).T
        shift = (p.square() + q.square()).sum(1)
        return found + self.encode_keys(t).b[:, None] - shift

    def encode_inverse_query(self, h: Tensor, r: Tensor) -> Query:
        """Multiply t_μ - r_μ by the conjugate of r_σ, and t_σ by |r_σ|."""
        c, d, p, q = self.relation.split(r)
        x, y, sigma = self.entity.split(h)
        u, v, rho = x - p, y - q, sigma.abs()
        size = modulus(c, d)
        pulled = torch.cat([c * u + d * v, c * v - d * u, size * rho], dim=-1)
        return inverse_query(torch.cat([u, v, rho], dim=-1), pulled, size)

    def extra_keys(self, t: Tensor) -> Tensor:
        """Return squares of locations and scales, which a relation scales alike."""
        return squares(self.encode_keys(t).K, 3)
