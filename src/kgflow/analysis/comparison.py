"""Whether one model ranks better than another, and how sure that is."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kgflow.errors import KgflowError
from kgflow.evaluation import Ranking

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]

RESAMPLES = 2_000
LEVEL = 0.95
AT_ONCE = 2**22
"""Draws held at a time."""


@dataclass(frozen=True)
class Difference:
    """A mean difference of reciprocal ranks with its bootstrap interval."""

    mean: float
    low: float
    high: float

    @property
    def clear(self) -> bool:
        """Whether the interval leaves zero out."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True)
class RelationDifference:
    """How two models differ on one relation; `share` is its part in the whole difference."""

    relation: int
    answers: int
    first: float
    second: float
    difference: Difference
    share: float


class Comparison:
    r"""Two rankings of the same answers, one answer beside the other.

    .. math:: \Delta = \frac1N \sum_i \Big(\frac1{\mathrm{rank}^{(2)}_i}
              - \frac1{\mathrm{rank}^{(1)}_i}\Big)

    The interval is that of the percentile bootstrap. Whole facts are drawn, each with its head and
    its tail side, because the two sides of a fact are no independent trials.

    Shapes: `reciprocal` is ``(2, F, 2)``: model, fact, side (tail first).

    Args:
        first: the ranking that is compared with.
        second: the ranking of the other model; positive differences are in its favour.
        resamples: bootstrap samples.
        seed: of the draws.

    Reference:
        Efron: Bootstrap Methods: Another Look at the Jackknife, 1979; Field and Welsh:
        Bootstrapping clustered data, 2007.

    Example:
        >>> def ranking(ranks):
        ...     asked, r, other = np.array([[0, 1, 2, 3], [0, 0, 1, 1], [2, 3, 0, 1]])
        ...     ranks = np.array(ranks)
        ...     return Ranking(asked, r, other, ranks, ranks, np.full(4, 9), relations=1)
        >>> found = Comparison(ranking([1, 2, 4, 1]), ranking([1, 1, 2, 1]))
        >>> found.difference.mean, (found.wins, found.ties, found.losses)
        (0.1875, (2, 2, 0))
    """

    def __init__(
        self, first: Ranking, second: Ranking, resamples: int = RESAMPLES, seed: int = 0
    ) -> None:
        first, second = _ordered(first), _ordered(second)
        asked, again = (np.stack([x.h, x.r, x.t]) for x in (first, second))
        if not np.array_equal(asked, again):
            raise KgflowError("the two runs were asked different questions: they do not compare")
        self.resamples, self.seed = resamples, seed
        self.rank = np.stack([x.rank("realistic") for x in (first, second)]).reshape(2, -1, 2)
        self.reciprocal: Floats = 1 / self.rank
        self.relation: Ids = first.r[::2]

    @property
    def gain(self) -> Floats:
        """Second less first reciprocal rank of every answer, ``(F, 2)``."""
        return self.reciprocal[1] - self.reciprocal[0]

    @cached_property
    def difference(self) -> Difference:
        """Of the MRRs, second less first."""
        return bootstrap(self.gain.mean(1), self.resamples, self.seed)

    @property
    def wins(self) -> int:
        """Answers that the second model ranks higher."""
        return int((self.gain > 0).sum())

    @property
    def ties(self) -> int:
        """Answers that both rank alike."""
        return int((self.gain == 0).sum())

    @property
    def losses(self) -> int:
        """Answers that the second model ranks lower."""
        return int((self.gain < 0).sum())

    def by_relation(self, count: int) -> list[RelationDifference]:
        """The relations that make most of the difference, for or against, largest part first."""
        total = np.bincount(self.relation, self.gain.sum(1))
        order = np.argsort(-np.abs(total), kind="stable")[:count]
        return [self._of(r) for r in order.tolist() if (self.relation == r).any()]

    def _of(self, r: int) -> RelationDifference:
        mask = self.relation == r
        gain, (first, second) = self.gain[mask], self.reciprocal[:, mask].mean((1, 2))
        difference = bootstrap(gain.mean(1), self.resamples, self.seed)
        share = float(gain.sum() / self.gain.size)
        return RelationDifference(r, gain.size, float(first), float(second), difference, share)


def bootstrap(values: Floats, resamples: int = RESAMPLES, seed: int = 0) -> Difference:
    """The mean of independent values with its percentile bootstrap interval.

    Example:
        >>> bootstrap(np.zeros(5))
        Difference(mean=0.0, low=0.0, high=0.0)
    """
    rng, n = np.random.default_rng(seed), len(values)
    size = max(1, AT_ONCE // max(1, n))
    means = [
        values[rng.integers(0, n, (min(size, resamples - done), n))].mean(1)
        for done in range(0, resamples, size)
    ]
    low, high = np.quantile(np.concatenate(means), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Difference(float(values.mean()), float(low), float(high))


def _ordered(ranking: Ranking) -> Ranking:
    """The answers by fact, its tail side before its head side."""
    forward = ranking.r < ranking.relations
    h, t = (np.where(forward, *pair) for pair in ((ranking.h, ranking.t), (ranking.t, ranking.h)))
    return ranking.take(np.lexsort((~forward, t, ranking.r % ranking.relations, h)))
