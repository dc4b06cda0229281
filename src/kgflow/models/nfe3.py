"""NFE-3: affine flows of a normal x0 under the Kullback-Leibler divergence."""

import math
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn.functional import softplus

from kgflow.errors import KgflowError
from kgflow.flows import Affine, Flow, Keys, KullbackLeibler, Normal, Query
from kgflow.models.base import FlowModel, Model
from kgflow.models.card import Card


class NFE3(FlowModel):
    r"""Gaussians under the negative KL divergence (Eq. 15, with its sign put right).

    .. math:: f(h, r, t) = -\sum_i \Big( \log\frac{|t_\sigma|}{|r_\sigma h_\sigma|}
              + \frac{(r_\sigma h_\sigma)^2 + (r_\sigma h_\mu + r_\mu - t_\mu)^2}{2 t_\sigma^2}
              - \frac12 \Big)_i

    Rows: entity μ, σ and relation μ, σ, each ``(n,)``; scales start within 0.1 of 1, or of ±1 for
    relations. One of less than `floor` in size counts as ±`floor`, which keeps
    :math:`1/t_\sigma^2` finite.

    Args:
        entities: how many entities.
        relations: how many relations, with their inverse_relations.
        dim: n.
        floor: the smallest size of a scale.

    Example:
        >>> NFE3(entities=3, relations=2, dim=4).entity.weight.shape
        torch.Size([3, 8])
    """

    name = "nfe-3"
    entity_parts: ClassVar = ("mu", "sigma")
    relation_parts: ClassVar = ("mu", "sigma")
    nonzero_parts: ClassVar = ("sigma",)
    x0, D = Normal(), KullbackLeibler()
    settings: ClassVar = {"lr": 0.05, "dropout": 0.0}
    card: ClassVar = Card(
        x0="𝒩(0, I)",
        f_entity="e_σ ⊙ x + e_μ",
        f_relation="r_σ ⊙ x + r_μ",
        D="-KL",
        entity="2 * n",
        relation="2 * n",
        symmetry=True,
        antisymmetry=True,
        inverse=True,
        composition=True,
        year=2023,
    )

    def __init__(self, entities: int, relations: int, dim: int, floor: float = 0.001) -> None:
        super().__init__(entities, relations, dim)
        if not 0 < floor < math.inf:
            raise KgflowError(f"floor is the smallest size of a scale, above 0: {floor} is not")
        self.floor = floor
        # Away from 0, where the divergence of all from all would be huge. No step of training
        # leads through 0, so the signs of relations, which decide what is mirrored, are for good.
        for table in (self.entity, self.relation):
            table.split(table.weight.data)[1].add_(1)
        sigma = self.relation.split(self.relation.weight.data)[1]
        sigma.mul_(2 * torch.randint_like(sigma, 2) - 1)

    def f_entity(self, mu: Tensor, sigma: Tensor) -> Affine:
        """σ x + μ, the scale off zero."""
        return Affine(mu, off_zero(sigma, self.floor))

    def f_relation(self, mu: Tensor, sigma: Tensor) -> Affine:
        """σ x + μ, the scale off zero."""
        return Affine(mu, off_zero(sigma, self.floor))


class NFE3Softplus(Model):
    r"""NFE-3 with softplus scales, the form behind the paper's Table 5.

    .. math:: f(h, r, t) = -KL\big(\mathcal N(r_\sigma h_\mu + r_\mu, s(r_\sigma) s(h_\sigma)),
              \mathcal N(t_\mu, s(t_\sigma))\big), \quad s(x) = \log(1 + e^x)

    The relation scales the mean by :math:`r_\sigma` and the deviation by :math:`s(r_\sigma)`, so it
    is no single function of x0; that is why this is not a `FlowModel`.

    Rows: entity μ, σ and relation μ, σ, each ``(n,)``.

    Example:
        >>> NFE3Softplus(entities=3, relations=2, dim=4).entity.weight.shape
        torch.Size([3, 8])
    """

    name = "nfe-3-softplus"
    entity_parts: ClassVar = ("mu", "sigma")
    relation_parts: ClassVar = ("mu", "sigma")
    nonzero_parts: ClassVar = ("sigma",)
    x0, D = Normal(), KullbackLeibler()
    settings: ClassVar = {"lr": 0.05, "dropout": 0.0}
    card: ClassVar = Card(
        x0="–",
        f_entity="–",
        f_relation="–",
        D="-KL(𝒩(r_σ ⊙ h_μ + r_μ, (s(r_σ) ⊙ s(h_σ))²), 𝒩(t_μ, s(t_σ)²))",
        entity="2 * n",
        relation="2 * n",
        symmetry=False,
        antisymmetry=True,
        inverse=False,
        composition=False,
        year=2023,
    )

    def encode_query(self, h: Tensor, r: Tensor) -> Query:
        """KL's left side for N(r_σ h_μ + r_μ, s(r_σ) s(h_σ))."""
        (h_mu, h_sigma), (mu, sigma) = self.entity.split(h), self.relation.split(r)
        moved = Affine(sigma * h_mu + mu, softplus(sigma) * softplus(h_sigma))
        return self.D.encode_query(Flow(self.x0, moved))

    def encode_keys(self, t: Tensor) -> Keys:
        """KL's right side for N(t_μ, s(t_σ))."""
        return self.D.encode_keys(self.flow(t))

    def flow(self, t: Tensor) -> Flow:
        """The random vector N(μ, s(σ)) of entity rows ``(..., w)``."""
        mu, sigma = self.entity.split(t)
        return Flow(self.x0, Affine(mu, softplus(sigma)))


def off_zero(sigma: Tensor, floor: float) -> Tensor:
    """The scale, moved out to ±floor where it is smaller.

    The gradient passes as if it had not been moved, so that a scale can leave the floor again.

    Example:
        >>> off_zero(torch.tensor([0.5, 0.001, -0.001]), 0.1)
        tensor([ 0.5000,  0.1000, -0.1000])
    """
    moved = sigma.abs().clamp_min(floor).copysign(sigma)
    return sigma + (moved - sigma).detach()
