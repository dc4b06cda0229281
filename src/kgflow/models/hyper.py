"""HypER: the relation makes the filters that convolve the head."""

from typing import ClassVar

from torch import Tensor, nn

from kgflow.errors import KgflowError
from kgflow.flows import Keys, Query
from kgflow.models.base import Model
from kgflow.models.card import Card
from kgflow.models.layers import BatchNorm, Projection, filters

WIDTH = 9
"""Numbers in a filter, as published."""


class HypER(Model):
    r"""Convolutions of h with filters that a hypernetwork makes of r.

    .. math:: f(h, r, t) = \mathrm{ReLU}(W \mathrm{vec}(h * F_r) + c)^T t + b_t,
              \quad F_r = H r + d

    with filters of 1 × 9, batch normalization of h, of the feature maps and before the ReLU, and
    dropout of whole feature maps and of the product with W. The published dropout of h is the
    training's own, so it comes before the normalization of h rather than after it.

    Rows: entity e ``(n,)`` and bias b ``(1,)``; relation r ``(n,)``.

    Args:
        entities: how many entities.
        relations: how many relations, with their inverse_relations.
        dim: n.
        channels: how many filters.
        hidden_dropout: the share of feature maps, and of the product with W, left out in training.

    Reference:
        Balazevic, Allen, Hospedales: Hypernetwork Knowledge Graph Embeddings, ICANN 2019.

    Example:
        >>> HypER(entities=3, relations=2, dim=200).project.full
        Linear(in_features=6144, out_features=200, bias=True)
    """

    name = "hyper"
    entity_parts: ClassVar = ("e", "bias")
    relation_parts: ClassVar = ("r",)
    nonzero_parts: ClassVar = ("bias",)
    settings: ClassVar = {"margin": -5.0, "batch_size": 256, "dropout": 0.2, "lr": 0.005}
    card: ClassVar = Card(
        x0="–",
        f_entity="–",
        f_relation="–",
        D="ReLU(W vec(h * F_r))ᵀ t + b",
        entity="n + 1",
        relation="n",
        symmetry=False,
        antisymmetry=True,
        inverse=False,
        composition=True,
        year=2019,
    )

    def __init__(
        self,
        entities: int,
        relations: int,
        dim: int,
        channels: int = 32,
        hidden_dropout: float = 0.2,
    ) -> None:
        super().__init__(entities, relations, dim)
        if dim < WIDTH:
            raise KgflowError(f"dimension {dim} is too small for 1 × 9 filters: give 9 or more")
        self.norm_head, self.norm_maps = BatchNorm(1), BatchNorm(filters(channels))
        self.filters = nn.Linear(dim, channels * WIDTH)
        self.project = Projection(channels, dim - WIDTH + 1, dim, hidden_dropout)

    def entity_sizes(self, dim: int) -> dict[str, int]:
        """A vector and a number."""
        return {"e": dim, "bias": 1}

    def encode_query(self, h: Tensor, r: Tensor) -> Query:
        """Q = the network's vector of h under the filters of r."""
        e, _ = self.entity.split(h)
        windows = self.norm_head(e[:, None]).squeeze(1).unfold(1, WIDTH, 1)
        maps = self.filters(r).unflatten(1, (-1, WIDTH)) @ windows.mT
        Q = self.project(self.norm_maps(maps))
        return Query(Q, Q.new_zeros(len(Q)))

    def encode_keys(self, t: Tensor) -> Keys:
        """K = e, b = the bias."""
        e, bias = self.entity.split(t)
        return Keys(e, bias.squeeze(1))
