"""Layers of models with hidden layers."""

import torch
from torch import Tensor, nn
from torch.nn.functional import batch_norm


class BatchNorm(nn.Module):
    r"""Batch normalization that accepts a batch of one value per channel.

    .. math:: y = \gamma \frac{x - m}{\sqrt{v + 10^{-5}}} + \beta

    with mean m and variance v of the batch in training, and their moving average in evaluation;
    also in training if a channel has a single value, which has no variance.

    Args:
        channels: number of channels.

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
        """Normalize x ``(B, channels, ...)``."""
        several = x.numel() > x.shape[1]
        state = self.mean, self.variance, self.weight, self.bias
        return batch_norm(x, *state, training=self.training and several)


class Projection(nn.Module):
    r"""Fully connected layer on feature maps: :math:`\mathrm{ReLU}(W \mathrm{vec}(x) + c)`.

    Dropout is applied to whole feature maps and to the product with W; batch normalization comes
    before the ReLU.

    Args:
        channels: number of feature maps.
        pixels: number of pixels of a feature map.
        dim: dimension of the output.
        hidden_dropout: dropout probability.

    Example:
        >>> Projection(channels=2, pixels=5, dim=3, hidden_dropout=0.1)(torch.zeros(4, 2, 5)).shape
        torch.Size([4, 3])
    """

    def __init__(self, channels: int, pixels: int, dim: int, hidden_dropout: float) -> None:
        super().__init__()
        self.drop, self.drop_map = nn.Dropout(hidden_dropout), nn.Dropout1d(hidden_dropout)
        self.full, self.norm = nn.Linear(channels * pixels, dim), BatchNorm(dim)

    def forward(self, maps: Tensor) -> Tensor:
        """Return vectors ``(B, dim)`` of feature maps ``(B, channels, pixels)``."""
        full = self.full(self.drop_map(maps).flatten(1))
        return self.norm(self.drop(full)).relu()
