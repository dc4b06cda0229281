"""Where the true answers stand among all entities."""

from typing import NamedTuple

import torch
from torch import Tensor


class Ranks(NamedTuple):
    """Filtered ranks of P answers, each ``(P,)``: ties won, ties lost, and out of how many."""

    optimistic: Tensor
    pessimistic: Tensor
    candidates: Tensor


def filtered_ranks(
    S: Tensor, answers: tuple[Tensor, Tensor], known: tuple[Tensor, Tensor]
) -> Ranks:
    r"""Rank answers among the entities that are not known to be true.

    .. math:: \mathrm{rank} = 1 + |\{e \notin \mathrm{known}: s_e > s_t\}|

    and with :math:`\ge` where ties are lost. The answer's own score is read from S, where its
    competitors' are.

    Args:
        S: all scores, ``(B, E)``, finite; **overwritten** with -inf at known positions.
        answers: row and column of each answer, ``(P,)``, sorted by row.
        known: row and column of every known truth, ``(N,)``.

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
    free = S.shape[1] - torch.isneginf(S).sum(1)
    better, no_worse = torch.empty_like(row), torch.empty_like(row)
    # The j-th answer of every row is compared in one go: few rows have more than a few.
    nth = torch.arange(len(row), device=row.device) - torch.searchsorted(row, row)
    for j in range(int(nth.max()) + 1 if len(nth) else 0):
        chosen = (nth == j).nonzero().squeeze(1)
        rows = S if len(chosen) == len(S) else S[row[chosen]]
        better[chosen] = (rows > target[chosen, None]).sum(1)
        no_worse[chosen] = (rows >= target[chosen, None]).sum(1)
    return Ranks(better + 1, no_worse + 1, free[row] + 1)
