"""Block sizes, block bounds and reusable buffers."""

from collections.abc import Iterator
from math import prod

import torch
from torch import Tensor

BLOCK = 2048
"""Entities encoded and multiplied at a time during training.

Measured for embeddings of 512 and of 2048 floats: 1024 and 4096 are no faster, and 4096 needs twice
the memory."""

Positions = tuple[Tensor, Tensor]
"""Row and column indices of entries of a (queries x entities) matrix, ``(N,)`` each."""

TILE = 2**22
"""Maximum number of floats that an interaction other than the matrix product holds at a time."""


def blocks(count: int, size: int = BLOCK) -> Iterator[tuple[int, int]]:
    """Yield the bounds (low, high) of consecutive blocks of at most `size` items.

    Example:
        >>> list(blocks(5, 2))
        [(0, 2), (2, 4), (4, 5)]
    """
    for low in range(0, count, size):
        yield low, min(low + size, count)


class Buffers:
    """Uninitialized tensors by name, allocated on first use and reused afterwards.

    Example:
        >>> buffers = Buffers()
        >>> like = torch.zeros(1)
        >>> first = buffers("S", (2, 3), like)
        >>> buffers("S", (3, 1), like).data_ptr() == first.data_ptr()
        True
    """

    def __init__(self) -> None:
        self.tensors: dict[str, Tensor] = {}

    def __call__(self, name: str, shape: tuple[int, ...], like: Tensor) -> Tensor:
        """Return a tensor of this shape, with the dtype and device of `like`."""
        size, found = prod(shape), self.tensors.get(name)
        if found is None or len(found) < size or found.dtype != like.dtype:
            found = torch.empty(size, dtype=like.dtype, device=like.device)
            self.tensors[name] = found
        return found[:size].view(shape)
