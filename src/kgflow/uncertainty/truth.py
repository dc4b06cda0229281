"""Probability that a triple is true, from both of its queries and what is missing of them."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from kgflow.data import QueryIndex
from kgflow.evaluation.metrics import Floats
from kgflow.evaluation.scoring import Ids
from kgflow.uncertainty.calibrators import MIN_SLOPE, minimize_bounded
from kgflow.uncertainty.missing import MissingAnswers

KNOTS = 4
"""Knots of each piecewise linear function."""
SPREAD = 1.5
"""Standard deviation of the prior of the intercepts of relations."""
STIFFNESS = 0.1
"""Precision of the prior of slopes."""
START = 0.5
"""Slope of both functions in the prior: the mean of the log-odds of both queries."""

Positive = Annotated[float, Field(gt=0)]


class Evidence(NamedTuple):
    """What both queries of triples say, (h, r, ?) in the first column.

    Shapes:
        r: (N,), relation. odds: (N, 2), calibrated log-odds of the answer. known: (N, 2), number
        of known answers. profile: (N, 2), log q of queries without known answers (see
        `RelationProfiles`), 0 for others.
    """

    r: Ids
    odds: Floats
    known: Ids
    profile: Floats


class TruthModel(BaseModel):
    r"""Probability that a triple that is not in the graph is true.

    Each query of a triple, (h, r, ?) and (?, r, t), gives the estimate λC: the expected number of
    its missing answers times the calibrated probability that a missing answer is this one. Both
    together are more than either:

    .. math:: \operatorname{logit} p = c_r + \sum_{q} f_q(\operatorname{logit} C_q)
        + b_q \log \lambda_q + [n_q = 0] (d_q + a_q \log q_q)

    with q the query with fewer, and the one with more answers. f is increasing and piecewise
    linear, so p increases strictly with the score of either query. Queries without known answers
    count for less where entities with the relations of theirs have no such answers (q). All
    parameters are fitted to a sample of all triples that are not known, in which validation triples
    are the removed ones; the intercept of a relation is shrunk to the mean.

    The rate at which facts are missing is not identified by a graph alone. It is assumed that the
    graph lacks as many as validation has, and that those are missing at random: then a triple in
    the sample is a validation triple with odds kp, k being validation triples in the sample per
    missing triple, and each term of the likelihood is :math:`kp/(1+kp)` or :math:`1/(1+kp)`
    (Elkan, Noto: Learning classifiers from only positive and unlabeled data, 2008).

    Args:
        missing: Expected numbers of missing answers.
        knots: Knots of both f, ``(2, J)``.
        slopes: Slopes of both f between its knots and beyond, ``(2, J + 1)``.
        rate: b of both queries.
        profile: a of both queries.
        empty: d of both queries, and of both together.
        intercept: c by relation, ``(R,)``.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    missing: MissingAnswers
    knots: tuple[tuple[float, ...], tuple[float, ...]]
    slopes: tuple[tuple[Positive, ...], tuple[Positive, ...]]
    rate: tuple[Annotated[float, Field(ge=0)], Annotated[float, Field(ge=0)]]
    profile: tuple[Annotated[float, Field(ge=0)], Annotated[float, Field(ge=0)]]
    empty: tuple[float, float, float]
    intercept: tuple[float, ...]

    @classmethod
    def fit(
        cls, evidence: Evidence, removed: NDArray[np.bool_], weight: Floats, k: float,
        missing: MissingAnswers,
    ) -> "TruthModel":  # fmt: skip
        """Maximise the likelihood of removed triples.

        Args:
            evidence: Evidence for a sample of triples.
            removed: Whether they were removed, ``(N,)``.
            weight: Weights, ``(N,)``.
            k: Number of removed triples per missing triple.
            missing: Expected numbers of missing answers.
        """
        R = len(missing.facts)
        sides = _sides(evidence, missing)
        knots = [_knots(side[removed]) for side in sides.odds.T]
        fitting = _Fit(_design(sides, knots), evidence.r, removed, weight, k, R)
        w, J = fitting.solve([len(own) + 1 for own in knots]), [len(own) + 1 for own in knots]
        first, second, rest = np.split(w, [J[0], sum(J)])
        return cls(
            missing=missing,
            knots=(tuple(knots[0].tolist()), tuple(knots[1].tolist())),
            slopes=(tuple(first.tolist()), tuple(second.tolist())),
            rate=(float(rest[0]), float(rest[1])),
            profile=(float(rest[2]), float(rest[3])),
            empty=(float(rest[4]), float(rest[5]), float(rest[6])),
            intercept=tuple((rest[7] + rest[8:]).tolist()),
        )

    def log_odds(self, evidence: Evidence) -> Floats:
        """Return the log-odds that triples are true, ``(N,)``."""
        sides = _sides(evidence, self.missing)
        X = _design(sides, [np.array(own) for own in self.knots])
        w = np.array([*self.slopes[0], *self.slopes[1], *self.rate, *self.profile, *self.empty])
        return np.asarray(X @ w + np.array(self.intercept)[evidence.r], dtype=np.float64)


