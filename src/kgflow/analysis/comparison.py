"""Paired comparison of two rankings, with bootstrap confidence intervals."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kgflow.data.triples import Floats, Ids
from kgflow.errors import KgflowError
from kgflow.evaluation import Ranking

RESAMPLES = 2_000
"""Number of bootstrap samples."""

LEVEL = 0.95
"""Confidence level."""

MAX_DRAWS = 2**22
"""Largest number of draws in memory."""


@dataclass(frozen=True)
class Difference:
    """Mean difference of reciprocal ranks with its bootstrap interval."""

    mean: float
    low: float
    high: float

    @property
    def significant(self) -> bool:
        """Whether the interval excludes zero."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True)
class RelationDifference:
    """MRR of two models on one relation; contributions of all relations add to the difference."""

    relation: int
    answers: int
    first: float
    second: float
    difference: Difference
    contribution: float


class Comparison:
    r"""Paired comparison of two rankings of the same queries.

    .. math:: \Delta = \frac1N \sum_i \Big(\frac1{\mathrm{rank}^{(2)}_i}
              - \frac1{\mathrm{rank}^{(1)}_i}\Big)

    with a percentile bootstrap interval. Samples consist of whole triples, each with its head and
    its tail query, because the two queries of a triple are not independent.

    Shapes: `reciprocal` is ``(2, N, 2)``: model, triple, side (tail first).

    Args:
        first: ranking of the baseline.
        second: ranking of the other model; positive differences are in its favour.
        resamples: number of bootstrap samples.
        seed: random seed.

    Reference:
        Efron: Bootstrap Methods: Another Look at the Jackknife, 1979; Field and Welsh:
        Bootstrapping clustered data, 2007.

    Example:
        >>> def ranking(ranks):
        ...     h, r, t = np.array([[0, 1, 2, 3], [0, 0, 1, 1], [2, 3, 0, 1]])
        ...     ranks = np.array(ranks)
        ...     return Ranking(h, r, t, ranks, ranks, np.full(4, 9), relations=1)
        >>> found = Comparison(ranking([1, 2, 4, 1]), ranking([1, 1, 2, 1]))
        >>> found.difference.mean, (found.wins, found.ties, found.losses)
        (0.1875, (2, 2, 0))
    """

    def __init__(
        self, first: Ranking, second: Ranking, resamples: int = RESAMPLES, seed: int = 0
    ) -> None:
        first, second = _ordered(first), _ordered(second)
        queries = [np.stack([x.h, x.r, x.t]) for x in (first, second)]
        if not np.array_equal(queries[0], queries[1]):
            raise KgflowError("the two rankings have different queries: rank the same triples")
        self.resamples, self.seed = resamples, seed
        self.rank = np.stack([x.rank("realistic") for x in (first, second)]).reshape(2, -1, 2)
        self.reciprocal: Floats = 1 / self.rank
        self.relation: Ids = first.r[::2]

    @property
    def gain(self) -> Floats:
        """Reciprocal rank of the second model minus that of the first, ``(N, 2)``."""
        return self.reciprocal[1] - self.reciprocal[0]

    @cached_property
    def difference(self) -> Difference:
        """MRR of the second model minus MRR of the first."""
        return bootstrap(self.gain.mean(1), self.resamples, self.seed)

    @property
    def wins(self) -> int:
        """Number of queries with a better rank by the second model."""
        return int((self.gain > 0).sum())

    @property
    def ties(self) -> int:
        """Number of queries with equal ranks."""
        return int((self.gain == 0).sum())

    @property
    def losses(self) -> int:
        """Number of queries with a worse rank by the second model."""
        return int((self.gain < 0).sum())

    def by_relation(self, count: int) -> list[RelationDifference]:
        """Return the relations with the largest absolute contributions to the difference."""
        total = np.bincount(self.relation, self.gain.sum(1))
        order = np.argsort(-np.abs(total), kind="stable")[:count]
        return [self._relation(r) for r in order.tolist() if (self.relation == r).any()]

    def _relation(self, r: int) -> RelationDifference:
        mask = self.relation == r
        gain, (first, second) = self.gain[mask], self.reciprocal[:, mask].mean((1, 2))
        difference = bootstrap(gain.mean(1), self.resamples, self.seed)
        contribution = float(gain.sum() / self.gain.size)
        mrrs = float(first), float(second)
        return RelationDifference(r, gain.size, *mrrs, difference, contribution)


def bootstrap(values: Floats, resamples: int = RESAMPLES, seed: int = 0) -> Difference:
    """Return the mean of independent values with its percentile bootstrap interval.

    Example:
        >>> bootstrap(np.zeros(5))
        Difference(mean=0.0, low=0.0, high=0.0)
    """
    rng, n = np.random.default_rng(seed), len(values)
    size = max(1, MAX_DRAWS // max(1, n))
    means = [
        values[rng.integers(0, n, (min(size, resamples - done), n))].mean(1)
        for done in range(0, resamples, size)
    ]
    low, high = np.quantile(np.concatenate(means), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Difference(float(values.mean()), float(low), float(high))


def _ordered(ranking: Ranking) -> Ranking:
    """Sort the queries by triple, each tail query before the head query."""
    forward = ranking.r < ranking.relations
    h, t = (np.where(forward, *pair) for pair in ((ranking.h, ranking.t), (ranking.t, ranking.h)))
    return ranking.take(np.lexsort((~forward, t, ranking.r % ranking.relations, h)))
