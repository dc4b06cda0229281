"""Models of Gaussian entities: KG2E and TransG."""

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

import torch
from pydantic import Field
from torch import Tensor

from kgflow.flows import Affine, Flow, Keys, Normal, PairwiseInteraction, Query
from kgflow.models.base import Model
from kgflow.models.card import ALL_PATTERNS, NO_FLOW, Card, Variant, recommended
from kgflow.models.options import ModelOptions

LOW, HIGH = 0.05, 5.0
"""Bounds of variances in KG2E."""


def variance(spread: Tensor) -> Tensor:
    r"""Map unbounded parameters to variances within the bounds.

    .. math:: \sigma^2 = c_{\min}^{1 - g}\, c_{\max}^g, \quad g = \frac1{1 + e^{-s}}

    The published models clamp, which leaves no gradient at the bounds; this map is smooth and
    strictly increasing, and maps zero to the geometric mean of the bounds.

    Example:
        >>> variance(torch.tensor([-100.0, 0.0, 100.0]))
        tensor([0.0500, 0.5000, 5.0000])
    """
    return LOW * (HIGH / LOW) ** spread.sigmoid()


class GaussianModel(Model):
    """Model whose entity embeddings are a mean μ and the parameter s of a `variance`."""

    entity_parts = ("mu", "spread")
    no_dropout = ("spread",)

    def flow(self, t: Tensor) -> Flow:
        mu, spread = self.entity.split(t)
        return Flow(Normal(), Affine(mu, variance(spread).sqrt()))

    def inverse_relation(self, r: Tensor) -> Tensor:
        mu, other = self.relation.split(r)
        return torch.cat([-mu, other], dim=-1)


class GaussianDivergence(PairwiseInteraction):
    """Similarity of N(h_μ - t_μ, h_σ² + t_σ²) and N(r_μ, r_σ²)."""

    @abstractmethod
    def query(self, mu: Tensor, v: Tensor, r_mu: Tensor, r_v: Tensor) -> Query:
        """Encode means and variances of heads and relations, each ``(..., n)``."""

    @abstractmethod
    def keys(self, mu: Tensor, v: Tensor) -> Keys:
        """Encode means and variances of tails, each ``(..., n)``."""


class KullbackLeiblerDivergence(GaussianDivergence):
    """Negative Kullback-Leibler divergence."""

    def query(self, mu: Tensor, v: Tensor, r_mu: Tensor, r_v: Tensor) -> Query:
        """Encode Q = (σ_h², -p/2, p m) with p = 1/σ_r² and m = μ_h - μ_r; the rest is a."""
        p, m = r_v.reciprocal(), mu - r_mu
        a = 0.5 * (1 + p.log() - p * (v + m.square())).sum(-1)
        return Query(torch.cat([v, -0.5 * p, p * m], dim=-1), a)

    def keys(self, mu: Tensor, v: Tensor) -> Keys:
        """Encode K = (σ², σ² + μ², μ)."""
        return Keys(torch.cat([v, v + mu.square(), mu], dim=-1), v.new_zeros(v.shape[:-1]))

    def pairwise(self, Q: Tensor, K: Tensor) -> Tensor:
        """Return ½ Σ log(σ_h² + σ_t²) plus an inner product."""
        n = Q.shape[-1] // 3
        product = (Q[..., n:] * K[..., n:]).sum(-1)
        return 0.5 * (Q[..., :n] + K[..., :n]).log().sum(-1) + product

    def interaction(self, Q: Tensor, K: Tensor) -> Tensor:
        """Return ½ Σ log(σ_h² + σ_t²) plus a matrix product."""
        n = Q.shape[-1] // 3
        return 0.5 * (Q[:, None, :n] + K[:, :n]).log().sum(-1) + Q[:, n:] @ K[:, n:].T


