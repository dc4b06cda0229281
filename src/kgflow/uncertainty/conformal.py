"""Conformal prediction: nonconformity scores and the thresholds of prediction sets."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from kgflow.data import QueryIndex
from kgflow.errors import KgflowError
from kgflow.evaluation import Progress, Scorer, no_progress
from kgflow.evaluation.metrics import Floats
from kgflow.evaluation.scoring import Ids
from kgflow.models import Model

PENALTY = 0.03
"""λ of adaptive sets: what every candidate adds to the mass."""
MIN_RELATION_ANSWERS = 50
"""Smallest number of held-out answers for which a relation has its own threshold."""


class NonconformityScore(ABC):
    r"""Mass of the better candidates, and a random part of the mass of the tied ones.

    .. math:: V_t = \sum_{s_e > s_t} m_e + U \sum_{s_e = s_t} m_e

    with the answer itself among the tied candidates and U uniform on [0, 1]. Ties are thus broken
    at random and V is continuous, so that coverage is exact and not only bounded from below (Vovk,
    Gammerman, Shafer: Algorithmic Learning in a Random World, 2005).
    """

    @abstractmethod
    def mass(self, S: Tensor) -> Tensor:
        """Return the mass m of candidates, ``(B, E)``, by their scores; 0 where that is -inf."""

    def __call__(self, S: Tensor, score: Tensor, u: Tensor) -> Tensor:
        """Return V of answers, ``(P,)``.

        Args:
            S: Scores of all candidates and of the answer, ``(P, E)``, -inf for other entities.
            score: Scores of the answers, ``(P,)``.
            u: Uniform random numbers U, ``(P,)``.
        """
        mass, lead = self.mass(S), S - score[:, None]
        better = torch.where(lead > 0, mass, 0).sum(1)
        return better + u * torch.where(lead == 0, mass, 0).sum(1)

    def sizes(self, S: Tensor, threshold: Tensor, u: Tensor) -> Tensor:
        """Return the sizes of prediction sets with thresholds ``(B,)``: ``(B,)``."""
        ordered = S.sort(dim=1, descending=True).values
        return self.within(ordered, threshold, u).sum(1)

    def within(self, ordered: Tensor, threshold: Tensor, u: Tensor) -> Tensor:
        """Return which candidates are in the prediction set, ``(B, E)``.

        Args:
            ordered: Scores in descending order, ``(B, E)``; ties were broken by that order.
            threshold: Largest V in the set, ``(B,)``.
            u: Uniform random numbers, ``(B,)``.
        """
        mass = self.mass(ordered)
        before = mass.cumsum(1) - mass
        return (mass > 0) & (before + u[:, None] * mass <= threshold[:, None])


class RankScore(NonconformityScore):
    """Filtered rank, made continuous: every candidate has mass 1. All sets have the same size.

    Example:
        >>> S, u = torch.tensor([[3.0, 2.0, 2.0, 1.0]]), torch.tensor([0.5])
        >>> RankScore()(S, torch.tensor([2.0]), u)
        tensor([2.], dtype=torch.float64)
    """

    def mass(self, S: Tensor) -> Tensor:
        return torch.isfinite(S).double()

    def sizes(self, S: Tensor, threshold: Tensor, u: Tensor) -> Tensor:
        """Return the threshold rounded down, or up with the probability of its fraction."""
        limit = threshold.clamp(min=0, max=S.shape[1])
        whole = limit.floor()
        size = whole + (u <= limit - whole)
        return size.clamp(max=torch.isfinite(S).sum(1)).long()


class AdaptiveScore(NonconformityScore):
    r"""Mass :math:`\mathrm{softmax}(s/\tau)_e + \lambda`: sets are small where a model is certain.

    τ is the temperature. Romano, Sesia, Candès: Classification with valid and adaptive coverage,
    2020; with the penalty λ that bounds large sets: Angelopoulos, Bates, Jordan, Malik: Uncertainty
    sets for image classifiers using conformal prediction, 2021.
    """

    def __init__(self, temperature: float) -> None:
        self.temperature = temperature

    def mass(self, S: Tensor) -> Tensor:
        return torch.softmax(S.double() / self.temperature, dim=1) + PENALTY * torch.isfinite(S)


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
            `MIN_RELATION_ANSWERS`, or than the coverage needs, share one.
        nonconformity: Nonconformity score that gave the values.

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

    def __len__(self) -> int:
        return len(self.value)

    def groups(self, coverage: float) -> dict[int, Floats]:
        """Return the sorted V by relation id, with those of all other relations under -1."""
        group = np.full(len(self), -1)
        if self.by_relation:
            relations, inverse, counts = np.unique(self.r, return_inverse=True, return_counts=True)
            group = np.where(counts >= min_answers(coverage), relations, -1)[inverse]
        found = {int(g): np.sort(self.value[group == g]) for g in np.unique(group)}
        # Where every relation has its own threshold, unseen ones use all values.
        return {-1: np.sort(self.value)} | found

    def threshold(self, r: int, coverage: float, u: float) -> float:
        """Compute the largest V of a prediction set of relation r; u is uniform and rounds k."""
        return float(self.thresholds(np.array([r]), coverage, np.array([u]))[0])

    def thresholds(self, r: Ids, coverage: float, u: Floats) -> Floats:
        """Compute the thresholds of queries with relation ids ``(B,)``: ``(B,)``."""
        groups = self.groups(coverage)
        pairs = zip(r.tolist(), u.tolist(), strict=True)
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
        value = nonconformity(found.S, found.score, u).cpu().numpy()
        parts.append((found.h, found.r, found.t, value))
    h, r, t, value = (np.concatenate(x) for x in zip(*parts, strict=True))
    return Conformal(h, r, t, value, by_relation, nonconformity)
