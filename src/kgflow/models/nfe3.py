"""NFE-3: affine flows of a normal x0 under the Kullback-Leibler divergence."""

from typing import Literal

import torch
from pydantic import Field
from torch import Tensor
from torch.nn.functional import softplus

from kgflow.errors import KgflowError
from kgflow.flows import Affine, Flow, Keys, KullbackLeibler, Normal, Query
from kgflow.models.base import Model
from kgflow.models.card import Card, Variant, recommended
from kgflow.models.flow_model import FlowModel
from kgflow.models.options import ModelOptions, Option

FLOOR = 0.001
"""Smallest absolute value of an absolute scale."""


class NFE3Options(ModelOptions):
    """Options of NFE-3."""

    scale: Literal["absolute", "softplus"] = Field(
        "absolute",
        description="Scales: parameters bounded away from zero, or their softplus as in Table 5.",
    )


def bounded_affine(mu: Tensor, sigma: Tensor) -> Affine:
    """Return σ x + μ with |σ| bounded below by 0.001, and the sign of σ.

    The gradient is that of σ itself (straight-through), so that a scale can leave the bound again.

    Example:
        >>> bounded_affine(torch.zeros(3), torch.tensor([0.5, 0.0001, -0.0001])).sigma
        tensor([ 0.5000,  0.0010, -0.0010])
    """
    bounded = sigma.abs().clamp_min(FLOOR).copysign(sigma)
    return Affine(mu, sigma + (bounded - sigma).detach())


class NFE3Softplus(Model, register=False):
    r"""NFE-3 with softplus scales, the form behind the paper's Table 5.

    .. math:: f(h, r, t) = -KL\big(\mathcal N(r_\sigma h_\mu + r_\mu, s(r_\sigma) s(h_\sigma)),
              \mathcal N(t_\mu, s(t_\sigma))\big), \quad s(x) = \log(1 + e^x)

    The relation scales the mean by :math:`r_\sigma` and the standard deviation by
    :math:`s(r_\sigma)`, so it is no function of x0, and the model is no `FlowModel`.

    Embeddings: entity μ, σ and relation μ, σ, each ``(n,)``.

    Example:
        >>> NFE3Softplus(entities=3, relations=2, dim=4).entity.weight.shape
        torch.Size([3, 8])
    """

    Options = NFE3Options
    name = "nfe-3"
    entity_parts = ("mu", "sigma")
    relation_parts = ("mu", "sigma")
    no_dropout = ("sigma",)
    x0, D = Normal(), KullbackLeibler()
    settings = recommended(lr=0.05, dropout=0.0)
    card = Card(
        D="-KL(𝒩(r_σ ⊙ h_μ + r_μ, (s(r_σ) ⊙ s(h_σ))²), 𝒩(t_μ, s(t_σ)²))",
        entity="2*n",
        relation="2*n",
        year=2023,
        patterns={"antisymmetry"},
    )

    def encode_query(self, h: Tensor, r: Tensor) -> Query:
        (h_mu, h_sigma), (mu, sigma) = self.entity.split(h), self.relation.split(r)
        moved = Affine(sigma * h_mu + mu, softplus(sigma) * softplus(h_sigma))
        return self.D.encode_query(Flow(self.x0, moved))

    def encode_keys(self, t: Tensor) -> Keys:
        return self.D.encode_keys(self.flow(t))

    def flow(self, t: Tensor) -> Flow:
        mu, sigma = self.entity.split(t)
        return Flow(self.x0, Affine(mu, softplus(sigma)))


class NFE3(FlowModel):
    r"""Gaussians under the negative KL divergence (Eq. 15 with its sign corrected).

    .. math:: f(h, r, t) = -\sum_i \Big( \log\frac{|t_\sigma|}{|r_\sigma h_\sigma|}
              + \frac{(r_\sigma h_\sigma)^2 + (r_\sigma h_\mu + r_\mu - t_\mu)^2}{2 t_\sigma^2}
              - \frac12 \Big)_i

    Embeddings: entity μ, σ and relation μ, σ, each ``(n,)``; scales are initialized within 0.1 of
    1, or of ±1 for relations. The absolute value of a scale is at least 0.001, which keeps
    :math:`1/t_\sigma^2` finite. `NFE3Softplus` is the variant with softplus scales.

    Reference:
        Xiao, He, Cao: Knowledge Graph Embedding by Normalizing Flows, AAAI 2023.

    Example:
        >>> NFE3(entities=3, relations=2, dim=4).entity.weight.shape
        torch.Size([3, 8])
    """

    Options = NFE3Options
    options: NFE3Options
    name = "nfe-3"
    entity_parts = ("mu", "sigma")
    relation_parts = ("mu", "sigma")
    no_dropout = ("sigma",)
    x0, D = Normal(), KullbackLeibler()
    f_entity = f_relation = staticmethod(bounded_affine)
    settings = recommended(lr=0.05, dropout=0.0)
    card = Card("𝒩(0, I)", "e_σ ⊙ x + e_μ", "r_σ ⊙ x + r_μ", "-KL", "2*n", "2*n", 2023)
    variants = (
        Variant({"scale": "softplus"}, NFE3Softplus.card, NFE3Softplus.settings, NFE3Softplus),
    )

    def __init__(self, entities: int, relations: int, dim: int, **options: Option) -> None:
        super().__init__(entities, relations, dim, **options)
        if self.options.scale != "absolute":
            raise KgflowError("NFE3 has absolute scales: use NFE3Softplus, or kgflow.models.build")
        # Away from 0, where the divergence between all entities is huge. No gradient step crosses
        # 0, so the signs of relation scales, which decide what is mirrored, never change.
        for table in (self.entity, self.relation):
            table.split(table.weight.data)[1].add_(1)
        sigma = self.relation.split(self.relation.weight.data)[1]
        sigma.mul_(2 * torch.randint_like(sigma, 2) - 1)
