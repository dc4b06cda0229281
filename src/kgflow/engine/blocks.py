"""S = QKᵀ + a + b, block by block over the entities."""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

Lower = Callable[[Tensor], tuple[Tensor, Tensor]]
"""Entity rows ``(N, w)`` to keys K ``(N, m)`` and b ``(N,)``."""

BLOCK = 4096
"""Entities lowered and multiplied at a time."""


def blocks(count: int, size: int = BLOCK) -> Iterator[tuple[int, int]]:
    """Bounds of consecutive blocks.

    Example:
        >>> list(blocks(5, 2))
        [(0, 2), (2, 4), (4, 5)]
    """
    for low in range(0, count, size):
        yield low, min(low + size, count)


def scores(
    Q: Tensor, a: Tensor, table: Tensor, lower: Lower, out: Tensor | None = None, block: int = BLOCK
) -> Tensor:
    """All scores of some queries.

    Args:
        Q: ``(B, m)``.
        a: ``(B,)``.
        table: entity rows, ``(E, w)``.
        lower: how rows become keys.
        out: where to write them, ``(B, E)``.
        block: entities at a time.

    Returns:
        S, ``(B, E)``.

    Raises:
        FloatingPointError: a score is infinite or not a number.

    Example:
        >>> K = torch.eye(3)
        >>> scores(K[:2], torch.ones(2), K, lambda rows: (rows, torch.zeros(len(rows))))
        tensor([[2., 1., 1.],
                [1., 2., 1.]])
    """
    S = torch.empty(len(Q), len(table), dtype=Q.dtype, device=Q.device) if out is None else out
    for low, high in blocks(len(table), block):
        K, b = lower(table[low:high])
        torch.addmm(b, Q, K.T, out=S[:, low:high])
    S += a[:, None]
    require_finite(S)
    return S


def require_finite(S: Tensor) -> None:
    """Refuse scores that are infinite or not a number: no order could be trusted."""
    if S.numel() and not all(torch.isfinite(edge) for edge in torch.aminmax(S)):
        raise FloatingPointError("the model gives scores that are infinite or not a number")
