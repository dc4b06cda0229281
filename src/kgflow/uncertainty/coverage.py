"""Whether answer sets keep their promise, and how large they are."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from kgflow.data import QueryIndex
from kgflow.evaluation.metrics import Floats
from kgflow.evaluation.ranking import Ranking
from kgflow.evaluation.scored import scored
from kgflow.models import Model
from kgflow.uncertainty.conformal import Conformal
from kgflow.uncertainty.nonconformity import NonconformityScore

DRAWS = 20_000
LEVEL = 0.99
"""Of the interval that a kept promise stays in."""

Ids = NDArray[np.int64]
Truths = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Coverage:
    """Which answers of a split are in their sets, and the sizes of these.

    Args:
        promise: the coverage that was promised.
        conformal: where the thresholds are from.
        h, r, t: questions and answers, ``(m,)``.
        covered: whether the set holds the answer, ``(m,)``.
        size: of the set, ``(m,)``.
        relations: how many relations there are without inverse_relations.
    """

    promise: float
    conformal: Conformal
    h: Ids
    r: Ids
    t: Ids
    covered: Truths
    size: Ids
    relations: int

    def interval(self, draws: int = DRAWS, seed: int = 0) -> tuple[float, float]:
        r"""Where the measured share lies with probability `LEVEL` if the promise is kept.

        With n answers behind a threshold, the true coverage of a set drawn once is
        Beta(c(n+1), (1-c)(n+1)), and of m answers a binomial number is covered: a beta-binomial,
        one for each group of relations, drawn `draws` times. As answers to one question and the
        two sides of one fact are not independent, n and m are divided by their design effects.
        """
        rng = np.random.default_rng(seed)
        groups = self.conformal.groups(self.promise)
        mine = np.where(np.isin(self.r, list(groups)), self.r, -1)
        shrink = design_effect(self.h, self.r, self.t, self.covered, self.relations)
        behind, found = self._calibration_effect(), np.zeros(draws)
        for g, m in zip(*np.unique(mine, return_counts=True), strict=True):
            n = len(groups[int(g)]) / behind + 1
            share = rng.beta(self.promise * n, (1 - self.promise) * n, draws)
            trials = max(1, round(m / shrink))
            found += m * rng.binomial(trials, share) / trials
        low, high = np.quantile(found / len(self.t), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        return float(low), float(high)

    def to_dict(self, names: Sequence[str] = ()) -> dict[str, Any]:
        """As JSON has it; with the names of relations, also for each of them."""
        low, high = self.interval()
        groups = self.conformal.groups(self.promise)
        result: dict[str, Any] = {
            "promised": self.promise,
            "measured": float(self.covered.mean()),
            "low": low,
            "high": high,
            "answers": len(self.t),
            "held_out": len(self.conformal),
            "own_thresholds": len(groups.keys() - {-1}),
            "design_effect": design_effect(self.h, self.r, self.t, self.covered, self.relations),
            "size": {
                "mean": float(self.size.mean()),
                "median": float(np.median(self.size)),
                "largest": int(self.size.max()),
            },
        }
        if names:
            result["by"] = {names[r]: self._of(r) for r in np.unique(self.r % self.relations)}
        return result

    def _of(self, relation: int) -> dict[str, float]:
        here = self.r % self.relations == relation
        size = self.size[here]
        return {
            "count": int(here.sum()),
            "measured": float(self.covered[here].mean()),
            "mean_size": float(size.mean()),
            "median_size": float(np.median(size)),
        }

    def _calibration_effect(self) -> float:
        found, groups = self.conformal, self.conformal.groups(self.promise)
        bounds = {g: np.quantile(v, self.promise) for g, v in groups.items()}
        inside = found.value <= np.array([bounds.get(r, bounds[-1]) for r in found.r.tolist()])
        return design_effect(found.h, found.r, found.t, inside, self.relations)


def design_effect(h: Ids, r: Ids, t: Ids, inside: Truths, relations: int) -> float:
    r"""How many dependent answers count for one independent one, 1 at least.

    The variance of the sum of what is inside, with answers to one question and the two sides of a
    fact taken together (two-way clusters: Cameron, Gelbach, Miller: Robust inference with multiway
    clustering, 2011), over what it would be if all were independent:

    .. math:: \Big(\sum_q (\sum_{i \in q} x_i)^2 + \sum_f (\sum_{i \in f} x_i)^2 - \sum_i x_i^2\Big)
              / \sum_i x_i^2, \qquad x_i = 1_i - \bar 1

    Example:
        >>> inside = np.array([True, True, False, False])
        >>> h, t = np.array([0, 1, 2, 3]), np.array([1, 0, 3, 2])  # two facts, both sides of each
        >>> design_effect(h, np.array([0, 1, 0, 1]), t, inside, relations=1)
        2.0
    """
    x = inside - inside.mean()
    alone = float((x**2).sum())
    if alone == 0:
        return 1.0
    back = r >= relations
    fact = np.stack([np.where(back, t, h), r % relations, np.where(back, h, t)])
    together = sum(_squares(keys, x) for keys in (np.stack([h, r]), fact))
    return max(1.0, (together - alone) / alone)


def _squares(keys: Ids, x: Floats) -> float:
    _, group = np.unique(keys, axis=1, return_inverse=True)
    return float((np.bincount(group.ravel(), x) ** 2).sum())


@torch.no_grad()
def cover(
    model: Model,
    nonconformity: NonconformityScore,
    conformal: Conformal,
    questions: QueryIndex,
    known: QueryIndex,
    coverage: float,
    seed: int = 1,
    progress: Callable[[float], None] = lambda share: None,
) -> Coverage:
    """Make a set for every answer of some questions, and see whether it holds it.

    Args:
        model: what scores.
        nonconformity: the one that `conformal` was measured with.
        conformal: where thresholds are from.
        questions: the queries of some facts, inverse_relations included.
        known: the queries of all known facts.
        coverage: what is promised.
        seed: of U and of the rounding.
        progress: called with the share of the work that is done.
    """
    generator, parts, done = torch.Generator().manual_seed(seed), [], 0
    # Drawn for all at once, so that they do not depend on how many are scored at a time.
    total = int(questions.counts.sum())
    drawn = torch.rand(2, total, generator=generator, dtype=torch.float64)
    for found in scored(model, questions, known, progress=progress):
        u, round_up = drawn[:, done : done + len(found.t)]
        done += len(found.t)
        limit = torch.from_numpy(conformal.thresholds(found.r, coverage, round_up.numpy()))
        u, limit = u.to(found.S.device), limit.to(found.S.device)
        inside = nonconformity(found.S, found.score, u) <= limit
        sizes = nonconformity.sizes(found.S, limit, u)
        parts.append((found.h, found.r, found.t, inside.cpu().numpy(), sizes.cpu().numpy()))
    h, r, t, covered, size = (np.concatenate(x) for x in zip(*parts, strict=True))
    return Coverage(coverage, conformal, h, r, t, covered, size, questions.relations // 2)


def cover_ranked(
    ranking: Ranking, conformal: Conformal, coverage: float, seed: int = 1
) -> Coverage:
    """The same for sets by rank, from ranks that are there: no model is asked again.

    Args:
        ranking: of the answers among their candidates.
        conformal: measured by `RankScore`.
        coverage: what is promised.
        seed: of U and of the rounding.
    """
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
