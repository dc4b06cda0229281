"""Quaternion models: QuatE and NFE-1 over the quaternions."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import normalize

from kgflow.flows import Affine, Flow, Keys, Normal, Query, Scaled
from kgflow.models.base import Model
from kgflow.models.card import Card, recommended
from kgflow.models.distances import inverse_query, squares


class QuatE(Model):
    r"""Hamilton product with unit quaternions, under the inner product.

    .. math:: f(h, r, t) = \sum_i \Big\langle h_i \otimes \frac{r_i}{|r_i|}, t_i \Big\rangle

    Embeddings: entity and relation 1, i, j, k, each ``(n/4,)``.

    Reference:
        Zhang et al.: Quaternion Knowledge Graph Embeddings, NeurIPS 2019.

    Example:
        >>> QuatE(entities=3, relations=2, dim=8).entity.weight.shape
        torch.Size([3, 8])
    """

    name = "quate"
    dim_multiple = 4
    reals_per_coordinate = 4
    entity_parts = ("1", "i", "j", "k")
    relation_parts = ("1", "i", "j", "k")
    settings = recommended(margin=-4.0, epochs=30, decay=0.95)
    card = Card("1 ∈ ℍⁿᐟ⁴", "x ⊗ e", "x ⊗ r, |r| = 1", "⟨·, ·⟩", "n", "n", 2019)

    def encode_query(self, h: Tensor, r: Tensor) -> Query:
        """Encode Q = h ⊗ r/|r|, a = 0."""
        unit = normalize(r.unflatten(-1, (4, -1)), dim=-2)
        return Query(hamilton(h.unflatten(-1, (4, -1)), unit).flatten(-2), h.new_zeros(len(h)))

    def encode_path(self, h: Tensor, path: Sequence[Tensor]) -> Query:
        """The product h ⊗ r/|r| is again an entity embedding."""
        for r in path[:-1]:
            h = self.encode_query(h, r).Q
        return self.encode_query(h, path[-1])

    def encode_keys(self, t: Tensor) -> Keys:
        return Keys(t, t.new_zeros(len(t)))

    def inverse_relation(self, r: Tensor) -> Tensor:
        real, *imaginary = self.relation.split(r)
        return torch.cat([real, *(-part for part in imaginary)], dim=-1)


class NFE1Quaternion(Model):
    r"""Affine flows of the quaternions under the squared Wasserstein distance.

    .. math:: f(h, r, t) = -\|h_\mu \otimes r_\sigma + r_\mu - t_\mu\|^2
              - \||r_\sigma| h_\sigma - t_\sigma\|^2

    with quaternions :math:`h_\mu, r_\mu, r_\sigma` and :math:`h_\sigma \ge 0`. The product with a
    quaternion rotates and scales all directions alike, and the standard normal x0 on the
    quaternions, :math:`\mathbb E |x_0|^2 = 1`, is invariant under rotations; so the distribution
    of :math:`f_e(x_0) = e_\sigma x_0 + e_\mu` is given by :math:`e_\mu` and
    :math:`|e_\sigma|`. Rotations in four dimensions do not commute, so neither do relations.

    Embeddings: entity 1, i, j, k of its location and σ (its absolute value); relation 1, i, j, k of
    r_σ and of r_μ; each ``(n/4,)``.

    Reference:
        Xiao, He, Cao: Knowledge Graph Embedding by Normalizing Flows, AAAI 2023, for the flows;
        Zhang et al.: Quaternion Knowledge Graph Embeddings, NeurIPS 2019, for the rotations.

    Example:
        >>> NFE1Quaternion(entities=3, relations=2, dim=8).entity.weight.shape
        torch.Size([3, 10])
    """

    name = "nfe-1-quaternion"
    dim_multiple = 4
    reals_per_coordinate = 4
    entity_parts = ("1", "i", "j", "k", "sigma")
    relation_parts = ("1", "i", "j", "k", "mu_1", "mu_i", "mu_j", "mu_k")
    is_squared_distance = True
    card = Card(
        "𝒩(0, I/4) on ℍⁿᐟ⁴", "e_σ ⊙ x + e_μ", "x ⊗ r_σ + r_μ", "-W₂²", "5*n//4", "2*n", 2026
    )

    def encode_query(self, h: Tensor, r: Tensor) -> Query:
        """Encode Q = 2u, a = -|u|², with u the location and scale of f_r ∘ f_h."""
        sigma, (sigma_r, shift) = self.entity.split(h)[-1], self._relation(r)
        location = h[..., : self.dim].unflatten(-1, (4, -1))
        moved = hamilton(location, sigma_r) + shift
        u = torch.cat([moved.flatten(-2), _length(sigma_r) * sigma.abs()], dim=-1)
        return Query(2 * u, -u.square().sum(-1))

    def encode_path(self, h: Tensor, path: Sequence[Tensor]) -> Query:
        """Location and scale of f_r ∘ f_h are again an entity embedding."""
        for r in path[:-1]:
            h = self.encode_query(h, r).Q / 2
        return self.encode_query(h, path[-1])

    def encode_keys(self, t: Tensor) -> Keys:
        """Encode K = u, b = -|u|², with u the location and scale of f_t."""
        *location, sigma = self.entity.split(t)
        u = torch.cat([*location, sigma.abs()], dim=-1)
        return Keys(u, -u.square().sum(-1))

    def encode_inverse_query(self, h: Tensor, r: Tensor) -> Query:
        """Multiply t_μ - r_μ by the conjugate of r_σ, and t_σ by |r_σ|."""
        sigma, (sigma_r, shift) = self.entity.split(h)[-1].abs(), self._relation(r)
        size, gap = _length(sigma_r), h[..., : self.dim].unflatten(-1, (4, -1)) - shift
        back = hamilton(gap, torch.cat([sigma_r[..., :1, :], -sigma_r[..., 1:, :]], dim=-2))
        pulled = torch.cat([back.flatten(-2), size * sigma], dim=-1)
        return inverse_query(torch.cat([gap.flatten(-2), sigma], dim=-1), pulled, size)

    def extra_keys(self, t: Tensor) -> Tensor:
        """Return squares of locations and scales, which a relation scales alike."""
        return squares(self.encode_keys(t).K, 5)

    def flow(self, t: Tensor) -> Flow:
        """Return the flow of n real coordinates, of a normal x0 with variance 1/4."""
        *location, sigma = self.entity.split(t)
        f = Affine(torch.cat(location, dim=-1), torch.cat([sigma] * 4, dim=-1))
        return Flow(Scaled(Normal(), 0.5), f)

    def relation_flow(self, r: Tensor) -> Flow:
        sigma_r, shift = self._relation(r)
        return self.flow(torch.cat([shift.flatten(-2), _length(sigma_r)], dim=-1))

    def composed(self, h: Tensor, r: Tensor) -> Flow:
        return self.flow(self.encode_query(h, r).Q / 2)

    def _relation(self, r: Tensor) -> tuple[Tensor, Tensor]:
        """Return r_σ and r_μ, each ``(..., 4, n/4)``."""
        sigma_r, shift = self.relation.without_bias(r).unflatten(-1, (2, 4, -1)).unbind(-3)
        return sigma_r, shift


def hamilton(p: Tensor, q: Tensor) -> Tensor:
    r"""Return the Hamilton product :math:`p \otimes q` of quaternions, each ``(..., 4, m)``.

    Example:
        >>> i, j = torch.eye(4)[[1, 2], :, None]
        >>> hamilton(i, j).flatten()  # k
        tensor([0., 0., 0., 1.])
    """
    (a, b, c, d), (w, x, y, z) = p.unbind(-2), q.unbind(-2)
    parts = (
        a * w - b * x - c * y - d * z,
        a * x + b * w + c * z - d * y,
        a * y - b * z + c * w + d * x,
        a * z + b * y - c * x + d * w,
    )
    return torch.stack(parts, dim=-2)


def _length(q: Tensor) -> Tensor:
    # A tiny number is added, since the norm has no gradient at zero.
    return (q.square().sum(-2) + 1e-30).sqrt()
