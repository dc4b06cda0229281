"""Consecutive blocks."""

from collections.abc import Iterator

BLOCK = 2048
"""Entities lowered and multiplied at a time.

Measured for rows of 512 and of 2048 numbers: half of it and twice it are no quicker, and twice it
costs twice the memory."""


def blocks(count: int, size: int = BLOCK) -> Iterator[tuple[int, int]]:
    """Bounds of consecutive blocks.

    Example:
        >>> list(blocks(5, 2))
        [(0, 2), (2, 4), (4, 5)]
    """
    for low in range(0, count, size):
        yield low, min(low + size, count)
