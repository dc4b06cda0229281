"""The best answers to a batch of queries, without keeping all scores."""

from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from kgflow.kernels.entities import Entities, require_finite


class Best(NamedTuple):
    """The k best entities of each query, best first: scores and ids, ``(B, k)``.

    Where fewer are allowed, the rest has score -inf.
    """

    score: Tensor
    entity: Tensor


Pairs = tuple[Tensor, Tensor]
"""Row and column of answers, ``(N,)`` each."""


class Search(Protocol):
    """A way to the k best entities of each query, whatever is banned or allowed."""

    def __call__(
        self, Q: Tensor, a: Tensor, k: int, banned: Pairs | None, allowed: Tensor | None
    ) -> Best:
        """As `top_k`."""


class Exact:
    """The search that looks at every entity."""

    def __init__(self, entities: Entities) -> None:
        self.entities = entities

    def __call__(
        self,
        Q: Tensor,
        a: Tensor,
        k: int,
        banned: Pairs | None = None,
        allowed: Tensor | None = None,
    ) -> Best:
        """As `top_k`."""
        return top_k(Q, a, self.entities, k, banned, allowed)


def top_k(
    Q: Tensor,
    a: Tensor,
    entities: Entities,
    k: int,
    banned: Pairs | None = None,
    allowed: Tensor | None = None,
) -> Best:
    """The k best entities of each query.

    Raises:
        FloatingPointError: a score is infinite or not a number.

    Args:
        Q: ``(B, m)``.
        a: ``(B,)``.
        entities: all that can be answers.
        k: how many.
        banned: row and column of answers to leave out (known facts).
        allowed: ``(E,)``, True for the entities that may be answers.

    Example:
        >>> entities = Entities(torch.eye(3), lambda rows: (rows, torch.zeros(len(rows))))
        >>> top_k(torch.tensor([[1.0, 3.0, 2.0]]), torch.zeros(1), entities, k=2)
        Best(score=tensor([[3., 2.]]), entity=tensor([[1, 2]]))
    """
    k = min(k, len(entities))
    nobody = torch.zeros(len(Q), k, dtype=torch.long, device=Q.device)
    best = Best(Q.new_full((len(Q), k), -torch.inf), nobody)
    for low, high, S in entities.products(Q, a):
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
