"""Expected calibration errors by the definitions of other papers."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from kgflow.data import Triples
from kgflow.evaluation import Scorer
from kgflow.runs.run import Run
from kgflow.uncertainty import Platt, Spline, score_candidates
from kgflow.uncertainty.calibration import fit_temperature
from kgflow.uncertainty.candidates import CandidateScores

Floats = NDArray[np.float64]
BINS = 10
MOST = 4000
"""Largest number of facts."""


def corruption_errors(run: Run) -> dict[str, float]:
    """Compute ECE on facts and corruptions, and of the best answers, before and after calibration.

    "pairs": test facts against one corruption each; "top": best answers by softmax.
    """
    scorer = Scorer(run.model, run.data.known)
    valid, test = (_pairs(scorer, run, x) for x in (run.validation.selection, run.data.test))
    one = np.ones(len(valid[0]))
    fitted = [kind.fit(*valid, one) for kind in (Platt, Spline)]
    best = min(fitted, key=lambda f: _log_loss(f(valid[0]), valid[1]))
    candidates = [_candidates(run, x) for x in (run.validation.selection, run.data.test)]
    temperature = fit_temperature(candidates[0])
    return {
        "pairs_before": ece(expit(test[0]), test[1]),
        "pairs": ece(expit(best(test[0])), test[1]),
        "top_before": ece(*_top(candidates[1], 1.0)),
        "top": ece(*_top(candidates[1], temperature)),
    }


def ece(p: Floats, truth: Floats) -> float:
    """Compute the expected calibration error over bins of equal width.

    Example:
        >>> ece(np.array([0.75, 0.75, 0.25, 0.25]), np.array([1.0, 0.0, 0.0, 0.0]))
        0.25
    """
    bins = np.minimum((BINS * p).astype(int), BINS - 1)
    return float(np.abs(np.bincount(bins, p - truth)).sum() / len(p))


def _pairs(scorer: Scorer, run: Run, facts: Triples) -> tuple[Floats, Floats]:
    """Return log-odds and truth of facts and of a corruption of each."""
    rng, E = np.random.default_rng(0), len(run.data.entities)
    facts = facts.take(rng.permutation(len(facts))[:MOST])
    drawn, of_head = rng.integers(E, size=len(facts)), rng.random(len(facts)) < 0.5
    h, t = np.where(of_head, drawn, facts.h), np.where(of_head, facts.t, drawn)
    kept = ~scorer.known.contains(h, facts.r, t)
    good = scorer.score_triples(facts.h, facts.r, facts.t).double().numpy()
    bad = scorer.score_triples(h[kept], facts.r[kept], t[kept]).double().numpy()
    z = np.concatenate([good, bad]) + run.logit_offset
    return z, np.repeat([1.0, 0.0], [len(good), len(bad)])


def _log_loss(odds: Floats, truth: Floats) -> float:
    return float((np.logaddexp(0, odds) - truth * odds).mean())


def _candidates(run: Run, facts: Triples) -> CandidateScores:
    chosen = facts.take(np.random.default_rng(0).permutation(len(facts))[:MOST])
    return score_candidates(run.model, run.data.index(chosen), run.data.known)


def _top(found: CandidateScores, temperature: float) -> tuple[Floats, Floats]:
    """Return the probability of the best answer to each query, and whether it is the true one."""
    S = np.concatenate([found.true[:, None], found.other], axis=1) / temperature
    weight = np.concatenate([np.ones((len(found), 1)), found.weight], axis=1)
    S = np.where(weight > 0, S, -np.inf)
    highest = S.max(axis=1)
    total = (weight * np.exp(S - highest[:, None])).sum(1)
    return 1 / total, (found.true / temperature >= highest).astype(np.float64)
