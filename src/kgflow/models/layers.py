"""What the models with hidden layers share."""

import torch
from torch import Tensor, nn
from torch.nn.functional import batch_norm

from kgflow.errors import KgflowError


class BatchNorm(nn.Module):
    r"""Each channel to mean 0 and variance 1, then scaled and moved as is learned.

    .. math:: y = \gamma \frac{x - m}{\sqrt{v + 10^{-5}}} + \beta

    with the batch's m and v in training, of which a moving average is kept, and that average in
    evaluation; and in training too where a channel has one number, which has no variance.

    Args:
        channels: how many.

    Example:
        >>> norm = BatchNorm(2)
        >>> norm(torch.tensor([[1.0, 4.0], [3.0, 8.0]])).detach().round()
        tensor([[-1., -1.],
                [ 1.,  1.]])
        >>> norm(torch.ones(1, 2)).shape
        torch.Size([1, 2])
    """

    mean: Tensor
    variance: Tensor

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(channels))
        self.bias = nn.Parameter(torch.zeros(channels))
        self.register_buffer("mean", torch.zeros(channels))
        self.register_buffer("variance", torch.ones(channels))

    def forward(self, x: Tensor) -> Tensor:
        """Of x ``(B, channels, ...)``, the same shape."""
        several = x.numel() > x.shape[1]
        state = self.mean, self.variance, self.weight, self.bias
        return batch_norm(x, *state, training=self.training and several)


class Projection(nn.Module):
    r"""From feature maps to a vector: :math:`\mathrm{ReLU}(W \mathrm{vec}(x) + c)`.

    Whole maps, and numbers of the product with W, are left out in training; batch normalization
    comes before the ReLU.

    Args:
        channels: how many maps.
        pixels: numbers in each.
        dim: numbers in the vector.
        hidden_dropout: the share that is left out.

    Example:
        >>> Projection(channels=2, pixels=5, dim=3, hidden_dropout=0.1)(torch.zeros(4, 2, 5)).shape
        torch.Size([4, 3])
    """

    def __init__(self, channels: int, pixels: int, dim: int, hidden_dropout: float) -> None:
        super().__init__()
        self.drop, self.drop_map = dropout(hidden_dropout), nn.Dropout1d(hidden_dropout)
        self.full, self.norm = nn.Linear(channels * pixels, dim), BatchNorm(dim)

    def forward(self, maps: Tensor) -> Tensor:
        """The vectors ``(B, dim)`` of maps ``(B, channels, pixels)``."""
        full = self.full(self.drop_map(maps).flatten(1))
        return self.norm(self.drop(full)).relu()


def dropout(share: float) -> nn.Dropout:
    """A layer that leaves out this share of its numbers in training.

    Example:
        >>> dropout(0.25)
        Dropout(p=0.25, inplace=False)
    """
    if not 0 <= share < 1:
        raise KgflowError(f"hidden_dropout is a share, from 0 to below 1: {share} is not")
    return nn.Dropout(share)


def filters(channels: int) -> int:
    """The number of filters, refused where there would be none.

    Example:
        >>> filters(32)
        32
    """
    if channels < 1:
        raise KgflowError(f"channels is how many filters there are, 1 or more: {channels} is not")
    return channels
