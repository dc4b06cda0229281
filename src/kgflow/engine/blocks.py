"""S = QKᵀ + a + b, block by block over the entities."""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

Lower = Callable[[Tensor], tuple[Tensor, Tensor]]
"""Entity rows ``(N, w)`` to keys K ``(N, m)`` and b ``(N,)``."""

Meet = Callable[[Tensor, Tensor], Tensor]
"""How Q ``(B, m)`` meets K ``(N, l)``, to ``(B, N)``, where that is no matrix product."""

TILE = 2**22
"""Numbers that such a meeting may hold at a time."""

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
    Q: Tensor,
    a: Tensor,
    table: Tensor,
    lower: Lower,
    meet: Meet | None = None,
    block: int = BLOCK,
) -> Tensor:
    """All scores of some queries.

    Args:
        Q: ``(B, m)``.
        a: ``(B,)``.
        table: entity rows, ``(E, w)``.
        lower: how rows become keys.
        meet: how queries meet keys, if not by the matrix product.
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
    S = torch.empty(len(Q), len(table), dtype=Q.dtype, device=Q.device)
    for low, high in blocks(len(table), block):
        K, b = lower(table[low:high])
        product(Q, K, b, S[:, low:high], meet)
    S += a[:, None]
    require_finite(S)
    return S


def product(Q: Tensor, K: Tensor, b: Tensor, out: Tensor, meet: Meet | None = None) -> Tensor:
    """QKᵀ + b, or what stands in its place, written to `out` ``(B, N)``."""
    if meet is None:
        return torch.addmm(b, Q, K.T, out=out)
    rows = min(len(Q), 64)
    size = max(1, TILE // max(1, rows * max(Q.shape[1], K.shape[1])))
    for top, bottom in blocks(len(Q), max(1, rows)):
        for low, high in blocks(len(K), size):
            out[top:bottom, low:high] = meet(Q[top:bottom], K[low:high])
    return out.add_(b)


def require_finite(S: Tensor) -> None:
    """Refuse scores that are infinite or not a number: no order could be trusted."""
    if S.numel() and not all(torch.isfinite(edge) for edge in torch.aminmax(S)):
        raise FloatingPointError("the model gives scores that are infinite or not a number")
