"""Probabilities that mean a frequency."""

from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from kgflow.evaluation.metrics import Floats
from kgflow.uncertainty.candidates import CandidateScores
from kgflow.uncertainty.maps import FITTED, AnyMap, Fitted, Identity, Map, OneMap

FOLDS = 5
FEWEST = 20
"""Facts to learn a map from, at least."""
OWN = 100
"""Answers of a relation from which it may have a map of its own."""
CLEARLY = 2.0
"""Standard errors by which a map must be better than the one that is there."""


class Calibration(BaseModel):
    r"""How the scores of each relation become probabilities.

    What a probability means: take a question (h, r, ?) that has an answer which the graph does not
    hold, and any candidate of it, that is any entity not known to be an answer. Among candidates of
    relation r with this score, this share is that answer. The negatives are thus *all* entities
    that are not known to be true, each once, not a few drawn for each positive: p = 0.3 says that
    3 in 10 such answers are right, be they first or last in a list. It is a lower bound where true
    facts are missing from all splits, and says too much of a question without a further answer.

    As maps ascend, no answers to one question change places; relations that answer (h, ?, t) each
    have their own map, and stay in the order of their scores.

    The maps are chosen by cross-fitting on the log loss, facts kept whole: the loss's own
    sigmoid(margin + score) stays unless another map is better by `CLEARLY` standard errors, and a
    relation has a map of its own only where that is as much better than the common one.

    Args:
        margin: of the loss.
        facts: how many facts it was learned from.
        common: the map of most relations.
        temperature: what scores are divided by so that their softmax makes true answers likeliest.
        own: maps by the id of the relation; reciprocal relations go on after the others.
        model: a digest of the model that it was learned for.

    Example:
        >>> Calibration(margin=2.0).probability(np.array([-2.0]), np.array([0])).tolist()
        [0.5]
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    format: Literal[1] = 1
    margin: float
    facts: Annotated[int, Field(ge=0)] = 0
    temperature: Annotated[float, Field(ge=1e-9, le=1e9)] = 1.0
    common: AnyMap = Identity()
    own: dict[Annotated[int, Field(ge=0)], AnyMap] = {}
    model: str = ""

    def log_odds(self, score: Floats, relation: NDArray[np.int64]) -> Floats:
        """The log-odds of truth, of scores ``(N,)`` and the ids of their relations ``(N,)``."""
        z = np.asarray(score, dtype=np.float64) + self.margin
        found = np.asarray(self.common(z))
        for r, own in self.own.items():
            here = relation == r
            found = np.where(here, own(z), found) if here.any() else found
        return found

    def probability(self, score: Floats, relation: NDArray[np.int64]) -> Floats:
        """The probabilities of scores ``(N,)`` under the ids of their relations ``(N,)``."""
        from scipy.special import expit

        found: Floats = expit(self.log_odds(score, relation))
        return found


def calibrate(
    census: CandidateScores, margin: float, seed: int = 0, model: str = ""
) -> Calibration:
    """Learn how scores become probabilities.

    Args:
        census: true answers among their candidates.
        margin: of the loss.
        seed: of the folds.
        model: a digest of the model, to be noted.
    """
    facts = int(census.fact.max(initial=-1)) + 1
    if facts < FEWEST or not census.weight.any():  # nothing that could be wrong teaches nothing
        return Calibration(margin=margin, facts=facts, model=model)
    fold = np.random.default_rng(seed).permutation(facts)[census.fact] % FOLDS
    common, loss = _best(census, margin, fold, Identity(), losses(census, Identity(), margin))
    own = {}
    for r, count in zip(*np.unique(census.r, return_counts=True), strict=True):
        here = census.r == r
        if count >= OWN and census.weight[here].any():
            found, _ = _best(census.take(here), margin, fold[here], common, loss[here])
            if found is not common:
                own[int(r)] = found
    return Calibration(
        margin=margin,
        facts=facts,
        temperature=likeliest_temperature(census),
        common=common,
        own=own,
        model=model,
    )


def likeliest_temperature(census: CandidateScores) -> float:
    r"""The τ that makes :math:`\sum_t \log \mathrm{softmax}(s/\tau)_t` greatest.

    Guo, Pleiss, Sun, Weinberger: On calibration of modern neural networks, 2017.
    """
    from scipy.optimize import minimize_scalar
    from scipy.special import logsumexp

    S = np.concatenate([census.true[:, None], census.other], axis=1)
    weight = np.concatenate([np.ones((len(census), 1)), census.weight], axis=1)

    def loss(log_temperature: float) -> float:
        z = S / np.exp(log_temperature)
        return float((logsumexp(z, axis=1, b=weight) - z[:, 0]).mean())

    centre = np.log(max(float(S.std()), 1e-9))
    found = minimize_scalar(loss, bounds=(centre - 7, centre + 4), method="bounded")
    return float(np.clip(np.exp(found.x), 1e-9, 1e9))


def losses(census: CandidateScores, log_odds: Map, margin: float) -> Floats:
    r"""Each question's log loss, :math:`-\log p_t - \sum_{e \ne t} \log(1 - p_e)`: ``(P,)``."""
    true, other = log_odds(census.true + margin), log_odds(census.other + margin)
    found: Floats = np.logaddexp(0, -true) + (census.weight * np.logaddexp(0, other)).sum(1)
    return found


def _best(
    census: CandidateScores, margin: float, fold: NDArray[np.int64], there: OneMap, loss: Floats
) -> tuple[OneMap, Floats]:
    """The map that is there, or the best of those that are clearly better; and its losses."""
    tried = [(kind, _out_of_fold(kind, census, margin, fold)) for kind in FITTED]
    kind, found = min(tried, key=lambda pair: float(pair[1].mean()))
    if not _clearly_less(found - loss, census.fact):
        return there, loss
    return kind.fit(*_shifted(census, margin)), found


def _out_of_fold(
    kind: Fitted, census: CandidateScores, margin: float, fold: NDArray[np.int64]
) -> Floats:
    loss = np.empty(len(census))
    for k in np.unique(fold):
        out = fold == k
        learned = kind.fit(*_shifted(census.take(~out), margin))
        loss[out] = losses(census.take(out), learned, margin)
    return loss


def _shifted(census: CandidateScores, margin: float) -> tuple[Floats, Floats, Floats]:
    score, truth, weight = census.labelled()
    return score + margin, truth, weight


def _clearly_less(difference: Floats, fact: NDArray[np.int64]) -> bool:
    """Whether a difference is below zero by some standard errors, a fact's two sides as one."""
    _, group = np.unique(fact, return_inverse=True)
    total = np.bincount(group, weights=difference)
    error = float(np.std(total, ddof=1)) * len(total) ** 0.5
    return bool(total.sum() < -CLEARLY * max(error, 1e-12))