class ExpectedLikelihood(GaussianDivergence):
    """Logarithm of the expected likelihood."""

    def query(self, mu: Tensor, v: Tensor, r_mu: Tensor, r_v: Tensor) -> Query:
        """Encode Q = (μ_h - μ_r, σ_h² + σ_r²), a = -n/2 log 2π."""
        Q = torch.cat([mu - r_mu, v + r_v], dim=-1)
        return Query(Q, Q.new_full(Q.shape[:-1], -0.5 * mu.shape[-1] * math.log(2 * math.pi)))

    def keys(self, mu: Tensor, v: Tensor) -> Keys:
        """Encode K = (μ, σ²)."""
        return Keys(torch.cat([mu, v], dim=-1), mu.new_zeros(mu.shape[:-1]))

    def pairwise(self, Q: Tensor, K: Tensor) -> Tensor:
        n = Q.shape[-1] // 2
        v = Q[..., n:] + K[..., n:]
        return -0.5 * ((Q[..., :n] - K[..., :n]).square() / v + v.log()).sum(-1)


DIVERGENCES: Mapping[str, GaussianDivergence] = {
    "kl": KullbackLeiblerDivergence(),
    "el": ExpectedLikelihood(),
}

KG2E_CARD = Card(
    *NO_FLOW, "-KL(N(h_μ - t_μ, h_σ² + t_σ²), N(r_μ, r_σ²))", "2*n", "2*n", 2015, pairwise=True
)


class KG2E(GaussianModel):
    r"""Gaussian entities and relations: the similarity of h - t and r.

    .. math:: f(h, r, t) = -KL(\mathcal N(h_\mu - t_\mu, h_\sigma^2 + t_\sigma^2),
              \mathcal N(r_\mu, r_\sigma^2)) = -\tfrac12 \sum_i \Big(
              \frac{h_\sigma^2 + t_\sigma^2 + (h_\mu - t_\mu - r_\mu)^2}{r_\sigma^2} - 1
              - \log\frac{h_\sigma^2 + t_\sigma^2}{r_\sigma^2} \Big)_i

    or the expected likelihood

    .. math:: f(h, r, t) = \log \int \mathcal N(x; h_\mu - t_\mu, h_\sigma^2 + t_\sigma^2)\,
              \mathcal N(x; r_\mu, r_\sigma^2)\, dx = -\tfrac12 \sum_i \Big(
              \frac{(h_\mu - t_\mu - r_\mu)^2}{v} + \log 2 \pi v \Big)_i,
              \quad v = h_\sigma^2 + t_\sigma^2 + r_\sigma^2

    Variances lie between 0.05 and 5 as published (smoothly, see `variance`); means are free, while
    the paper bounds their norm by 1.

    Embeddings: entity μ, s and relation μ, s, each ``(n,)``.

    Reference:
        He et al.: Learning to Represent Knowledge Graphs with Gaussian Embedding, CIKM 2015.

    Example:
        >>> KG2E(entities=3, relations=2, dim=4, divergence="el").entity.weight.shape
        torch.Size([3, 8])
    """

    class Options(ModelOptions):
        """Options of KG2E."""

        divergence: Literal["kl", "el"] = Field(
            "kl", description="Similarity: Kullback-Leibler divergence or expected likelihood."
        )

    options: Options
    name = "kg2e"
    relation_parts = ("mu", "spread")
    settings = recommended(dim=32, epochs=30)
    card = KG2E_CARD
    variants = (
        Variant(
            {"divergence": "el"},
            replace(
                KG2E_CARD,
                D="log ∫ N(h_μ - t_μ, h_σ² + t_σ²) N(r_μ, r_σ²)",
                patterns=ALL_PATTERNS - {"symmetry"},
            ),
            recommended(dim=32, margin=30.0, dropout=0.0, lr=0.05, epochs=30),
        ),
    )

    @property
    def interaction_function(self) -> GaussianDivergence:
        return DIVERGENCES[self.options.divergence]

    def encode_query(self, h: Tensor, r: Tensor) -> Query:
        (mu, spread), (r_mu, r_spread) = self.entity.split(h), self.relation.split(r)
        return self.interaction_function.query(mu, variance(spread), r_mu, variance(r_spread))

    def encode_keys(self, t: Tensor) -> Keys:
        mu, spread = self.entity.split(t)
        return self.interaction_function.keys(mu, variance(spread))


