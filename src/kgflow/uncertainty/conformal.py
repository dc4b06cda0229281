"""Sets of answers with a promise."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from kgflow.data import QueryIndex
from kgflow.errors import KgflowError
from kgflow.evaluation.metrics import Floats
from kgflow.evaluation.scored import scored
from kgflow.models import Model
from kgflow.uncertainty.nonconformity import NonconformityScore

OWN = 50
"""Answers that a relation's own threshold is read from, at least."""


@dataclass(frozen=True, eq=False)
class Conformal:
    r"""The strangeness of answers that nothing was chosen by, to read thresholds from.

    A new answer is as likely to stand at any place among n exchangeable ones, so with V sorted, a
    set of all candidates up to :math:`V_{(k)}` holds it with probability :math:`k/(n+1)`. For a
    coverage c, k is :math:`c(n+1)`, rounded up or down at random so that this is its mean: the set
    holds the answer with probability c, no less and no more, over the drawing of the held-out
    facts, the new one and U. Where k is 0 the set is empty, where it is n + 1 it is everything.

    Args:
        h, r, t, value: the question of each answer, the answer and its V, ``(n,)``; relations of
            head-side questions go on after the others.
        by_relation: thresholds for each relation and side (Vovk: Conditional validity of inductive
            conformal predictors, 2012). Those with fewer answers than `OWN`, or than coverage
            needs, share one.

    Example:
        >>> ids = np.zeros(9, int)
        >>> conformal = Conformal(ids, ids, ids, np.arange(1.0, 10.0))
        >>> conformal.threshold(0, 0.8, u=0.5), conformal.threshold(0, 0.95, u=0.1)
        (8.0, inf)
    """

    h: NDArray[np.int64]
    r: NDArray[np.int64]
    t: NDArray[np.int64]
    value: Floats
    by_relation: bool = False

    def __len__(self) -> int:
        return len(self.value)

    def group(self, coverage: float) -> NDArray[np.int64]:
        """Whose threshold each answer helps to set, ``(n,)``: its relation's, or -1 for shared."""
        if not self.by_relation:
            return np.full(len(self), -1)
        relations, place, counts = np.unique(self.r, return_inverse=True, return_counts=True)
        return np.where(counts >= needed(coverage), relations, -1)[place]

    def groups(self, coverage: float) -> dict[int, Floats]:
        """The sorted V of each group; under -1 those of all that have none of their own."""
        group = self.group(coverage)
        found = {int(g): np.sort(self.value[group == g]) for g in np.unique(group)}
        # Where every relation has its own, one that is new shares with all of them.
        return {-1: np.sort(self.value)} | found

    def threshold(self, r: int, coverage: float, u: float) -> float:
        """Up to which V a set for relation r goes.

        Args:
            r: the relation's id.
            coverage: with what probability the set is to hold the answer.
            u: a uniform number, which rounds k.
        """
        groups = self.groups(coverage)
        return order_statistic(groups.get(r, groups[-1]), coverage, u)

    def thresholds(self, r: NDArray[np.int64], coverage: float, u: Floats) -> Floats:
        """The same for many questions, ``(B,)``."""
        groups = self.groups(coverage)
        pairs = zip(r.tolist(), u.tolist(), strict=True)
        return np.array([order_statistic(groups.get(x, groups[-1]), coverage, y) for x, y in pairs])


def needed(coverage: float) -> int:
    """How many answers a threshold of its own needs.

    Example:
        >>> needed(0.9), needed(0.99)
        (50, 100)
    """
    return max(OWN, math.ceil(round(1 / (1 - coverage), 9)))


def order_statistic(ascending: Floats, coverage: float, u: float) -> float:
    """The c(n + 1)-th smallest, rounded at random: -inf before the first, inf after the last."""
    exact = coverage * (len(ascending) + 1)
    k = math.floor(exact) + (u < exact - math.floor(exact))
    if k == 0:
        return -math.inf
    return float(ascending[k - 1]) if k <= len(ascending) else math.inf


def check_coverage(coverage: float) -> None:
    """Refuse what is no probability strictly between 0 and 1."""
    if not 0 < coverage < 1:
        raise KgflowError(f"coverage is {coverage}: give a probability between 0 and 1, such as .9")


@torch.no_grad()
def conform(
    model: Model,
    nonconformity: NonconformityScore,
    questions: QueryIndex,
    known: QueryIndex,
    by_relation: bool = False,
    seed: int = 0,
    progress: Callable[[float], None] = lambda share: None,
) -> Conformal:
    """Measure how strange the answers of held-out facts are.

    Args:
        model: what scores.
        nonconformity: of an answer among its candidates.
        questions: the queries of the held-out facts, inverse_relations included.
        known: the queries of all known facts: no candidate is one of them.
        by_relation: thresholds for each relation and side.
        seed: of U.
        progress: called with the share of the work that is done.
    """
    generator, parts = torch.Generator().manual_seed(seed), []
    for found in scored(model, questions, known, progress=progress):
        u = torch.rand(len(found.t), generator=generator, dtype=torch.float64).to(found.S.device)
        parts.append(
            (found.h, found.r, found.t, nonconformity(found.S, found.score, u).cpu().numpy())
        )
    h, r, t, value = (np.concatenate(x) for x in zip(*parts, strict=True))
    return Conformal(h, r, t, value, by_relation)
