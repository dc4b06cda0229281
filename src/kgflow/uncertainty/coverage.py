"""Empirical coverage and sizes of prediction sets."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kgflow.data import QueryIndex
from kgflow.evaluation import Progress, Ranking, Scorer, no_progress
from kgflow.evaluation.metrics import Floats
from kgflow.evaluation.scoring import Ids
from kgflow.models import Model
from kgflow.uncertainty.conformal import Conformal
from kgflow.uncertainty.nonconformity import NonconformityScore, scores_of

DRAWS = 20_000
"""Random draws of the interval of coverage."""
LEVEL = 0.99
"""Level of the interval of coverage."""

Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Coverage:
    """Which answers are in their prediction sets, and the sizes of the sets.

    Args:
        nominal: Nominal coverage.
        conformal: Nonconformity scores of held-out answers, which set the thresholds.
        h, r, t: Query and answer, ``(m,)``.
        covered: Whether the set contains the answer, ``(m,)``.
        size: Size of the set, ``(m,)``.
        relations: Number of relations without inverse relations.
    """

    nominal: float
    conformal: Conformal
    h: Ids
    r: Ids
    t: Ids
    covered: Bools
    size: Ids
    relations: int

    def interval(self, draws: int = DRAWS, seed: int = 0) -> tuple[float, float]:
        r"""Compute the interval of the empirical coverage, of level `LEVEL`, for exact coverage.

        With a threshold from n held-out answers, the coverage given these answers is
        Beta(c(n+1), (1-c)(n+1)) distributed, and of m answers a binomial number is covered: a
        beta-binomial distribution for each group of relations, drawn `draws` times. As answers to
        one query and the two queries of one triple are not independent, n and m are divided by
        their design effects.
        """
        rng = np.random.default_rng(seed)
        groups = self.conformal.groups(self.nominal)
        mine = self.conformal.group(self.r, self.nominal)
        shrink = design_effect(self.h, self.r, self.t, self.covered, self.relations)
        held_out, found = self._held_out_effect(), np.zeros(draws)
        for g, m in zip(*np.unique(mine, return_counts=True), strict=True):
            n = len(groups[int(g)]) / held_out + 1
            share = rng.beta(self.nominal * n, (1 - self.nominal) * n, draws)
            trials = max(1, round(m / shrink))
            found += m * rng.binomial(trials, share) / trials
        low, high = np.quantile(found / len(self.t), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        return float(low), float(high)

    def to_dict(self, names: Sequence[str] = ()) -> dict[str, Any]:
        """Return the results; given relation names, also by relation under "by"."""
        low, high = self.interval()
        groups = self.conformal.groups(self.nominal)
        result: dict[str, Any] = {
            "nominal": self.nominal,
            "measured": float(self.covered.mean()),
            "low": low,
            "high": high,
            "answers": len(self.t),
            "held_out": len(self.conformal),
            "own_thresholds": sum(g >= 0 for g in groups),
            "nonconformity": self.conformal.nonconformity.name,
            "relation_gap": self.relation_gap(),
            "design_effect": design_effect(self.h, self.r, self.t, self.covered, self.relations),
            "size": {
                "mean": float(self.size.mean()),
                "median": float(np.median(self.size)),
                "largest": int(self.size.max()),
            },
        }
        if names:
            result["by"] = {
                names[r]: self._by_relation(r) for r in np.unique(self.r % self.relations)
            }
        return result

    def relation_gap(self) -> float:
        """Compute the mean gap of relations and directions between measured and nominal coverage.

        The mean of absolute differences, weighted by the number of answers. Even exact sets have a
        gap, as the coverage of a few answers varies.
        """
        _, group, counts = np.unique(self.r, return_inverse=True, return_counts=True)
        measured = np.bincount(group, self.covered) / counts
        return float((counts * np.abs(measured - self.nominal)).sum() / counts.sum())

    def _by_relation(self, relation: int) -> dict[str, float]:
        here = self.r % self.relations == relation
        size = self.size[here]
        return {
            "count": int(here.sum()),
            "measured": float(self.covered[here].mean()),
            "mean_size": float(size.mean()),
            "median_size": float(np.median(size)),
        }

    def _held_out_effect(self) -> float:
        found, groups = self.conformal, self.conformal.groups(self.nominal)
        bounds = {g: np.quantile(v, self.nominal) for g, v in groups.items()}
        mine = found.group(found.r, self.nominal)
        inside = found.value <= np.array([bounds[g] for g in mine.tolist()])
        return design_effect(found.h, found.r, found.t, inside, self.relations)


def design_effect(h: Ids, r: Ids, t: Ids, inside: Bools, relations: int) -> float:
    r"""Compute the design effect of dependent answers, at least 1.

    The variance of the number of covered answers, clustered by query and by triple (two-way
    clusters: Cameron, Gelbach, Miller: Robust inference with multiway clustering, 2011), divided by
    the variance of independent ones:

    .. math:: \Big(\sum_q (\sum_{i \in q} x_i)^2 + \sum_f (\sum_{i \in f} x_i)^2 - \sum_i x_i^2\Big)
              / \sum_i x_i^2, \qquad x_i = 1_i - \bar 1

    Example:
        >>> inside = np.array([True, True, False, False])
        >>> h, t = np.array([0, 1, 2, 3]), np.array([1, 0, 3, 2])  # two triples, two queries each
        >>> design_effect(h, np.array([0, 1, 0, 1]), t, inside, relations=1)
        2.0
    """
    x = inside - inside.mean()
    alone = float((x**2).sum())
    if alone == 0:
        return 1.0
    inverse = r >= relations
    fact = np.stack([np.where(inverse, t, h), r % relations, np.where(inverse, h, t)])
    together = sum(_squares(keys, x) for keys in (np.stack([h, r]), fact))
    return max(1.0, (together - alone) / alone)


def _squares(keys: Ids, x: Floats) -> float:
    _, group = np.unique(keys, axis=1, return_inverse=True)
    return float((np.bincount(group.ravel(), x) ** 2).sum())


def measure_coverage(
    model: Model,
    conformal: Conformal,
    queries: QueryIndex,
    known: QueryIndex,
    coverage: float,
    seed: int = 1,
    progress: Progress = no_progress,
) -> Coverage:
    """Measure how often prediction sets contain the answers of queries, and their sizes.

    `coverage` is the nominal one; `queries` include inverse relations. U and the rounding are drawn
    with the random seed.
    """
    return measure_coverages(model, [conformal], queries, known, coverage, seed, progress)[0]


def measure_coverages(
    model: Model,
    conformals: Sequence[Conformal],
    queries: QueryIndex,
    known: QueryIndex,
    coverage: float,
    seed: int = 1,
    progress: Progress = no_progress,
) -> list[Coverage]:
    """Measure the coverage of several kinds of prediction sets, as `measure_coverage` of each."""
    generator, done = torch.Generator().manual_seed(seed), 0
    parts: list[list[tuple[Bools, Ids]]] = [[] for _ in conformals]
    columns: list[tuple[Ids, Ids, Ids]] = []
    # All random numbers are drawn at once, so that they do not depend on the batch size.
    total = int(queries.counts.sum())
    drawn = torch.rand(2, total, generator=generator, dtype=torch.float64)
    for found in Scorer(model, known).answers(queries, progress):
        u, round_up = drawn[:, done : done + len(found.t)]
        done += len(found.t)
        columns.append((found.h, found.r, found.t))
        scored: dict[NonconformityScore, Tensor] = {}
        for conformal, part in zip(conformals, parts, strict=True):
            score = conformal.nonconformity
            if score not in scored:
                scored[score] = scores_of(score, found.h, found.r, found.S)
            limit = torch.from_numpy(conformal.thresholds(found.r, coverage, round_up.numpy()))
            part.append(_sets(score, scored[score], found.t, limit, u))
    h, r, t = (np.concatenate(x) for x in zip(*columns, strict=True))
    return [
        Coverage(coverage, conformal, h, r, t, *_join(part), queries.relations // 2)
        for conformal, part in zip(conformals, parts, strict=True)
    ]


def _join(parts: Sequence[tuple[Bools, Ids]]) -> tuple[Bools, Ids]:
    covered, size = zip(*parts, strict=True)
    return np.concatenate(covered), np.concatenate(size)


def _sets(
    score: NonconformityScore, S: Tensor, t: Ids, limit: Tensor, u: Tensor
) -> tuple[Bools, Ids]:
    """Return whether sets contain the answers, and the sizes of the sets, ``(P,)`` each."""
    u, limit = u.to(S.device), limit.to(S.device)
    inside = score(S, torch.from_numpy(t).to(S.device), u) <= limit
    return inside.cpu().numpy(), score.sizes(S, limit, u).cpu().numpy()


def coverage_of_ranks(
    ranking: Ranking, conformal: Conformal, coverage: float, seed: int = 1
) -> Coverage:
    """Measure the coverage of sets by `RankScore` from existing ranks, without scoring again."""
    generator = torch.Generator().manual_seed(seed)
    u, round_up = torch.rand(2, len(ranking), generator=generator, dtype=torch.float64).numpy()
    limit = conformal.thresholds(ranking.r, coverage, round_up)
    equals = ranking.pessimistic - ranking.optimistic + 1
    covered = ranking.optimistic - 1 + u * equals <= limit
    bounded = np.clip(limit, 0, ranking.candidates)
    size = (np.floor(bounded) + (u <= bounded - np.floor(bounded))).astype(np.int64)
    size = np.minimum(size, ranking.candidates)
    found = ranking.h, ranking.r, ranking.t, covered, size
    return Coverage(coverage, conformal, *found, ranking.relations)
