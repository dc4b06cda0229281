"""NFE-1 over the quaternions: affine flows that turn in four dimensions."""

from typing import ClassVar

import torch
from torch import Tensor

from kgflow.flows import Affine, Flow, Keys, Normal, Query, Scaled
from kgflow.models.backwards import pulled_back, squares
from kgflow.models.base import Model
from kgflow.models.card import Card
from kgflow.models.quate import hamilton


class NFE1Quaternion(Model):
    r"""Affine flows of the quaternions, squared Wasserstein distance.

    .. math:: f(h, r, t) = -\|h_\mu \otimes r_\sigma + r_\mu - t_\mu\|^2
              - \||r_\sigma| h_\sigma - t_\sigma\|^2

    with quaternions :math:`h_\mu, r_\mu, r_\sigma` and :math:`h_\sigma \ge 0`: NFE-1 over the
    complex numbers with two further dimensions to turn in. A product with a quaternion turns and
    stretches all directions alike, and the standard normal x0 on them,
    :math:`\mathbb E |x_0|^2 = 1`, looks the same after every turn; so the law of
    :math:`f_e(x_0) = e_\sigma x_0 + e_\mu` is known by :math:`e_\mu` and :math:`|e_\sigma|`.
    Turns of four dimensions do not commute: relations may give other results in another order.

    Rows: entity 1, i, j, k of its location and σ (its absolute value counts); relation 1, i, j, k
    of r_σ and of r_μ; each ``(n/4,)``.

    Args:
        entities: how many entities.
        relations: how many relations, with their inverse_relations.
        dim: n, four times the number of quaternions.

    Reference:
        Xiao, He, Cao: Knowledge Graph Embedding by Normalizing Flows, AAAI 2023, for the flows;
        Zhang et al.: Quaternion Knowledge Graph Embeddings, NeurIPS 2019, for the turns.

    Example:
        >>> NFE1Quaternion(entities=3, relations=2, dim=8).entity.weight.shape
        torch.Size([3, 10])
    """

    name = "nfe-1-quaternion"
    multiple: ClassVar = 4
    share: ClassVar = 4
    entity_parts: ClassVar = ("1", "i", "j", "k", "sigma")
    relation_parts: ClassVar = ("1", "i", "j", "k", "mu_1", "mu_i", "mu_j", "mu_k")
    card: ClassVar = Card(
        x0="𝒩(0, I/4) on ℍⁿᐟ⁴",
        f_entity="e_σ ⊙ x + e_μ",
        f_relation="x ⊗ r_σ + r_μ",
        D="-W₂²",
        entity="5 * n // 4",
        relation="2 * n",
        symmetry=True,
        antisymmetry=True,
        inverse=True,
        composition=True,
        year=2026,
    )

    def encode_query(self, h: Tensor, r: Tensor) -> Query:
        """Q = 2u, a = -|u|², with u the location and the size of f_r ∘ f_h."""
        sigma, (turn, shift) = self.entity.split(h)[-1], self._relation(r)
        place = h[..., : self.dim].unflatten(-1, (4, -1))
        moved = hamilton(place, turn) + shift
        u = torch.cat([moved.flatten(-2), _length(turn) * sigma.abs()], dim=-1)
        return Query(2 * u, -u.square().sum(-1))

    def encode_keys(self, t: Tensor) -> Keys:
        """K = u, b = -|u|², with u the location and the size of f_t."""
        *place, sigma = self.entity.split(t)
        u = torch.cat([*place, sigma.abs()], dim=-1)
        return Keys(u, -u.square().sum(-1))

    def encode_inverse_query(self, h: Tensor, r: Tensor) -> Query:
        """The location less the shift is turned back and stretched once more, the size as well."""
        sigma, (turn, shift) = self.entity.split(h)[-1].abs(), self._relation(r)
        size, gap = _length(turn), h[..., : self.dim].unflatten(-1, (4, -1)) - shift
        back = hamilton(gap, torch.cat([turn[..., :1, :], -turn[..., 1:, :]], dim=-2))
        pulled = torch.cat([back.flatten(-2), size * sigma], dim=-1)
        return pulled_back(torch.cat([gap.flatten(-2), sigma], dim=-1), pulled, size)

    def extra_keys(self, t: Tensor) -> Tensor:
        """Squares of locations and sizes, which a relation stretches alike."""
        return squares(self.encode_keys(t).K, 5)

    def flow(self, t: Tensor) -> Flow:
        """All parts as n real coordinates, of half of a standard normal x0."""
        *place, sigma = self.entity.split(t)
        f = Affine(torch.cat(place, dim=-1), torch.cat([sigma] * 4, dim=-1))
        return Flow(Scaled(Normal(), 0.5), f)

    def relation_flow(self, r: Tensor) -> Flow:
        """As an entity's flow of its location and the size of its stretch."""
        turn, shift = self._relation(r)
        return self.flow(torch.cat([shift.flatten(-2), _length(turn)], dim=-1))

    def composed(self, h: Tensor, r: Tensor) -> Flow:
        """A location and a size as entities have them."""
        return self.flow(self.encode_query(h, r).Q / 2)

    def _relation(self, r: Tensor) -> tuple[Tensor, Tensor]:
        """r_σ and r_μ, each ``(..., 4, n/4)``."""
        turn, shift = self.relation.plain(r).unflatten(-1, (2, 4, -1)).unbind(-3)
        return turn, shift


def _length(q: Tensor) -> Tensor:
    # Where a stretch is zero its size has no gradient; one this near has, and is as good.
    return (q.square().sum(-2) + 1e-30).sqrt()
