"""Calibration of scores: to probabilities of answers, and that triples are true."""

from typing import Annotated, Literal

import numpy as np
import torch
from pydantic import BaseModel, ConfigDict, Field

from kgflow.data import QueryIndex
from kgflow.evaluation import Scorer
from kgflow.evaluation.metrics import Floats
from kgflow.evaluation.scoring import Ids
from kgflow.uncertainty.calibrators import (
    FITTED,
    AnyCalibrator,
    Calibrator,
    CalibratorField,
    Fitted,
    Identity,
)
from kgflow.uncertainty.candidates import CandidateScores
from kgflow.uncertainty.profiles import profiles_of
from kgflow.uncertainty.truth import Evidence, Side, TruthModel, known_counts

FORMAT = 2
"""Version of calibration.json."""
FOLDS = 5
"""Folds of cross-validation."""
MIN_TRIPLES = 20
"""Smallest number of triples that a calibrator is fitted to."""
MIN_RELATION_ANSWERS = 100
"""Smallest number of answers for which a relation may have its own calibrator."""
STANDARD_ERRORS = 2.0
"""Standard errors by which the loss of a calibrator must be smaller to replace another one."""


class Calibration(BaseModel):
    r"""Calibrated probabilities of the scores of each relation.

    The probability p of a candidate is the share of true answers among candidates of its relation
    with the same score, for queries (h, r, ?) that have an answer missing from the graph. The
    candidates are *all* entities that are not known answers, not a sample of negatives: with
    p = 0.3, 3 in 10 such candidates are true, whatever their rank. It is a lower bound where true
    triples are in no split, and too large for queries without a missing answer.

    As calibrators are strictly increasing, the order of the answers to a query is kept, and answers
    with different scores have different probabilities. Relations that
    answer (h, ?, t) have different calibrators and stay in the order of their scores.

    Calibrators are selected by cross-validated log loss, with folds of whole triples: the loss's
    own sigmoid(margin + score) is kept unless another one is better by `STANDARD_ERRORS`, and a
    relation has its own calibrator only where that is as much better than the common one.

    Args:
        margin: Margin of the loss.
        facts: Number of triples it was fitted to.
        temperature: Temperature of the softmax over scores with the largest likelihood.
        common: Calibrator of all other relations.
        by_relation: Calibrators by relation id; inverse relations have ids from R on.
        model: Digest of the model that it was fitted for.
        truth: Probability that triples are true; None with too few validation triples.

    Example:
        >>> Calibration(margin=2.0).probability(np.array([-2.0]), np.array([0])).tolist()
        [0.5]
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    format: Literal[2] = 2
    margin: float
    facts: Annotated[int, Field(ge=0)] = 0
    temperature: Annotated[float, Field(ge=1e-9, le=1e9)] = 1.0
    common: CalibratorField = Identity()
    by_relation: dict[Annotated[int, Field(ge=0)], CalibratorField] = {}
    model: str = ""
    truth: TruthModel | None = None

    def evidence(self, scorer: Scorer, h: Ids, r: Ids, t: Ids) -> Evidence:
        """Return what a model and the triples that its scorer knows say of triples, ``(N,)``."""
        inverse = r + scorer.known.relations // 2
        forward, backward = scorer.score_triples(h, r, t), scorer.score_triples(t, inverse, h)
        scores = torch.stack([forward, backward], dim=1).double().numpy()
        return self.evidence_of(scores, scorer.known, h, r, t)

    def evidence_of(self, scores: Floats, known: QueryIndex, h: Ids, r: Ids, t: Ids) -> Evidence:
        """Return the evidence for triples ``(N,)`` with scores of both queries ``(N, 2)``."""
        inverse = r + known.relations // 2
        odds = self.log_odds(scores[:, 0], r), self.log_odds(scores[:, 1], inverse)
        sides, profiles = ((h, r), (t, inverse)), profiles_of(known)
        counts = [known_counts(known, *side) for side in sides]
        logs = [np.zeros(len(r)) for _ in sides]
        for log, count, side in zip(logs, counts, sides, strict=True):
            empty = count == 0
            log[empty] = profiles.log(side[0][empty], side[1][empty])
        loop = np.where(h == t, profiles.loops[r], 0.0)
        known_answers, profile = np.stack(counts, axis=1), np.stack(logs, axis=1)
        return Evidence(r, np.stack(odds, axis=1), known_answers, profile, loop)

    def rows(self, scorer: Scorer, h: Ids, r: int) -> Floats:
        """Return the log-odds that (h, r, t) is true of heads ``(B,)`` and all tails: ``(B, E)``.

        They are those of `evidence` and `truth_log_odds`, computed at once; r may be an inverse
        relation. Without a model of truth they are those of the answers to (h, r, ?).
        """
        known, t = scorer.known, np.arange(scorer.known.entities)
        forward = scorer.scores(h, np.full_like(h, r)).double().cpu().numpy()
        odds = self.log_odds_of(forward, r)
        if self.truth is None:
            return odds
        inverse = (r + known.relations // 2) % known.relations
        backward = scorer.scores_among(t, np.full_like(t, inverse), h).T.double().cpu().numpy()
        sides = (odds, h, r), (self.log_odds_of(backward, inverse), t, inverse)
        found = self.truth.grid(r, *(_side(known, *side) for side in sides))
        found[np.arange(len(h)), h] += profiles_of(known).loops[r]
        return found

    def log_odds_of(self, score: Floats, r: int) -> Floats:
        """Return calibrated log-odds of scores of one relation, in their shape."""
        return self.by_relation.get(r, self.common)(score + self.margin)

    def truth_log_odds(self, evidence: Evidence) -> Floats:
        """Return the log-odds that triples are true, ``(N,)``.

        Without a model of truth they are those of the query that says less, and only an order.
        """
        return evidence.odds.min(axis=1) if self.truth is None else self.truth.log_odds(evidence)

    def log_odds(self, score: Floats, relation: Ids) -> Floats:
        """Return calibrated log-odds of scores ``(N,)`` of relation ids ``(N,)``."""
        z = np.asarray(score, dtype=np.float64) + self.margin
        found = np.asarray(self.common(z))
        for r, calibrator in self.by_relation.items():
            here = relation == r
            found = np.where(here, calibrator(z), found) if here.any() else found
        return found

    def probability(self, score: Floats, relation: Ids) -> Floats:
        """Return calibrated probabilities of scores ``(N,)`` of relation ids ``(N,)``."""
        from scipy.special import expit

        return expit(self.log_odds(score, relation))


def _side(known: QueryIndex, odds: Floats, ids: Ids, r: int) -> Side:
    relation = np.full_like(ids, r)
    count, profile = known_counts(known, ids, relation), np.zeros(len(ids))
    empty = count == 0
    profile[empty] = profiles_of(known).log(ids[empty], relation[empty])
    return Side(odds, count, profile)


def calibrate(
    candidates: CandidateScores, margin: float, seed: int = 0, model: str = ""
) -> Calibration:
    """Fit a calibration; the seed is that of the folds, and `model` the digest to be stored."""
    facts = int(candidates.fact.max(initial=-1)) + 1
    # Without a false candidate, nothing can be fitted.
    if facts < MIN_TRIPLES or not candidates.weight.any():
        return Calibration(margin=margin, facts=facts, model=model)
    fold = np.random.default_rng(seed).permutation(facts)[candidates.fact] % FOLDS
    start = log_loss(candidates, Identity(), margin)
    common, loss = _select(candidates, margin, fold, Identity(), start)
    by_relation = {}
    for r, count in zip(*np.unique(candidates.r, return_counts=True), strict=True):
        here = candidates.r == r
        if count >= MIN_RELATION_ANSWERS and candidates.weight[here].any():
            found, _ = _select(candidates.take(here), margin, fold[here], common, loss[here])
            if found is not common:
                by_relation[int(r)] = found
    return Calibration(
        margin=margin,
        facts=facts,
        temperature=fit_temperature(candidates),
        common=common,
        by_relation=by_relation,
        model=model,
    )


def fit_temperature(candidates: CandidateScores) -> float:
    r"""Maximise :math:`\sum_t \log \mathrm{softmax}(s/\tau)_t` over the temperature τ.

    Guo, Pleiss, Sun, Weinberger: On calibration of modern neural networks, 2017.
    """
    from scipy.optimize import minimize_scalar
    from scipy.special import logsumexp

    S = np.concatenate([candidates.true[:, None], candidates.other], axis=1)
    weight = np.concatenate([np.ones((len(candidates), 1)), candidates.weight], axis=1)

    def loss(log_temperature: float) -> float:
        z = S / np.exp(log_temperature)
        return float((logsumexp(z, axis=1, b=weight) - z[:, 0]).mean())

    centre = np.log(max(float(S.std()), 1e-9))
    found = minimize_scalar(loss, bounds=(centre - 7, centre + 4), method="bounded")
    return float(np.clip(np.exp(found.x), 1e-9, 1e9))


def log_loss(candidates: CandidateScores, calibrator: Calibrator, margin: float) -> Floats:
    r"""Compute :math:`-\log p_t - \sum_{e \ne t} \log(1 - p_e)` of each answer, ``(P,)``."""
    true, other = calibrator(candidates.true + margin), calibrator(candidates.other + margin)
    negative = (candidates.weight * np.logaddexp(0, other)).sum(1)
    return np.logaddexp(0, -true) + negative


def _select(
    candidates: CandidateScores,
    margin: float,
    fold: Ids,
    current: AnyCalibrator,
    loss: Floats,
) -> tuple[AnyCalibrator, Floats]:
    """Return the best fitted calibrator, or the current one, and its losses."""
    tried = [(kind, _cross_validate(kind, candidates, margin, fold)) for kind in FITTED]
    kind, found = min(tried, key=lambda pair: float(pair[1].mean()))
    if not _clearly_less(found - loss, candidates.fact):
        return current, loss
    return kind.fit(*_labelled(candidates, margin)), found


def _cross_validate(kind: Fitted, candidates: CandidateScores, margin: float, fold: Ids) -> Floats:
    loss = np.empty(len(candidates))
    for k in np.unique(fold):
        out = fold == k
        fitted = kind.fit(*_labelled(candidates.take(~out), margin))
        loss[out] = log_loss(candidates.take(out), fitted, margin)
    return loss


def _labelled(candidates: CandidateScores, margin: float) -> tuple[Floats, Floats, Floats]:
    score, truth, weight = candidates.flatten()
    return score + margin, truth, weight


def _clearly_less(difference: Floats, fact: Ids) -> bool:
    """Return whether the sum of differences is negative by `STANDARD_ERRORS`, clustered by fact."""
    _, group = np.unique(fact, return_inverse=True)
    total = np.bincount(group, weights=difference)
    error = float(np.std(total, ddof=1)) * len(total) ** 0.5
    return bool(total.sum() < -STANDARD_ERRORS * max(error, 1e-12))
