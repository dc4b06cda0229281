"""KG2E: entities and relations as Gaussians, h - t against r."""

import math
from typing import ClassVar

import torch
from torch import Tensor

from kgflow.flows import Keys, Query
from kgflow.models.card import Card
from kgflow.models.gaussian import GaussianModel, variance


class KG2EKullbackLeibler(GaussianModel):
    r"""Gaussians, the Kullback-Leibler divergence of h - t from r.

    .. math:: f(h, r, t) = -KL(\mathcal N(h_\mu - t_\mu, h_\sigma^2 + t_\sigma^2),
              \mathcal N(r_\mu, r_\sigma^2)) = -\tfrac12 \sum_i \Big(
              \frac{h_\sigma^2 + t_\sigma^2 + (h_\mu - t_\mu - r_\mu)^2}{r_\sigma^2} - 1
              - \log\frac{h_\sigma^2 + t_\sigma^2}{r_\sigma^2} \Big)_i

    All but the logarithm of the sum of variances is a matrix product. Variances lie between 0.05
    and 5 as published (smoothly, see `variance`); means are free, where the paper bounds their
    norm by 1.

    Rows: entity μ, s and relation μ, s, each ``(n,)``.

    Reference:
        He et al.: Learning to Represent Knowledge Graphs with Gaussian Embedding, CIKM 2015.

    Example:
        >>> KG2EKullbackLeibler(entities=3, relations=2, dim=4).entity.weight.shape
        torch.Size([3, 8])
    """

    name = "kg2e-kl"
    entity_parts: ClassVar = ("mu", "spread")
    relation_parts: ClassVar = ("mu", "spread")
    nonzero_parts: ClassVar = ("spread",)
    settings: ClassVar = {"dim": 32, "epochs": 30}
    card: ClassVar = Card(
        x0="–",
        f_entity="–",
        f_relation="–",
        D="-KL(N(h_μ - t_μ, h_σ² + t_σ²), N(r_μ, r_σ²))",
        entity="2*n",
        relation="2*n",
        symmetry=True,
        antisymmetry=True,
        inverse=True,
        composition=True,
        year=2015,
    )

    def encode_query(self, h: Tensor, r: Tensor) -> Query:
        """Q = (σ_h², -p/2, p m) with p = 1/σ_r² and m = μ_h - μ_r; a holds what no tail changes."""
        (h_mu, h_spread), (r_mu, r_spread) = self.entity.split(h), self.relation.split(r)
        v, p, m = variance(h_spread), variance(r_spread).reciprocal(), h_mu - r_mu
        a = 0.5 * (1 + p.log() - p * (v + m.square())).sum(-1)
        return Query(torch.cat([v, -0.5 * p, p * m], dim=-1), a)

    def encode_keys(self, t: Tensor) -> Keys:
        """K = (σ², σ² + μ², μ)."""
        mu, spread = self.entity.split(t)
        v = variance(spread)
        return Keys(torch.cat([v, v + mu.square(), mu], dim=-1), v.new_zeros(v.shape[:-1]))

    def pairwise(self, Q: Tensor, K: Tensor) -> Tensor:
        """½ Σ log(σ_h² + σ_t²) and an inner product."""
        n = self.dim
        product = (Q[..., n:] * K[..., n:]).sum(-1)
        return 0.5 * (Q[..., :n] + K[..., :n]).log().sum(-1) + product

    def matrix(self, Q: Tensor, K: Tensor) -> Tensor:
        """The same with a matrix product."""
        n = self.dim
        return 0.5 * (Q[:, None, :n] + K[:, :n]).log().sum(-1) + Q[:, n:] @ K[:, n:].T


class KG2EExpectedLikelihood(GaussianModel):
    r"""Gaussians, the expected likelihood of h - t and r.

    .. math:: f(h, r, t) = \log \int \mathcal N(x; h_\mu - t_\mu, h_\sigma^2 + t_\sigma^2)\,
              \mathcal N(x; r_\mu, r_\sigma^2)\, dx = -\tfrac12 \sum_i \Big(
              \frac{(h_\mu - t_\mu - r_\mu)^2}{v} + \log 2 \pi v \Big)_i,
              \quad v = h_\sigma^2 + t_\sigma^2 + r_\sigma^2

    Rows, variances and reference as `KG2EKullbackLeibler`.

    Example:
        >>> KG2EExpectedLikelihood(entities=3, relations=2, dim=4).entity.weight.shape
        torch.Size([3, 8])
    """

    name = "kg2e-el"
    entity_parts: ClassVar = ("mu", "spread")
    relation_parts: ClassVar = ("mu", "spread")
    nonzero_parts: ClassVar = ("spread",)
    settings: ClassVar = {"dim": 32, "margin": 30.0, "dropout": 0.0, "lr": 0.05, "epochs": 30}
    card: ClassVar = Card(
        x0="–",
        f_entity="–",
        f_relation="–",
        D="log ∫ N(h_μ - t_μ, h_σ² + t_σ²) N(r_μ, r_σ²)",
        entity="2*n",
        relation="2*n",
        symmetry=False,
        antisymmetry=True,
        inverse=True,
        composition=True,
        year=2015,
    )

    def encode_query(self, h: Tensor, r: Tensor) -> Query:
        """Q = (μ_h - μ_r, σ_h² + σ_r²), a = -n/2 log 2π."""
        (h_mu, h_spread), (r_mu, r_spread) = self.entity.split(h), self.relation.split(r)
        Q = torch.cat([h_mu - r_mu, variance(h_spread) + variance(r_spread)], dim=-1)
        return Query(Q, Q.new_full(Q.shape[:-1], -0.5 * self.dim * math.log(2 * math.pi)))

    def encode_keys(self, t: Tensor) -> Keys:
        """K = (μ, σ²)."""
        mu, spread = self.entity.split(t)
        return Keys(torch.cat([mu, variance(spread)], dim=-1), mu.new_zeros(mu.shape[:-1]))

    def pairwise(self, Q: Tensor, K: Tensor) -> Tensor:
        """The logarithm of the normal density of the difference of means, without its 2π."""
        n = self.dim
        v = Q[..., n:] + K[..., n:]
        return -0.5 * ((Q[..., :n] - K[..., :n]).square() / v + v.log()).sum(-1)
