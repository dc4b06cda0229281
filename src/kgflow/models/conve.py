"""ConvE: head and relation as one image, convolved."""

import math
from typing import ClassVar

import torch
from torch import Tensor, nn

from kgflow.errors import KgflowError
from kgflow.flows import Keys, Query
from kgflow.models.base import Model
from kgflow.models.card import Card
from kgflow.models.layers import BatchNorm, Projection, filters


class ConvE(Model):
    r"""Convolutions of an image of h above one of r.

    .. math:: f(h, r, t) = \mathrm{ReLU}(W \mathrm{vec}(\mathrm{ReLU}([\bar h; \bar r] * \omega))
              + c)^T t + b_t

    with 3 × 3 filters ω, batch normalization of the image and before each ReLU, and dropout of
    whole feature maps and of the product with W. An image of n numbers is as square as n allows:
    200 make 10 × 20. The published dropout of the image is the training's own, of h alone.

    Rows: entity e ``(n,)`` and bias b ``(1,)``; relation r ``(n,)``.

    Args:
        entities: how many entities.
        relations: how many relations, with their inverse_relations.
        dim: n.
        channels: how many filters.
        hidden_dropout: the share of feature maps, and of the product with W, left out in training.

    Reference:
        Dettmers et al.: Convolutional 2D Knowledge Graph Embeddings, AAAI 2018.

    Example:
        >>> ConvE(entities=3, relations=2, dim=200).project.full
        Linear(in_features=10368, out_features=200, bias=True)
    """

    name = "conve"
    entity_parts: ClassVar = ("e", "bias")
    relation_parts: ClassVar = ("r",)
    nonzero_parts: ClassVar = ("bias",)
    multiple: ClassVar = 4
    settings: ClassVar = {"margin": -5.0, "batch_size": 256, "dropout": 0.1, "lr": 0.005}
    card: ClassVar = Card(
        x0="–",
        f_entity="–",
        f_relation="–",
        D="ReLU(W vec(ReLU([h; r] * ω)))ᵀ t + b",
        entity="n + 1",
        relation="n",
        symmetry=False,
        antisymmetry=True,
        inverse=False,
        composition=False,
        year=2018,
    )

    def __init__(
        self,
        entities: int,
        relations: int,
        dim: int,
        channels: int = 32,
        hidden_dropout: float = 0.1,
    ) -> None:
        super().__init__(entities, relations, dim)
        height, width = self.image = folded(dim)
        if width < 3:
            raise KgflowError(f"dimension {dim} is too small for 3 × 3 filters: give 8 or more")
        self.norm_image, self.norm_maps = BatchNorm(1), BatchNorm(filters(channels))
        self.convolve = nn.Conv2d(1, channels, kernel_size=3)
        self.project = Projection(channels, (2 * height - 2) * (width - 2), dim, hidden_dropout)

    def entity_sizes(self, dim: int) -> dict[str, int]:
        """A vector and a number."""
        return {"e": dim, "bias": 1}

    def encode_query(self, h: Tensor, r: Tensor) -> Query:
        """Q = the network's vector of the image."""
        e, _ = self.entity.split(h)
        image = torch.cat([x.unflatten(1, (1, *self.image)) for x in (e, r)], dim=2)
        maps = self.norm_maps(self.convolve(self.norm_image(image))).relu()
        Q = self.project(maps.flatten(2))
        return Query(Q, Q.new_zeros(len(Q)))

    def encode_keys(self, t: Tensor) -> Keys:
        """K = e, b = the bias."""
        e, bias = self.entity.split(t)
        return Keys(e, bias.squeeze(1))


def folded(dim: int) -> tuple[int, int]:
    """Height and width of the image of so many numbers, as near to a square as can be.

    Example:
        >>> folded(200)
        (10, 20)
    """
    height = max(size for size in range(1, math.isqrt(dim) + 1) if dim % size == 0)
    return height, dim // height
