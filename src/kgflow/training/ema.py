"""Exponential moving average of weights."""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import Tensor, nn


class MovingAverage:
    r"""Exponential moving average of a model's parameters and buffers, updated once per epoch.

    .. math:: \bar w \leftarrow \beta \bar w + (1 - \beta) w

    with a smaller :math:`\beta` in the first epochs, so that the initial weights are forgotten
    soon. Buffers, such as the statistics of batch normalization, are averaged too. With β = 0 it is
    the model itself.

    Example:
        >>> import torch
        >>> model = nn.Linear(1, 1, bias=False)
        >>> average = MovingAverage(model, decay=0.9)
        >>> _ = model.weight.data.fill_(1.0); average.update(epoch=0)
        >>> _ = model.weight.data.fill_(2.0); average.update(epoch=1)
        >>> with average.applied():
        ...     round(model.weight.item(), 4)  # a tenth of the way back
        1.9091
        >>> model.weight.item()
        2.0
    """

    def __init__(self, model: nn.Module, decay: float) -> None:
        self.model, self.decay = model, decay
        self.weights: dict[str, Tensor] = {}
        if decay:
            self.weights = {k: x.detach().clone() for k, x in self._tensors()}

    def update(self, epoch: int) -> None:
        """Add the weights after an epoch, counted from 0."""
        # The usual warm-up: the first epoch has weight 1, later ones less and less.
        beta = min(self.decay, epoch / (epoch + 10))
        own = dict(self._tensors())
        for name, average in self.weights.items():
            average.lerp_(own[name].detach(), 1 - beta)

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Give the model its averaged weights within a `with` block."""
        self._swap()
        try:
            yield
        finally:
            self._swap()

    def _swap(self) -> None:
        own = dict(self._tensors())
        for name, average in self.weights.items():
            self.weights[name], own[name].data = own[name].data, average

    def _tensors(self) -> Iterator[tuple[str, Tensor]]:
        yield from self.model.named_parameters()
        yield from self.model.named_buffers()
