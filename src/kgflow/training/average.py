"""Weights averaged over epochs."""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import Tensor, nn


class Average:
    r"""An exponential moving average of a model's parameters and buffers, one step per epoch.

    .. math:: \bar w \leftarrow \beta \bar w + (1 - \beta) w

    with :math:`\beta` smaller in the first epochs, so that the start is soon forgotten. Averages of
    late epochs generalise better than any of them. What a batch normalization remembers of its
    batches is averaged with the weights that made them. With β = 0 it is the model itself.

    Example:
        >>> import torch
        >>> model = nn.Linear(1, 1, bias=False)
        >>> average = Average(model, beta=0.9)
        >>> _ = model.weight.data.fill_(1.0); average.update(epoch=0)
        >>> _ = model.weight.data.fill_(2.0); average.update(epoch=1)
        >>> with average.applied():
        ...     round(model.weight.item(), 4)  # a tenth of the way back
        1.9091
        >>> model.weight.item()
        2.0
    """

    def __init__(self, model: nn.Module, beta: float) -> None:
        self.model, self.beta = model, beta
        self.weights: dict[str, Tensor] = {}
        if beta:
            self.weights = {k: x.detach().clone() for k, x in self._tensors()}

    def update(self, epoch: int) -> None:
        """Take in the state after an epoch, counted from 0."""
        # The usual warm-up: the first epoch counts 1, later ones less and less.
        beta = min(self.beta, epoch / (epoch + 10))
        own = dict(self._tensors())
        for name, average in self.weights.items():
            average.lerp_(own[name].detach(), 1 - beta)

    @contextmanager
    def applied(self) -> Iterator[None]:
        """The model in its averaged state; afterwards it has its own again."""
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
