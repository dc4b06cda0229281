"""Logistic regression where only some of the true triples are marked as true."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kgflow.evaluation.metrics import Floats
from kgflow.evaluation.scoring import Ids
from kgflow.uncertainty.calibrators import MIN_SLOPE, minimize_bounded

START = 0.5
"""Slope of both queries in the prior: the mean of their log-odds."""


class Stiffness(NamedTuple):
    """How closely the regression follows the data.

    Args:
        knots: Knots of each piecewise linear function.
        spread: Standard deviation of the prior of the intercepts of relations.
        precision: Precision of the prior of slopes and other weights.
    """

    knots: int
    spread: float
    precision: float


FLEXIBLE = Stiffness(4, 1.5, 0.1)
SETTINGS = (
    Stiffness(1, 0.25, 10.0),
    Stiffness(1, 1.0, 1.0),
    Stiffness(2, 0.5, 1.0),
    Stiffness(4, 0.5, 10.0),
    FLEXIBLE,
)
"""What cross-validation chooses from, the simplest first."""


@dataclass(frozen=True, eq=False)
class Regression:
    r"""Regression with an intercept and one more by relation, for positive and unlabelled data.

    With p the probability of a missing triple and k removed ones for each, the loss of a removed
    triple is :math:`-\log(kp/(1+kp))` and that of any other one :math:`\log(1+kp)`.

    Shapes:
        X: (N, d), columns; slopes that must be positive first, then rates and profiles.
        r: (N,), relation. offset: (N,), log-odds that are added. removed, weight: (N,).
    """

    X: Floats
    r: Ids
    offset: Floats
    removed: NDArray[np.bool_]
    weight: Floats
    k: float
    relations: int

    def solve(self, slopes: int, stiffness: Stiffness) -> Floats:
        """Return slopes, other weights, the intercept and those of the relations."""
        d = self.X.shape[1]
        start = np.zeros(d + 1 + self.relations)
        start[: slopes + 4], start[d] = START, -3.0
        lower = np.full(len(start), -np.inf)
        lower[:slopes], lower[slopes : slopes + 4] = MIN_SLOPE, 0.0
        precision = np.full(len(start), stiffness.spread**-2)
        precision[:d], precision[d] = stiffness.precision, 0.0
        return minimize_bounded(lambda w: self._loss(w, start, precision), start, lower)

    def _loss(self, w: Floats, prior: Floats, precision: Floats) -> tuple[float, Floats]:
        from scipy.special import expit

        d = self.X.shape[1]
        odds = self.X @ w[:d] + w[d] + w[d + 1 :][self.r] + self.offset
        p = expit(odds)
        slope = self.weight * (1 - p) * (self.k * p / (1 + self.k * p) - self.removed)
        by_relation = np.bincount(self.r, slope, self.relations)
        away = w - prior
        gradient = np.concatenate([self.X.T @ slope, [slope.sum()], by_relation])
        loss = self.weight @ unlabelled_loss(odds, self.removed, self.k)
        return float(loss + (precision * away) @ away / 2), gradient + precision * away


def unlabelled_loss(odds: Floats, removed: NDArray[np.bool_], k: float) -> Floats:
    """Return the loss of each triple from its log-odds, without log k: ``(N,)``."""
    from scipy.special import expit

    return np.log1p(k * expit(odds)) + np.where(removed, np.logaddexp(0, -odds), 0)
