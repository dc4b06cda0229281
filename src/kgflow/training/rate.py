"""How the learning rate changes."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass


class Rate(ABC):
    """The factor of the learning rate, at any place in a training."""

    @abstractmethod
    def __call__(self, epoch: float, drops: int) -> float:
        """The factor after so many epochs, broken ones too, and validations without gain."""


@dataclass(frozen=True)
class Exponential(Rate):
    """A factor for every whole epoch.

    Example:
        >>> Exponential(0.5)(2.75, drops=0)
        0.25
    """

    decay: float

    def __call__(self, epoch: float, drops: int) -> float:
        """By whole epochs."""
        return self.decay ** int(epoch)


@dataclass(frozen=True)
class Cosine(Rate):
    """Half a wave, from 1 down to 0 at the last epoch.

    Reference:
        Loshchilov, Hutter: SGDR: Stochastic Gradient Descent with Warm Restarts, ICLR 2017.

    Example:
        >>> round(Cosine(epochs=10)(5.0, drops=0), 9)
        0.5
    """

    epochs: int

    def __call__(self, epoch: float, drops: int) -> float:
        """From batch to batch."""
        return 0.5 + 0.5 * math.cos(math.pi * min(1.0, epoch / self.epochs))


@dataclass(frozen=True)
class Plateau(Rate):
    """A factor for every validation that brought no gain.

    Example:
        >>> Plateau(0.5)(7.0, drops=3)
        0.125
    """

    decay: float

    def __call__(self, epoch: float, drops: int) -> float:
        """By validations."""
        return self.decay**drops


@dataclass(frozen=True)
class Warmup(Rate):
    """Another rate, reached in a straight line over the first epochs.

    Example:
        >>> Warmup(Exponential(0.5), epochs=2)(0.5, drops=0)
        0.25
    """

    rate: Rate
    epochs: float

    def __call__(self, epoch: float, drops: int) -> float:
        """From batch to batch."""
        return self.rate(epoch, drops) * min(1.0, epoch / self.epochs)
