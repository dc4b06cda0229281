"""Filtered ranks of answers, and the k best entities of each query."""

from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from kgflow.kernels.entities import EncodedEntities, Positions, blocks, require_finite

COMPARED = 64
"""Answers compared with their competitors at a time."""


class Ranks(NamedTuple):
    """Filtered ranks of P answers and their numbers of candidates, each ``(P,)``.

    The optimistic rank puts an answer before the candidates of equal score, the pessimistic one
    behind them.
    """

    optimistic: Tensor
    pessimistic: Tensor
    candidates: Tensor


def filtered_ranks(S: Tensor, answers: Positions, known: Positions) -> Ranks:
    r"""Rank answers among the entities that are not known answers.

    .. math:: \mathrm{rank} = 1 + |\{e \notin \mathrm{known}: s_e > s_t\}|

    for the optimistic rank, and with :math:`\ge` for the pessimistic one. The score of an answer is
    read from the same S as those of its competitors.

    Args:
        S: scores of all entities, ``(B, E)``, finite; **overwritten** with -inf where known.
        answers: query and entity of each answer to rank, ``(P,)``.
        known: query and entity of every known answer, ``(N,)``.

    Example:
        >>> S = torch.tensor([[3.0, 2.0, 2.0, 1.0]])
        >>> one = torch.tensor([0])
        >>> filtered_ranks(S, (one, torch.tensor([1])), (one, torch.tensor([0])))
        Ranks(optimistic=tensor([1]), pessimistic=tensor([2]), candidates=tensor([3]))
    """
    row, column = answers
    target = S[row, column]
    S[known] = -torch.inf
    S[row, column] = -torch.inf
    removed = torch.cat([known[0] * S.shape[1] + known[1], row * S.shape[1] + column]).unique()
    left = S.shape[1] - torch.bincount(removed // S.shape[1], minlength=len(S))
    higher, not_lower = count_higher_scores(S, row, target)
    return Ranks(higher + 1, not_lower + 1, left[row] + 1)


def count_higher_scores(S: Tensor, row: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Count the scores of a query that are higher than a target, and those that are not lower.

    Args:
        S: scores, ``(B, E)``.
        row: query of each target, ``(P,)``.
        target: scores to compare with, ``(P,)``.

    Example:
        >>> S = torch.tensor([[3.0, 2.0, 2.0, 1.0]])
        >>> count_higher_scores(S, torch.tensor([0]), torch.tensor([2.0]))
        (tensor([1]), tensor([3]))
    """
    higher, not_lower = torch.empty_like(row), torch.empty_like(row)
    # A small buffer stays in the processor's cache; summing floats is faster than summing booleans.
    scores, mask = (S.new_empty(min(COMPARED, len(row)), S.shape[1]) for _ in range(2))
    for low, high in blocks(len(row), COMPARED):
        size = high - low
        chosen = torch.index_select(S, 0, row[low:high], out=scores[:size])
        own = target[low:high, None]
        higher[low:high] = torch.gt(chosen, own, out=mask[:size]).sum(1)
        not_lower[low:high] = torch.ge(chosen, own, out=mask[:size]).sum(1)
    return higher, not_lower


class TopK(NamedTuple):
    """Scores and ids of the k best entities of each query, best first, ``(B, k)`` each.

    Where a query has fewer than k candidates, the remaining scores are -inf.
    """

    score: Tensor
    entity: Tensor

    @classmethod
    def empty(cls, Q: Tensor, k: int) -> "TopK":
        """Return scores of -inf for queries Q ``(B, m)``."""
        ids = torch.zeros(len(Q), k, dtype=torch.long, device=Q.device)
        return cls(Q.new_full((len(Q), k), -torch.inf), ids)

    def merge(self, S: Tensor, low: int) -> "TopK":
        """Return the k best of these and of the scores S ``(B, N)`` of entities from `low` on."""
        k = self.score.shape[1]
        score, entity = S.topk(min(k, S.shape[1]), dim=1)
        score, place = torch.cat([self.score, score], dim=1).topk(k, dim=1)
        return TopK(score, torch.cat([self.entity, entity + low], dim=1).gather(1, place))


class TopKSearch(Protocol):
    """Search for the k best entities of each query, exact or approximate."""

    def __call__(
        self, Q: Tensor, a: Tensor, k: int, excluded: Positions | None, allowed: Tensor | None
    ) -> TopK:
        """Return the k best entities of each query.

        Args:
            Q: query vectors, ``(B, m)``.
            a: bias terms of the queries, ``(B,)``.
            k: number of entities per query.
            excluded: query and entity of answers to leave out, such as known ones.
            allowed: mask of the entities that may be answers, ``(E,)``.

        Raises:
            FloatingPointError: a score is infinite or NaN.
        """


class ExactSearch:
    """Search that scores every entity.

    Args:
        entities: keys of all candidates.

    Example:
        >>> entities = EncodedEntities(torch.eye(3), lambda x: (x, torch.zeros(len(x))))
        >>> ExactSearch(entities)(torch.tensor([[1.0, 3.0, 2.0]]), torch.zeros(1), k=2)
        TopK(score=tensor([[3., 2.]]), entity=tensor([[1, 2]]))
    """

    def __init__(self, entities: EncodedEntities) -> None:
        self.entities = entities

    def __call__(
        self,
        Q: Tensor,
        a: Tensor,
        k: int,
        excluded: Positions | None = None,
        allowed: Tensor | None = None,
    ) -> TopK:
        best = TopK.empty(Q, min(k, len(self.entities)))
        for low, high, S in self.entities.products(Q, a):
            require_finite(S)
            if excluded is not None:
                row, column = excluded
                here = (column >= low) & (column < high)
                S[row[here], column[here] - low] = -torch.inf
            if allowed is not None:
                S[:, ~allowed[low:high]] = -torch.inf
            best = best.merge(S, low)
        return best
