"""Learning rate schedules."""

import math
from abc import abstractmethod
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from kgflow.config import LR_SCHEDULES, Component, Group


class LrScheduleSettings(Component):
    """Base class of learning rate schedules, which are their own settings."""

    group: ClassVar[Group] = LR_SCHEDULES

    @abstractmethod
    def factor(self, epoch: float, epochs: int) -> float:
        """Return the factor of the learning rate after `epoch` of `epochs` epochs."""


class Exponential(LrScheduleSettings):
    """Multiply the learning rate by a factor after every epoch.

    Example:
        >>> Exponential(decay=0.5).factor(2.75, epochs=10)
        0.25
    """

    name: Literal["exponential"] = "exponential"
    decay: Annotated[
        float, Field(gt=0, le=1, description="Factor of the learning rate per epoch.")
    ] = 0.98

    def factor(self, epoch: float, epochs: int) -> float:
        """Return decay to the power of the finished epochs."""
        return self.decay ** int(epoch)


class Cosine(LrScheduleSettings):
    """Decrease the learning rate from batch to batch along half a cosine, to 0 at the last epoch.

    Reference:
        Loshchilov, Hutter: SGDR: Stochastic Gradient Descent with Warm Restarts, ICLR 2017.

    Example:
        >>> round(Cosine().factor(5.0, epochs=10), 9)
        0.5
    """

    name: Literal["cosine"] = "cosine"

    def factor(self, epoch: float, epochs: int) -> float:
        """Return (1 + cos(π epoch / epochs)) / 2."""
        return 0.5 + 0.5 * math.cos(math.pi * min(1.0, epoch / epochs))
