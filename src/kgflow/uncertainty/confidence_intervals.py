"""Regression of confidences on scores and training confidences, with conformal intervals."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from kgflow.data import Dataset, Triples
from kgflow.errors import KgflowError
from kgflow.evaluation.metrics import Floats
from kgflow.evaluation.scoring import Ids
from kgflow.uncertainty.conformal import check_coverage

TREES = {"max_iter": 200, "learning_rate": 0.05, "early_stopping": False}
"""Settings of gradient boosting."""
FOLDS = 3
"""Folds of the cross-validation that estimates errors."""
FLOOR = 0.005
"""Smallest estimated error."""
SHRINKAGE = 2.0
"""Triples of mean confidence that are added to each group."""
MIN_TRIPLES = 20
"""Smallest number of validation triples, for the regression and for the intervals."""

Score = Callable[[Ids, Ids, Ids], Floats]
"""Scores triples of ids, ``(N,)`` each, to ``(N,)``."""


class Intervals(NamedTuple):
    """Predicted confidences of triples and their intervals, ``(N,)`` each, all in [0, 1]."""

    confidence: Floats
    low: Floats
    high: Floats


class ConfidenceStatistics:
    r"""Confidences of training triples that share parts with a triple (h, r, t).

    The groups are the triples with the same r, h, t, (h, r), (r, t), (h, t), and those in the other
    direction, (t, ·, h). Of each: number of triples, smallest and largest confidence, and the mean,
    shrunk towards the mean m of all training triples,

    .. math:: \frac{\sum_i w_i + 2m}{n + 2}

    Example:
        >>> from kgflow.data import Vocabulary
        >>> names = Vocabulary(["a", "b", "c"]), Vocabulary(["r"], kind="relation")
        >>> train = Triples.of([(0, 0, 1), (0, 0, 2)], [0.5, 1.0])
        >>> found = ConfidenceStatistics(Dataset("tiny", *names, train))
        >>> found(np.array([0]), np.array([0]), np.array([1]))[0, :4].tolist()  # of the relation
        [0.75, 2.0, 0.5, 1.0]
    """

    def __init__(self, data: Dataset) -> None:
        train, weight = data.train, data.train.weight
        if weight is None:
            raise KgflowError(f"{data.name} has no confidences: add a fourth column to the triples")
        self.entities, self.relations = len(data.entities), len(data.relations)
        w = weight.astype(np.float64)
        self.mean = float(w.mean()) if len(w) else 0.5
        keys = self._keys(train.h, train.r, train.t)[:-1]
        self.groups = [_Group.of(key, w) for key in keys]

    def __call__(self, h: Ids, r: Ids, t: Ids) -> Floats:
        """Return the statistics of triples of ids, ``(N,)`` each, as columns ``(N, 28)``."""
        pair = self.groups[-1]  # serves both directions
        groups = [*self.groups, pair]
        keys = self._keys(h, r, t)
        return np.concatenate(
            [group.columns(key, self.mean) for group, key in zip(groups, keys, strict=True)], axis=1
        )

    def _keys(self, h: Ids, r: Ids, t: Ids) -> list[Ids]:
        E, R = self.entities, self.relations
        return [r, h, t, h * R + r, t * R + r, h * E + t, t * E + h]


class _Group(NamedTuple):
    """Number, sum, smallest and largest confidence by ascending key."""

    key: Ids
    counts: Floats
    total: Floats
    low: Floats
    high: Floats

    @classmethod
    def of(cls, key: Ids, w: Floats) -> Self:
        found, group = np.unique(key, return_inverse=True)
        low, high = np.ones(len(found)), np.zeros(len(found))
        np.minimum.at(low, group, w)
        np.maximum.at(high, group, w)
        count = np.bincount(group, minlength=len(found)).astype(np.float64)
        total = np.bincount(group, w, len(found)).astype(np.float64)
        return cls(found, count, total, low, high)

    def columns(self, key: Ids, mean: float) -> Floats:
        """Return mean, count, smallest and largest of keys ``(N,)``, nan for unknown ones."""
        if not len(self.key):
            return np.full((len(key), 4), np.nan)
        place = np.searchsorted(self.key, key).clip(max=len(self.key) - 1)
        known = self.key[place] == key
        count = np.where(known, self.counts[place], 0)
        shrunk = (self.total[place] + SHRINKAGE * mean) / (self.counts[place] + SHRINKAGE)
        columns = [np.where(known, x[place], np.nan) for x in (self.low, self.high)]
        return np.stack([np.where(known, shrunk, np.nan), count, *columns], axis=1)


@dataclass(eq=False)
class ConfidenceRegression:
    r"""Confidences of triples by gradient boosting, and intervals that contain them.

    The regression has the score of the model and `ConfidenceStatistics` as columns, and is fitted
    to validation triples. A second regression, of absolute errors in cross-validation, estimates
    the error :math:`\hat\sigma`. With the order statistic Q of :math:`|w - \hat w| / \hat\sigma` on
    held-out validation triples, the interval

    .. math:: [\hat w - Q \hat\sigma, \hat w + Q \hat\sigma] \cap [0, 1]

    contains the confidence of a new triple with probability c or more (locally weighted split
    conformal prediction: Lei, G'Sell, Rinaldo, Tibshirani, Wasserman: Distribution-free predictive
    inference for regression, 2018; for uncertain knowledge graphs: Zhu et al.: Certainty in
    uncertainty, EMNLP 2025).

    Args:
        score: Score of triples.
        statistics: Statistics of the training triples.
        fitting: Validation triples of the regression.
        held_out: Other validation triples, for the order statistic.
        seed: Random seed.
    """

    score: Score
    statistics: ConfidenceStatistics
    fitting: Triples
    held_out: Triples
    seed: int = 0

    def __post_init__(self) -> None:
        if len(self.fitting) < MIN_TRIPLES or self.fitting.weight is None:
            raise KgflowError(
                f"there are {len(self.fitting)} validation triples to fit confidences to: add a"
                f" validation split of {MIN_TRIPLES} triples or more with confidences"
            )

    def __call__(self, h: Ids, r: Ids, t: Ids) -> Floats:
        """Predict the confidences of triples of ids, ``(N,)`` each: ``(N,)``."""
        return self._predict(self.columns(h, r, t))

    def intervals(self, h: Ids, r: Ids, t: Ids, coverage: float) -> Intervals:
        """Predict confidences and intervals with a coverage of triples of ids, ``(N,)`` each."""
        check_coverage(coverage)
        known, n = self.held_out.weight, len(self.held_out)
        if n < MIN_TRIPLES or known is None:
            raise KgflowError(
                f"there are {n} held-out validation triples for intervals of confidences: train"
                " with training.conformal_fraction=0.3 and more validation triples"
            )
        held_out = self.columns(self.held_out.h, self.held_out.r, self.held_out.t)
        gap = np.abs(self._predict(held_out) - known.astype(np.float64))
        value = np.sort(gap / self._scale(held_out))
        k = int(np.ceil(coverage * (n + 1)))
        columns = self.columns(h, r, t)
        found = self._predict(columns)
        margin = value[k - 1] * self._scale(columns) if k <= n else 1.0
        return Intervals(found, (found - margin).clip(0, 1), (found + margin).clip(0, 1))

    def columns(self, h: Ids, r: Ids, t: Ids) -> Floats:
        """Return the columns of the regression, ``(N, 29)``."""
        return np.column_stack([self.score(h, r, t), self.statistics(h, r, t)])

    @cached_property
    def _models(self) -> tuple[Any, Any]:
        """Regressions of the confidence and of its absolute error."""
        from sklearn.ensemble import HistGradientBoostingRegressor
        from sklearn.model_selection import cross_val_predict

        facts, weight = self.fitting, self.fitting.weight
        assert weight is not None
        X, w = self.columns(facts.h, facts.r, facts.t), weight.astype(np.float64)
        model, scale = (
            HistGradientBoostingRegressor(**TREES, random_state=self.seed) for _ in range(2)
        )
        error = np.abs(cross_val_predict(model, X, w, cv=FOLDS) - w)
        return model.fit(X, w), scale.fit(X, error)

    def _predict(self, columns: Floats) -> Floats:
        found: Floats = self._models[0].predict(columns).clip(0, 1)
        return found

    def _scale(self, columns: Floats) -> Floats:
        found: Floats = self._models[1].predict(columns).clip(0) + FLOOR
        return found


@dataclass(frozen=True, eq=False)
class IntervalCoverage:
    """Which confidences are in their intervals, and the widths of these.

    Args:
        nominal: Nominal coverage.
        covered: Whether the interval contains the confidence, ``(N,)``.
        width: Width of the interval, ``(N,)``.
        held_out: Number of held-out triples.
    """

    nominal: float
    covered: NDArray[np.bool_]
    width: Floats
    held_out: int

    @classmethod
    def measure(
        cls, regression: ConfidenceRegression, facts: Triples, coverage: float
    ) -> "IntervalCoverage":
        """Measure the coverage of the intervals of triples with confidences."""
        assert facts.weight is not None
        found = regression.intervals(facts.h, facts.r, facts.t, coverage)
        w = facts.weight.astype(np.float64)
        covered = (found.low <= w) & (w <= found.high)
        return cls(coverage, covered, found.high - found.low, len(regression.held_out))

    def to_dict(self) -> dict[str, Any]:
        """Return coverage and widths as a dictionary."""
        return {
            "nominal": self.nominal,
            "measured": float(self.covered.mean()),
            "mean_width": float(self.width.mean()),
            "median_width": float(np.median(self.width)),
            "held_out": self.held_out,
        }
