"""Convolutional models: ConvE and HypER."""

import math
from abc import abstractmethod

import torch
from pydantic import Field
from torch import Tensor, nn

from kgflow.errors import KgflowError
from kgflow.flows import Keys, Query
from kgflow.models.base import Model
from kgflow.models.card import NO_FLOW, Card, recommended
from kgflow.models.layers import BatchNorm, Projection
from kgflow.models.options import ModelOptions, Option

FILTER_WIDTH = 9
"""Width of a filter of HypER, as published."""

HIDDEN_DROPOUT = "Dropout probability of feature maps and hidden units."


class ConvolutionOptions(ModelOptions):
    """Options of convolutional models."""

    channels: int = Field(32, ge=1, description="Number of convolution filters.")
    hidden_dropout: float = Field(0.1, ge=0, lt=1, description=HIDDEN_DROPOUT)


class ConvolutionModel(Model):
    """Query vectors by a `Projection` of feature maps of h and r, tails with a bias.

    A subclass makes `project`, and computes the feature maps.
    """

    Options = ConvolutionOptions
    options: ConvolutionOptions
    entity_parts = ("e", "bias")
    relation_parts = ("r",)
    no_dropout = ("bias",)
    project: Projection

    @abstractmethod
    def feature_maps(self, e: Tensor, r: Tensor) -> Tensor:
        """Return maps ``(B, channels, pixels)`` of heads ``(B, n)`` and relations ``(B, n)``."""

    def entity_sizes(self, dim: int) -> dict[str, int]:
        return {"e": dim, "bias": 1}

    def encode_query(self, h: Tensor, r: Tensor) -> Query:
        Q = self.project(self.feature_maps(self.entity.split(h)[0], r))
        return Query(Q, Q.new_zeros(len(Q)))

    def encode_keys(self, t: Tensor) -> Keys:
        e, bias = self.entity.split(t)
        return Keys(e, bias.squeeze(1))


class ConvE(ConvolutionModel):
    r"""Convolutions of an image of h stacked on an image of r.

    .. math:: f(h, r, t) = \mathrm{ReLU}(W \mathrm{vec}(\mathrm{ReLU}([\bar h; \bar r] * \omega))
              + c)^T t + b_t

    with 3 × 3 filters ω, batch normalization of the image and before each ReLU, and dropout of
    whole feature maps and of the product with W. An image of n pixels is as close to a square
    as possible: 10 × 20 for 200. The published dropout of the image is that of the loss, of h only.

    Embeddings: entity e ``(n,)`` and bias b ``(1,)``; relation r ``(n,)``.

    Reference:
        Dettmers et al.: Convolutional 2D Knowledge Graph Embeddings, AAAI 2018.

    Example:
        >>> ConvE(entities=3, relations=2, dim=200).project.full
        Linear(in_features=10368, out_features=200, bias=True)
    """

    name = "conve"
    dim_multiple = 4
    settings = recommended(margin=-5.0, batch_size=256, dropout=0.1, lr=0.005)
    card = Card(
        *NO_FLOW, "ReLU(W vec(ReLU([h; r] * ω)))ᵀ t + b", "n+1", "n", 2018, {"antisymmetry"}
    )

    def __init__(self, entities: int, relations: int, dim: int, **options: Option) -> None:
        super().__init__(entities, relations, dim, **options)
        channels, hidden_dropout = self.options.channels, self.options.hidden_dropout
        height, width = self.image = image_shape(dim)
        if width < 3:
            raise KgflowError(f"dimension {dim} is too small for 3 × 3 filters: give 8 or more")
        self.norm_image, self.norm_maps = BatchNorm(1), BatchNorm(channels)
        self.convolve = nn.Conv2d(1, channels, kernel_size=3)
        self.project = Projection(channels, (2 * height - 2) * (width - 2), dim, hidden_dropout)

    def feature_maps(self, e: Tensor, r: Tensor) -> Tensor:
        image = torch.cat([x.unflatten(1, (1, *self.image)) for x in (e, r)], dim=2)
        return self.norm_maps(self.convolve(self.norm_image(image))).relu().flatten(2)


class HypER(ConvolutionModel):
    r"""Convolutions of h with filters that a hypernetwork computes from r.

    .. math:: f(h, r, t) = \mathrm{ReLU}(W \mathrm{vec}(h * F_r) + c)^T t + b_t,
              \quad F_r = H r + d

    with filters of 1 × 9, batch normalization of h, of the feature maps and before the ReLU, and
    dropout of whole feature maps and of the product with W. The published dropout of h is
    that of the loss, so it comes before the normalization of h instead of after it.

    Embeddings: entity e ``(n,)`` and bias b ``(1,)``; relation r ``(n,)``.

    Reference:
        Balazevic, Allen, Hospedales: Hypernetwork Knowledge Graph Embeddings, ICANN 2019.

    Example:
        >>> HypER(entities=3, relations=2, dim=200).project.full
        Linear(in_features=6144, out_features=200, bias=True)
    """

    class Options(ConvolutionOptions):
        """Options of HypER."""

        hidden_dropout: float = Field(0.2, ge=0, lt=1, description=HIDDEN_DROPOUT)

    name = "hyper"
    settings = recommended(margin=-5.0, batch_size=256, dropout=0.2, lr=0.005)
    card = Card(
        *NO_FLOW, "ReLU(W vec(h * F_r))ᵀ t + b", "n+1", "n", 2019, {"antisymmetry", "composition"}
    )

    def __init__(self, entities: int, relations: int, dim: int, **options: Option) -> None:
        super().__init__(entities, relations, dim, **options)
        channels, hidden_dropout = self.options.channels, self.options.hidden_dropout
        if dim < FILTER_WIDTH:
            raise KgflowError(f"dimension {dim} is too small for 1 × 9 filters: give 9 or more")
        self.norm_head, self.norm_maps = BatchNorm(1), BatchNorm(channels)
        self.filters = nn.Linear(dim, channels * FILTER_WIDTH)
        self.project = Projection(channels, dim - FILTER_WIDTH + 1, dim, hidden_dropout)

    def feature_maps(self, e: Tensor, r: Tensor) -> Tensor:
        windows = self.norm_head(e[:, None]).squeeze(1).unfold(1, FILTER_WIDTH, 1)
        return self.norm_maps(self.filters(r).unflatten(1, (-1, FILTER_WIDTH)) @ windows.mT)


def image_shape(dim: int) -> tuple[int, int]:
    """Return height and width of an image of `dim` pixels, as close to a square as possible.

    Example:
        >>> image_shape(200)
        (10, 20)
    """
    height = max(size for size in range(1, math.isqrt(dim) + 1) if dim % size == 0)
    return height, dim // height
