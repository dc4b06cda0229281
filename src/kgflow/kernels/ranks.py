"""Where the true answers stand among all entities."""

from typing import NamedTuple

import torch
from torch import Tensor

from kgflow.kernels.blocks import blocks

CHUNK = 64
"""Answers compared at a time."""


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
        answers: row and column of each answer, ``(P,)``.
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
    out = torch.cat([known[0] * S.shape[1] + known[1], row * S.shape[1] + column]).unique()
    free = S.shape[1] - torch.bincount(out // S.shape[1], minlength=len(S))
    better, no_worse = compare(S, row, target)
    return Ranks(better + 1, no_worse + 1, free[row] + 1)


def compare(S: Tensor, row: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """How many scores of a row are above a target, and how many are not below it.

    Args:
        S: scores, ``(B, E)``.
        row: which row each target is compared with, ``(P,)``.
        target: ``(P,)``.

    Example:
        >>> S = torch.tensor([[3.0, 2.0, 2.0, 1.0]])
        >>> compare(S, torch.tensor([0]), torch.tensor([2.0]))
        (tensor([1]), tensor([3]))
    """
    better, no_worse = torch.empty_like(row), torch.empty_like(row)
    # Few rows at a time stay in the processor's cache; sums of floats are quicker than of truths.
    rows, truth = (S.new_empty(min(CHUNK, len(row)), S.shape[1]) for _ in range(2))
    for low, high in blocks(len(row), CHUNK):
        chosen, size = torch.index_select(S, 0, row[low:high], out=rows[: high - low]), high - low
        own = target[low:high, None]
        better[low:high] = torch.gt(chosen, own, out=truth[:size]).sum(1)
        no_worse[low:high] = torch.ge(chosen, own, out=truth[:size]).sum(1)
    return better, no_worse
