"""Conformal prediction: the thresholds of prediction sets."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import torch

from kgflow.data import QueryIndex
from kgflow.errors import KgflowError
from kgflow.evaluation import Progress, Scorer, no_progress
from kgflow.evaluation.metrics import Floats
from kgflow.evaluation.scoring import Ids
from kgflow.models import Model
from kgflow.uncertainty.nonconformity import NonconformityScore, RankScore, answer_values

MIN_RELATION_ANSWERS = 50
"""Smallest number of held-out answers for which a relation has its own threshold."""


@dataclass(frozen=True, eq=False)
class Conformal:
    r"""Nonconformity scores of held-out answers, from which thresholds are computed.

    The rank of a new V among n exchangeable ones is uniform, so the set of all candidates up to the
    order statistic :math:`V_{(k)}` contains the answer with probability :math:`k/(n+1)`. For a
    coverage c, k is :math:`c(n+1)`, rounded up or down at random with that mean: coverage is c
    exactly, over the random choice of held-out triples, of the new one, and of U. The set is empty
    for k = 0 and contains all candidates for k = n + 1.

    Args:
        h, r, t: Query and answer of held-out triples, ``(n,)``; inverse relations have ids from R
            on.
        value: V of each answer, ``(n,)``.
        by_relation: Whether each relation and direction has its own threshold (Vovk: Conditional
            validity of inductive conformal predictors, 2012). Those with fewer answers than
            `MIN_RELATION_ANSWERS`, or than the coverage needs, share one with their cluster.
        nonconformity: Nonconformity score that gave the values.
        clusters: Cluster of relation ids, numbered from -2 downwards; other relations are in -1.
            They must not depend on the values.

    Example:
        >>> ids = np.zeros(9, int)
        >>> conformal = Conformal(ids, ids, ids, np.arange(1.0, 10.0))
        >>> conformal.threshold(0, 0.8, u=0.5), conformal.threshold(0, 0.95, u=0.1)
        (8.0, inf)
    """

    h: Ids
    r: Ids
    t: Ids
    value: Floats
    by_relation: bool = False
    nonconformity: NonconformityScore = field(default_factory=RankScore)
    clusters: Mapping[int, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.value)

    def group(self, r: Ids, coverage: float) -> Ids:
        """Return the group of relation ids ``(N,)``: the relation itself, its cluster or -1."""
        if not self.by_relation:
            return np.full(len(r), -1)
        relations, counts = np.unique(self.r, return_counts=True)
        own = set(relations[counts >= min_answers(coverage)].tolist())
        return np.array([x if x in own else self.clusters.get(x, -1) for x in r.tolist()], int)

    def groups(self, coverage: float) -> dict[int, Floats]:
        """Return the sorted V by group."""
        group = self.group(self.r, coverage)
        found = {int(g): np.sort(self.value[group == g]) for g in np.unique(group)}
        # Where every relation has its own threshold, unseen ones use all values.
        return {-1: np.sort(self.value)} | found

    def threshold(self, r: int, coverage: float, u: float) -> float:
        """Compute the largest V of a prediction set of relation r; u is uniform and rounds k."""
        return float(self.thresholds(np.array([r]), coverage, np.array([u]))[0])

    def thresholds(self, r: Ids, coverage: float, u: Floats) -> Floats:
        """Compute the thresholds of queries with relation ids ``(B,)``: ``(B,)``."""
        groups = self.groups(coverage)
        pairs = zip(self.group(r, coverage).tolist(), u.tolist(), strict=True)
        return np.array([order_statistic(groups.get(x, groups[-1]), coverage, y) for x, y in pairs])


def min_answers(coverage: float) -> int:
    """Return the smallest number of answers for which a relation has its own threshold.

    Example:
        >>> min_answers(0.9), min_answers(0.99)
        (50, 100)
    """
    return max(MIN_RELATION_ANSWERS, math.ceil(round(1 / (1 - coverage), 9)))


def order_statistic(ascending: Floats, coverage: float, u: float) -> float:
    """Return the c(n + 1)-th smallest value, rounded at random: -inf for k = 0, inf for n + 1."""
    exact = coverage * (len(ascending) + 1)
    k = math.floor(exact) + (u < exact - math.floor(exact))
    if k == 0:
        return -math.inf
    return float(ascending[k - 1]) if k <= len(ascending) else math.inf


def check_coverage(coverage: float) -> None:
    """Raise an error unless a coverage is strictly between 0 and 1."""
    if not 0 < coverage < 1:
        raise KgflowError(f"coverage is {coverage}: give a probability between 0 and 1, such as .9")


def fit_conformal(
    model: Model,
    nonconformity: NonconformityScore,
    queries: QueryIndex,
    known: QueryIndex,
    by_relation: bool = False,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Conformal:
    """Compute the nonconformity scores of the answers of held-out triples.

    `queries` are those of the held-out triples, with inverse relations; known triples are no
    candidates. U is drawn with the random seed.
    """
    generator, parts = torch.Generator().manual_seed(seed), []
    for found in Scorer(model, known).answers(queries, progress):
        u = torch.rand(len(found.t), generator=generator, dtype=torch.float64).to(found.S.device)
        value = answer_values(nonconformity, found, u).cpu().numpy()
        parts.append((found.h, found.r, found.t, value))
    h, r, t, value = (np.concatenate(x) for x in zip(*parts, strict=True))
    return Conformal(h, r, t, value, by_relation, nonconformity)
