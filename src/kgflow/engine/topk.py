"""The best answers to a batch of queries, without keeping all scores."""

from typing import NamedTuple

import torch
from torch import Tensor

from kgflow.engine.blocks import BLOCK, Lower, Meet, blocks, product, require_finite


class Best(NamedTuple):
    """The k best entities of each query, best first: scores and ids, ``(B, k)``.

    Where fewer are allowed, the rest has score -inf.
    """

    score: Tensor
    entity: Tensor


def top_k(
    Q: Tensor,
    a: Tensor,
    table: Tensor,
    lower: Lower,
    k: int,
    banned: tuple[Tensor, Tensor] | None = None,
    allowed: Tensor | None = None,
    meet: Meet | None = None,
    block: int = BLOCK,
) -> Best:
    """The k best entities of each query.

    Raises:
        FloatingPointError: a score is infinite or not a number.

    Args:
        Q: ``(B, m)``.
        a: ``(B,)``.
        table: entity rows, ``(E, w)``.
        lower: how rows become keys.
        k: how many.
        banned: row and column of answers to leave out (known facts).
        allowed: ``(E,)``, True for the entities that may be answers.
        meet: how queries meet keys, if not by the matrix product.
        block: entities at a time.

    Example:
        >>> K = torch.eye(3)
        >>> Q = torch.tensor([[1.0, 3.0, 2.0]])
        >>> top_k(Q, torch.zeros(1), K, lambda rows: (rows, torch.zeros(len(rows))), k=2)
        Best(score=tensor([[3., 2.]]), entity=tensor([[1, 2]]))
    """
    k = min(k, len(table))
    nobody = torch.zeros(len(Q), k, dtype=torch.long, device=Q.device)
    best = Best(Q.new_full((len(Q), k), -torch.inf), nobody)
    for low, high in blocks(len(table), block):
        K, b = lower(table[low:high])
        S = product(Q, K, b, Q.new_empty(len(Q), len(K)), meet).add_(a[:, None])
        require_finite(S)
        if banned is not None:
            row, column = banned
            here = (column >= low) & (column < high)
            S[row[here], column[here] - low] = -torch.inf
        if allowed is not None:
            S[:, ~allowed[low:high]] = -torch.inf
        best = _merge(best, S, low, k)
    return best


def _merge(best: Best, S: Tensor, low: int, k: int) -> Best:
    score, entity = S.topk(min(k, S.shape[1]), dim=1)
    score = torch.cat([best.score, score], dim=1)
    entity = torch.cat([best.entity, entity + low], dim=1)
    score, place = score.topk(k, dim=1)
    return Best(score, entity.gather(1, place))
