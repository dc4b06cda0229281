"""Probability that a triple is true, from both of its queries and what is missing of them."""

from itertools import pairwise
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from kgflow.data import QueryIndex
from kgflow.evaluation.metrics import Floats
from kgflow.evaluation.scoring import Ids
from kgflow.uncertainty.calibrators import CalibratorField, Identity
from kgflow.uncertainty.missing import MissingAnswers
from kgflow.uncertainty.unlabelled import FLEXIBLE, Regression, Stiffness

Positive = Annotated[float, Field(gt=0)]


class Evidence(NamedTuple):
    """What both queries of triples say, (h, r, ?) in the first column.

    Shapes:
        r: (N,), relation. odds: (N, 2), calibrated log-odds of the answer. known: (N, 2), number
        of known answers. profile: (N, 2), log q of queries without known answers (see
        `RelationProfiles`), 0 for others. loop: (N,), log-odds added to self-loops, 0 for others.
    """

    r: Ids
    odds: Floats
    known: Ids
    profile: Floats
    loop: Floats

    def take(self, where: NDArray[np.bool_] | Ids) -> "Evidence":
        """Select triples by a mask or by positions."""
        r, odds, known, profile, loop = self
        return Evidence(r[where], odds[where], known[where], profile[where], loop[where])


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
    are the removed ones; the intercept of a relation is shrunk to the mean. How many slopes, and
    how strongly all are shrunk, is chosen by cross-validation, see `choose_stiffness`.

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
        calibrator: Strictly increasing map of these log-odds to the final ones.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    missing: MissingAnswers
    knots: tuple[tuple[float, ...], tuple[float, ...]]
    slopes: tuple[tuple[Positive, ...], tuple[Positive, ...]]
    rate: tuple[Annotated[float, Field(ge=0)], Annotated[float, Field(ge=0)]]
    profile: tuple[Annotated[float, Field(ge=0)], Annotated[float, Field(ge=0)]]
    empty: tuple[float, float, float]
    intercept: tuple[float, ...]
    calibrator: CalibratorField = Identity()

    @classmethod
    def fit(
        cls, evidence: Evidence, removed: NDArray[np.bool_], weight: Floats, k: float,
        missing: MissingAnswers, stiffness: Stiffness = FLEXIBLE,
    ) -> "TruthModel":  # fmt: skip
        """Maximise the likelihood of removed triples.

        Args:
            evidence: Evidence for a sample of triples.
            removed: Whether they were removed, ``(N,)``.
            weight: Weights, ``(N,)``.
            k: Number of removed triples per missing triple.
            missing: Expected numbers of missing answers.
            stiffness: Number of slopes and precision of their priors.
        """
        R = len(missing.facts)
        sides = _sides(evidence, missing)
        knots = [_knots(side[removed], stiffness.knots) for side in sides.odds.T]
        J, X = [len(own) + 1 for own in knots], _design(sides, knots)
        w = Regression(X, evidence.r, evidence.loop, removed, weight, k, R).solve(sum(J), stiffness)
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
        odds = np.asarray(X @ w + np.array(self.intercept)[evidence.r], dtype=np.float64)
        return self.calibrator(odds) + evidence.loop

    def grid(self, r: int, first: "Side", second: "Side") -> Floats:
        """Return the log-odds of all triples of some heads and some tails, ``(B, N)``.

        Those of self-loops are not added.

        Args:
            r: Relation, or inverse relation, of the triples.
            first: Queries (h, r, ?) of the heads, ``(B,)``, with log-odds ``(B, N)``.
            second: Queries (?, r, t) of the tails, ``(N,)``, with log-odds ``(B, N)``.
        """
        R = len(self.missing.facts)
        swap = (r >= R) != bool(self.missing.swapped[r % R])
        total = np.full(first.odds.shape, self.intercept[r % R])
        for q, side in enumerate((second, first) if swap else (first, second)):
            relation = np.full(len(side.known), r if side is first else (r + R) % (2 * R))
            own = self.rate[q] * np.log(self.missing.expected(relation, side.known))
            own += self.profile[q] * side.profile + self.empty[q] * (side.known == 0)
            total += own[:, None] if side is first else own
            _add_ramps(total, side.odds, self.knots[q], self.slopes[q])
        total += self.empty[2] * np.outer(first.known == 0, second.known == 0)
        return self.calibrator(total)


class Side(NamedTuple):
    """One query of each triple of a grid: log-odds, numbers of known answers, log q."""

    odds: Floats
    known: Ids
    profile: Floats


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


def _knots(odds: Floats, count: int) -> Floats:
    ends = (0.02, 0.98) if count > 1 else (0.5, 0.5)
    return np.unique(np.quantile(odds, np.linspace(*ends, count)))


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


def _add_ramps(
    total: Floats, x: Floats, knots: tuple[float, ...], slopes: tuple[float, ...]
) -> None:
    """Add the sum of the ramps times their slopes, without holding the ramps."""
    total += slopes[0] * np.minimum(x - knots[0], 0)
    for (low, high), slope in zip(pairwise(knots), slopes[1:-1], strict=True):
        total += slope * (np.clip(x, low, high) - low)
    total += slopes[-1] * np.maximum(x - knots[-1], 0)


def known_counts(known: QueryIndex, h: Ids, r: Ids) -> Ids:
    """Return the number of known answers of queries, ``(N,)``."""
    at = known.find(h, r)
    return np.where(at < 0, 0, known.counts[at]) if len(known) else np.zeros_like(at)