class GaussianMixture(PairwiseInteraction):
    """Logarithm of a mixture of Gaussians of M components."""

    def pairwise(self, Q: Tensor, K: Tensor) -> Tensor:
        moved, log_pi, v = self._split(Q, K)
        squared = (moved - K[..., None, :-1]).square().sum(-1)
        return (log_pi - squared / (v + K[..., -1:])).logsumexp(-1)

    def interaction(self, Q: Tensor, K: Tensor) -> Tensor:
        """Return the logarithm of the mixture, with squared distances by a matrix product."""
        moved, log_pi, v = self._split(Q, K)
        mu = K[:, :-1]
        squared = moved.square().sum(-1)[..., None] + mu.square().sum(-1) - 2 * moved @ mu.T
        return (log_pi[..., None] - squared / (v[..., None] + K[:, -1])).logsumexp(1)

    def _split(self, Q: Tensor, K: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        n = K.shape[-1] - 1
        M = (Q.shape[-1] - 1) // (n + 1)
        moved, log_pi, v = Q.split([M * n, M, 1], dim=-1)
        return moved.unflatten(-1, (M, n)), log_pi, v


class TransG(GaussianModel):
    r"""Mixture of translations, one for each meaning of a relation; one variance per entity.

    .. math:: f(h, r, t) = \log \sum_{m=1}^M \pi_{r,m}
              \exp\Big({-\frac{\|h_\mu + r_{\mu,m} - t_\mu\|^2}{h_\sigma^2 + t_\sigma^2}}\Big)

    The published score is the mixture itself; its logarithm ranks the tails alike. The number of
    components is fixed, while the paper infers it by a Chinese restaurant process, and the weights
    π are a softmax. Variances as in KG2E (see `variance`).

    Embeddings: entity μ ``(n,)`` and the parameter s of its variance ``(1,)``; relation μ of each
    component ``(M n,)`` and the logits of the weights ``(M,)``.

    Reference:
        Xiao, Huang, Zhu: TransG: A Generative Model for Knowledge Graph Embedding, ACL 2016.

    Example:
        >>> TransG(entities=3, relations=2, dim=4, components=2).relation.weight.shape
        torch.Size([2, 10])
    """

    class Options(ModelOptions):
        """Options of TransG."""

        components: int = Field(4, ge=1, description="Number of mixture components per relation.")

    options: Options
    name = "transg"
    relation_parts = ("mu", "weight")
    interaction_function = GaussianMixture()
    settings = recommended(dim=32, margin=1.0, decay=0.96, epochs=40)
    card = Card(
        D="log Σ_m π_m exp(-‖h_μ + r_μ,m - t_μ‖² / (h_σ² + t_σ²))",
        entity="n+1",
        relation="4*n+4",
        year=2016,
        pairwise=True,
    )

    def entity_sizes(self, dim: int) -> dict[str, int]:
        return {"mu": dim, "spread": 1}

    def relation_sizes(self, dim: int) -> dict[str, int]:
        return {"mu": self.options.components * dim, "weight": self.options.components}

    def encode_query(self, h: Tensor, r: Tensor) -> Query:
        """Encode Q = (all h + r_m, log π, σ_h²)."""
        (mu, spread), (moves, weight) = self.entity.split(h), self.relation.split(r)
        moved = mu.repeat(1, self.options.components) + moves
        Q = torch.cat([moved, weight.log_softmax(-1), variance(spread)], dim=-1)
        return Query(Q, Q.new_zeros(Q.shape[:-1]))

    def encode_keys(self, t: Tensor) -> Keys:
        """Encode K = (μ, σ²)."""
        mu, spread = self.entity.split(t)
        return Keys(torch.cat([mu, variance(spread)], dim=-1), mu.new_zeros(mu.shape[:-1]))
