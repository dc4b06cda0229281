"""Choice of the stiffness of the model of truth, by cross-validation over validation facts."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from kgflow.evaluation.metrics import Floats
from kgflow.evaluation.scoring import Ids
from kgflow.uncertainty.calibrators import MIN_SLOPE, Beta, Identity, minimize_bounded
from kgflow.uncertainty.missing import MissingAnswers
from kgflow.uncertainty.truth import Evidence, TruthModel
from kgflow.uncertainty.unlabelled import SETTINGS, Stiffness, unlabelled_loss

FOLDS = 4
"""Folds of cross-validation."""
ROWS = 20_000
"""Triples that are not removed, at most, on which settings are compared."""


def choose_stiffness(
    evidence: Evidence, removed: NDArray[np.bool_], weight: Floats, k: float,
    missing: MissingAnswers, query: Ids, seed: int = 0,
) -> tuple[Stiffness, Identity | Beta]:  # fmt: skip
    """Return the setting with the smallest loss on validation facts of queries left out, and a map.

    All triples of a query are in the same fold. Of more than `ROWS` triples that are not removed,
    a weighted sample is used, in which probable ones are more likely. The map of log-odds
    calibrates those of the folds that were left out, unless they are better without.

    Args:
        evidence: Evidence for a sample of triples.
        removed: Whether they were removed, ``(N,)``.
        weight: Weights, ``(N,)``.
        k: Number of removed triples per missing triple.
        missing: Expected numbers of missing answers.
        query: Id of the query (h, r, ?) of each triple, ``(N,)``.
        seed: Seed of the sample and of the folds.
    """
    rng = np.random.default_rng(seed)
    rows, weight = _thin(evidence.odds.mean(axis=1), removed, weight, rng)
    evidence, removed, query = evidence.take(rows), removed[rows], query[rows]
    queries, of = np.unique(query, return_inverse=True)
    fold = rng.permutation(len(queries))[of] % FOLDS
    given = evidence, removed, weight, k, missing
    tried = [(setting, _left_out(*given, fold, setting)) for setting in SETTINGS]

    def total(odds: Floats) -> float:
        return float(weight @ unlabelled_loss(odds, removed, k))

    setting, odds = min(tried, key=lambda pair: total(pair[1]))
    mapped = odds.copy()
    for number in np.unique(fold):
        out = fold == number
        mapped[out] = fit_map(odds[~out], removed[~out], weight[~out], k)(odds[out])
    worth = total(mapped) < total(odds)
    return setting, fit_map(odds, removed, weight, k) if worth else Identity()


def _left_out(
    evidence: Evidence, removed: NDArray[np.bool_], weight: Floats, k: float,
    missing: MissingAnswers, fold: Ids, setting: Stiffness,
) -> Floats:  # fmt: skip
    """Return log-odds of the triples of each fold by the model of the others, ``(N,)``."""
    odds = np.empty(len(fold))
    for number in np.unique(fold):
        out = fold == number
        given = evidence.take(~out), removed[~out], weight[~out], k, missing
        odds[out] = TruthModel.fit(*given, setting).log_odds(evidence.take(out))
    return odds


def fit_map(odds: Floats, removed: NDArray[np.bool_], weight: Floats, k: float) -> Beta:
    """Return the map of beta calibration with the largest likelihood of removed triples.

    Arguments as in `choose_stiffness`.
    """
    X = np.column_stack([-np.logaddexp(0, -odds), np.logaddexp(0, odds), np.ones(len(odds))])
    same = np.array([1.0, 1.0, 0.0])

    def loss(w: Floats) -> tuple[float, Floats]:
        z = X @ w
        p = expit(z)
        slope = weight * (1 - p) * (k * p / (1 + k * p) - removed)
        away = w - same
        value = weight @ unlabelled_loss(z, removed, k) + away @ away / 2
        return float(value), X.T @ slope + away

    w = minimize_bounded(loss, same, np.array([MIN_SLOPE, MIN_SLOPE, -np.inf]))
    low, high, intercept = w.tolist()
    return Beta(low=low, high=high, intercept=intercept)


def _thin(
    odds: Floats, removed: NDArray[np.bool_], weight: Floats, rng: np.random.Generator
) -> tuple[Ids, Floats]:
    """Return positions of a sample with all removed triples, and weights that stand for all."""
    if (~removed).sum() <= ROWS:
        return np.arange(len(odds)), weight
    size = np.where(removed, 0, weight * np.sqrt(expit(odds)))
    share = np.where(removed, 1.0, np.minimum(1.0, ROWS * size / size.sum()))
    rows = np.flatnonzero(rng.random(len(odds)) < share)
    return rows, weight[rows] / share[rows]
