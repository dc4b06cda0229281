"""TuckER, and its generalization to flows."""

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn.functional import softplus

from kgflow.flows import Affine, Flow, Keys, Normal, Query, SquaredWasserstein
from kgflow.models.base import Model
from kgflow.models.card import Card, recommended
from kgflow.models.layers import BatchNorm
from kgflow.models.options import ModelOptions, Option


class TuckER(Model):
    r"""Tucker decomposition of the tensor of all triples.

    .. math:: f(h, r, t) = \sum_{ijk} W_{ijk} h_i r_j t_k

    with batch normalization of h and of the vector :math:`\sum_{ij} W_{ijk} h_i r_j`, and dropout
    of the matrix :math:`\sum_j W_{ijk} r_j` and of that vector. The published dropout of h is
    that of the loss, so it comes before the normalization of h instead of after it.

    Embeddings: entity e and relation r, each ``(n,)``. The core W ``(n, n, n)``, stored with
    the axis of relations first, is shared.

    Reference:
        Balazevic, Allen, Hospedales: TuckER: Tensor Factorization for Knowledge Graph Completion,
        EMNLP 2019.

    Example:
        >>> TuckER(entities=3, relations=2, dim=4).core.shape
        torch.Size([4, 4, 4])
    """

    class Options(ModelOptions):
        """Options of TuckER."""

        hidden_dropout: float = Field(
            0.1, ge=0, lt=1, description="Dropout probability of hidden layers."
        )

    options: Options
    name = "tucker"
    entity_parts = ("e",)
    relation_parts = ("r",)
    settings = recommended(dim=64, margin=-5.0, batch_size=512, dropout=0.2, lr=0.01, decay=0.95)
    card = Card("1", "e ⊙ x", "(Σⱼ Wⱼ rⱼ)ᵀ x", "⟨·, ·⟩", "n", "n", 2019)

    def __init__(self, entities: int, relations: int, dim: int, **options: Option) -> None:
        super().__init__(entities, relations, dim, **options)
        self.core = nn.Parameter(torch.empty(dim, dim, dim).uniform_(-0.2, 0.2))
        self.norm_head, self.norm_query = BatchNorm(dim), BatchNorm(dim)
        self.drop = nn.Dropout(self.options.hidden_dropout)

    def encode_query(self, h: Tensor, r: Tensor) -> Query:
        matrix = (r @ self.core.flatten(1)).unflatten(1, (self.dim, self.dim))
        moved = self.norm_head(h)[:, None] @ self.drop(matrix)
        Q = self.drop(self.norm_query(moved.squeeze(1)))
        return Query(Q, Q.new_zeros(len(Q)))

    def encode_keys(self, t: Tensor) -> Keys:
        return Keys(t, t.new_zeros(len(t)))


class TuckERFlow(Model):
    r"""Weighted sum of the similarities of all functions of h, r and t (the paper's appendix).

    .. math:: f(h, r, t) = \sum_{ijk} \mathrm{softplus}(W_{ijk})
              D(f_{r_j} \circ f_{h_i}(x_0), f_{t_k}(x_0)), \quad f(x) = \sigma x + \mu

    with a normal x0 and the negative squared Wasserstein distance D, so each term is an NFE-1. The
    softplus keeps the weights positive: a negative weight would make the score unbounded.

    Embeddings: entity μ, σ and relation μ, σ, each ``(p n,)`` for p functions. The core W
    ``(p, p, p)`` over the functions of h, r and t is shared; weights are initialized to 1/p³.

    Reference:
        Xiao, He, Cao: Knowledge Graph Embedding by Normalizing Flows, AAAI 2023.

    Example:
        >>> model = TuckERFlow(entities=3, relations=2, dim=4)
        >>> model.entity.weight.shape, model.core.shape
        (torch.Size([3, 16]), torch.Size([2, 2, 2]))
    """

    class Options(ModelOptions):
        """Options of the TuckER flow."""

        components: int = Field(
            2, ge=1, description="Number of functions per entity and per relation."
        )

    options: Options
    name = "tucker-flow"
    entity_parts = ("mu", "sigma")
    relation_parts = ("mu", "sigma")
    x0, D = Normal(), SquaredWasserstein()
    card = Card("𝒩(0, I)", "σᵢx + μᵢ", "σⱼx + μⱼ", "-Σ wᵢⱼₖ W²", "4*n", "4*n", 2023)

    def __init__(self, entities: int, relations: int, dim: int, **options: Option) -> None:
        super().__init__(entities, relations, dim, **options)
        p = self.options.components
        self.core = nn.Parameter(torch.tensor(float(p) ** -3).expm1().log().repeat(p, p, p))

    def entity_sizes(self, dim: int) -> dict[str, int]:
        return dict.fromkeys(self.entity_parts, self.options.components * dim)

    def relation_sizes(self, dim: int) -> dict[str, int]:
        return dict.fromkeys(self.relation_parts, self.options.components * dim)

    def encode_query(self, h: Tensor, r: Tensor) -> Query:
        """Encode for each k the weighted sum of D's queries over i and j, and the weight of b."""
        weight = softplus(self.core)
        f_h, f_r = self._functions(self.entity.split(h)), self._functions(self.relation.split(r))
        outer = Affine(f_r.mu[:, None], f_r.sigma[:, None])
        inner = Affine(f_h.mu[:, :, None], f_h.sigma[:, :, None])
        Q, a = self.D.encode_query(Flow(self.x0, outer @ inner))
        Q_k = torch.einsum("bijm,ijk->bkm", Q, weight).flatten(1)
        norms = weight.sum((0, 1)).expand(len(Q), -1)
        return Query(torch.cat([Q_k, norms], dim=1), (a * weight.sum(2)).sum((1, 2)))

    def encode_keys(self, t: Tensor) -> Keys:
        """Encode D's keys of all t_k and their b, which the query weighs."""
        K, b = self.D.encode_keys(Flow(self.x0, self._functions(self.entity.split(t))))
        return Keys(torch.cat([K.flatten(1), b], dim=1), b.new_zeros(len(b)))

    def flow(self, t: Tensor) -> Flow:
        """Return the flow of p n coordinates, the p functions of independent x0."""
        return Flow(self.x0, Affine(*self.entity.split(t)))

    def _functions(self, parts: tuple[Tensor, ...]) -> Affine:
        """Return the p functions with parameters ``(N, p, n)``."""
        mu, sigma = (part.unflatten(1, (self.options.components, self.dim)) for part in parts)
        return Affine(mu, sigma)
