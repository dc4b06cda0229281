"""TuckER's generalization to flows: several functions each, and a small core between them."""

from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from kgflow.errors import KgflowError
from kgflow.flows import Affine, Flow, Keys, Normal, Query, SquaredWasserstein
from kgflow.models.base import Model
from kgflow.models.card import Card


class TuckERFlow(Model):
    r"""A weighted sum of the similarities of all functions of h, r and t (the paper's appendix).

    .. math:: f(h, r, t) = \sum_{ijk} \mathrm{softplus}(W_{ijk})
              D(f_{r_j} \circ f_{h_i}(x_0), f_{t_k}(x_0)), \quad f(x) = \sigma x + \mu

    with a normal x0 and the negative squared Wasserstein distance D, so each term is an NFE-1. The
    softplus keeps the weights positive: a term with a negative weight would push true triples
    apart without bound.

    Rows: entity μ, σ and relation μ, σ, each p functions of n numbers ``(p n,)``. All share W
    ``(p, p, p)``, by the function of h, r and t in this order; all weights start at 1/p³.

    Args:
        entities: how many entities.
        relations: how many relations, with their inverse_relations.
        dim: n.
        components: p, how many functions each entity and each relation has.

    Reference:
        Xiao, He, Cao: Knowledge Graph Embedding by Normalizing Flows, AAAI 2023.

    Example:
        >>> model = TuckERFlow(entities=3, relations=2, dim=4)
        >>> model.entity.weight.shape, model.core.shape
        (torch.Size([3, 16]), torch.Size([2, 2, 2]))
    """

    name = "tucker-flow"
    entity_parts: ClassVar = ("mu", "sigma")
    relation_parts: ClassVar = ("mu", "sigma")
    x0, D = Normal(), SquaredWasserstein()
    card: ClassVar = Card(
        x0="𝒩(0, I)",
        f_entity="σᵢx + μᵢ",
        f_relation="σⱼx + μⱼ",
        D="-Σ wᵢⱼₖ W²",
        entity="4*n",
        relation="4*n",
        symmetry=True,
        antisymmetry=True,
        inverse=True,
        composition=True,
        year=2023,
    )

    def __init__(self, entities: int, relations: int, dim: int, components: int = 2) -> None:
        if components < 1:
            raise KgflowError(f"components is how many functions each has: {components} is not")
        self.components = components
        super().__init__(entities, relations, dim)
        start = torch.tensor(float(components) ** -3)
        self.core = nn.Parameter(start.expm1().log().repeat(components, components, components))

    def entity_sizes(self, dim: int) -> dict[str, int]:
        """Of each part p times n."""
        return dict.fromkeys(self.entity_parts, self.components * dim)

    def relation_sizes(self, dim: int) -> dict[str, int]:
        """Of each part p times n."""
        return dict.fromkeys(self.relation_parts, self.components * dim)

    def encode_query(self, h: Tensor, r: Tensor) -> Query:
        """For each k the weighted sum of D's queries over i and j, and the weight of |t_k|²."""
        weight = softplus(self.core)
        f_h, f_r = self._functions(self.entity.split(h)), self._functions(self.relation.split(r))
        outer = Affine(f_r.mu[:, None], f_r.sigma[:, None])
        inner = Affine(f_h.mu[:, :, None], f_h.sigma[:, :, None])
        Q, a = self.D.encode_query(Flow(self.x0, outer @ inner))
        met = torch.einsum("bijm,ijk->bkm", Q, weight).flatten(1)
        norms = weight.sum((0, 1)).expand(len(Q), -1)
        return Query(torch.cat([met, norms], dim=1), (a * weight.sum(2)).sum((1, 2)))

    def encode_keys(self, t: Tensor) -> Keys:
        """D's keys of each t_k side by side; the weights of their b are the query's to give."""
        K, b = self.D.encode_keys(Flow(self.x0, self._functions(self.entity.split(t))))
        return Keys(torch.cat([K.flatten(1), b], dim=1), b.new_zeros(len(b)))

    def flow(self, t: Tensor) -> Flow:
        """The p functions of an entity side by side, each with an x0 of its own."""
        return Flow(self.x0, Affine(*self.entity.split(t)))

    def _functions(self, parts: tuple[Tensor, ...]) -> Affine:
        """The p functions of rows, with parameters ``(N, p, n)``."""
        mu, sigma = (part.unflatten(1, (self.components, self.dim)) for part in parts)
        return Affine(mu, sigma)
