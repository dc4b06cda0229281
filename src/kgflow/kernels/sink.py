"""Where the gradient by the entity rows goes, block by block."""

from abc import ABC, abstractmethod

from torch import Tensor


class Sink(ABC):
    """Takes the gradient by entity rows: first as tails, block by block, then as heads."""

    @abstractmethod
    def room(self, low: int, high: int) -> Tensor:
        """Where the gradient of rows low to high as tails is to be written, ``(N, w)``."""

    @abstractmethod
    def done(self, low: int, high: int) -> None:
        """It has been written; these rows are not read again in this pass."""

    @abstractmethod
    def nothing(self) -> None:
        """In place of all blocks: no row has a gradient as a tail."""

    @abstractmethod
    def add(self, ids: Tensor, grad: Tensor) -> None:
        """The gradient ``(B, w)`` of some rows as heads, which ends the pass; ids may repeat."""


class Stored(Sink):
    """Keeps the whole gradient.

    Args:
        out: where, ``(E, w)``; whatever stands there is overwritten.
    """

    def __init__(self, out: Tensor) -> None:
        self.out = out

    def room(self, low: int, high: int) -> Tensor:
        """The rows themselves."""
        return self.out[low:high]

    def done(self, low: int, high: int) -> None:
        """Nothing is left to do."""

    def nothing(self) -> None:
        """All zero."""
        self.out.zero_()

    def add(self, ids: Tensor, grad: Tensor) -> None:
        """Add to the rows."""
        self.out.index_add_(0, ids, grad)