class _Sides(NamedTuple):
    """Log-odds, log λ, log q, whether no answer is known; the query with fewer answers first."""

    odds: Floats
    log_rate: Floats
    profile: Floats
    empty: NDArray[np.bool_]


def _sides(evidence: Evidence, missing: MissingAnswers) -> _Sides:
    R = len(missing.facts)
    r = np.stack([evidence.r, evidence.r + R], axis=1)
    rate = np.stack([missing.expected(r[:, i], evidence.known[:, i]) for i in (0, 1)], axis=1)
    swap = missing.swapped[evidence.r][:, None]
    columns = (evidence.odds, np.log(rate), evidence.profile, evidence.known == 0)
    return _Sides(*(np.where(swap, x[:, ::-1], x) for x in columns))


def _knots(odds: Floats) -> Floats:
    return np.unique(np.quantile(odds, np.linspace(0.02, 0.98, KNOTS)))


def _design(sides: _Sides, knots: list[Floats]) -> Floats:
    """Return the columns of the regression, ``(N, …)``: slopes, log λ, log q, no answers."""
    ramps = [_ramps(x, own) for x, own in zip(sides.odds.T, knots, strict=True)]
    empty = np.column_stack([sides.empty, sides.empty.all(axis=1)]).astype(np.float64)
    return np.concatenate([*ramps, sides.log_rate, sides.profile, empty], axis=1)


def _ramps(x: Floats, knots: Floats) -> Floats:
    """Return the length of x in each interval between knots, so that slopes are weights."""
    inner = [np.clip(x, low, high) - low for low, high in pairwise(knots)]
    ends = np.minimum(x - knots[0], 0), np.maximum(x - knots[-1], 0)
    return np.stack([ends[0], *inner, ends[1]], axis=1)


@dataclass(frozen=True, eq=False)
class _Fit:
    """Regression with an intercept and one more by relation, for positive and unlabelled data."""

    X: Floats
    r: Ids
    removed: NDArray[np.bool_]
    weight: Floats
    k: float
    relations: int

    def solve(self, slopes: list[int]) -> Floats:
        """Return slopes, other weights, the intercept and those of the relations."""
        d, bounded = self.X.shape[1], sum(slopes)
        start = np.zeros(d + 1 + self.relations)
        start[:bounded], start[bounded : bounded + 4], start[d] = START, START, -3.0
        lower = np.full(len(start), -np.inf)
        lower[:bounded], lower[bounded : bounded + 4] = MIN_SLOPE, 0.0
        precision = np.full(len(start), SPREAD**-2)
        precision[:bounded], precision[bounded:d], precision[d] = STIFFNESS, 0.01, 0.0
        return minimize_bounded(lambda w: self._loss(w, start, precision), start, lower)

    def _loss(self, w: Floats, prior: Floats, precision: Floats) -> tuple[float, Floats]:
        from scipy.special import expit

        d = self.X.shape[1]
        odds = self.X @ w[:d] + w[d] + w[d + 1 :][self.r]
        p, y = expit(odds), self.removed
        value = np.log1p(self.k * p) + np.where(y, np.logaddexp(0, -odds), 0)
        slope = self.weight * (1 - p) * (self.k * p / (1 + self.k * p) - y)
        by_relation = np.bincount(self.r, slope, self.relations)
        away = w - prior
        gradient = np.concatenate([self.X.T @ slope, [slope.sum()], by_relation])
        loss = self.weight @ value + (precision * away) @ away / 2
        return float(loss), gradient + precision * away


def known_counts(known: QueryIndex, h: Ids, r: Ids) -> Ids:
    """Return the number of known answers of queries, ``(N,)``."""
    at = known.find(h, r)
    return np.where(at < 0, 0, known.counts[at]) if len(known) else np.zeros_like(at)
