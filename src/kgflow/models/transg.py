"""TransG: a relation as a mixture of translations of Gaussian entities."""

from typing import ClassVar

import torch
from torch import Tensor

from kgflow.errors import KgflowError
from kgflow.flows import Keys, Query
from kgflow.models.card import Card
from kgflow.models.gaussian import GaussianModel, variance


class TransG(GaussianModel):
    r"""A mixture of translations, each a meaning of the relation; entities with one variance each.

    .. math:: f(h, r, t) = \log \sum_{m=1}^M \pi_{r,m}
              \exp\Big({-\frac{\|h_\mu + r_{\mu,m} - t_\mu\|^2}{h_\sigma^2 + t_\sigma^2}}\Big)

    The published score is the mixture itself; its logarithm orders the tails alike. The number of
    meanings is fixed, where the paper lets a Chinese restaurant process find it, and the weights π
    are a softmax. Variances as in KG2E (see `variance`).

    Rows: entity μ ``(n,)`` and the spread s of its variance ``(1,)``; relation μ of each component
    ``(M n,)`` and the weights' logits ``(M,)``.

    Args:
        entities: how many entities.
        relations: how many relations, with their inverse_relations.
        dim: n.
        components: M, meanings per relation.

    Reference:
        Xiao, Huang, Zhu: TransG: A Generative Model for Knowledge Graph Embedding, ACL 2016.

    Example:
        >>> TransG(entities=3, relations=2, dim=4, components=2).relation.weight.shape
        torch.Size([2, 10])
    """

    name = "transg"
    entity_parts: ClassVar = ("mu", "spread")
    relation_parts: ClassVar = ("mu", "weight")
    nonzero_parts: ClassVar = ("spread",)
    settings: ClassVar = {"dim": 32, "margin": 1.0, "decay": 0.96, "epochs": 40}
    card: ClassVar = Card(
        x0="–",
        f_entity="–",
        f_relation="–",
        D="log Σ_m π_m exp(-‖h_μ + r_μ,m - t_μ‖² / (h_σ² + t_σ²))",
        entity="n + 1",
        relation="4*n + 4",
        symmetry=True,
        antisymmetry=True,
        inverse=True,
        composition=True,
        year=2016,
    )

    def __init__(self, entities: int, relations: int, dim: int, components: int = 4) -> None:
        if components < 1:
            raise KgflowError(f"components are meanings of a relation, 1 or more: not {components}")
        self.components = components  # before the tables, whose width it decides
        super().__init__(entities, relations, dim)

    def entity_sizes(self, dim: int) -> dict[str, int]:
        """One variance for all coordinates."""
        return {"mu": dim, "spread": 1}

    def relation_sizes(self, dim: int) -> dict[str, int]:
        """M translations and their weights."""
        return {"mu": self.components * dim, "weight": self.components}

    def encode_query(self, h: Tensor, r: Tensor) -> Query:
        """Q = (all h + r_m, log π, σ_h²)."""
        (mu, spread), (moves, weight) = self.entity.split(h), self.relation.split(r)
        moved = mu.repeat(1, self.components) + moves
        Q = torch.cat([moved, weight.log_softmax(-1), variance(spread)], dim=-1)
        return Query(Q, Q.new_zeros(Q.shape[:-1]))

    def encode_keys(self, t: Tensor) -> Keys:
        """K = (μ, σ²)."""
        mu, spread = self.entity.split(t)
        return Keys(torch.cat([mu, variance(spread)], dim=-1), mu.new_zeros(mu.shape[:-1]))

    def pairwise(self, Q: Tensor, K: Tensor) -> Tensor:
        """The logarithm of the mixture."""
        moved, log_pi, v = self._parts(Q)
        squared = (moved - K[..., None, :-1]).square().sum(-1)
        return (log_pi - squared / (v + K[..., -1:])).logsumexp(-1)

    def matrix(self, Q: Tensor, K: Tensor) -> Tensor:
        """The same, its squares by a matrix product."""
        moved, log_pi, v = self._parts(Q)
        mu = K[:, :-1]
        squared = moved.square().sum(-1)[..., None] + mu.square().sum(-1) - 2 * moved @ mu.T
        return (log_pi[..., None] - squared / (v[..., None] + K[:, -1])).logsumexp(1)

    def _parts(self, Q: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        M = self.components
        moved, log_pi, v = Q.split([M * self.dim, M, 1], dim=-1)
        return moved.unflatten(-1, (M, self.dim)), log_pi, v
