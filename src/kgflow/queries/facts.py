"""Known facts as a sparse join, and the probabilities of all others."""

from functools import cached_property

import numpy as np
from scipy.special import expit

from kgflow.data import QueryIndex
from kgflow.evaluation import Scorer
from kgflow.evaluation.metrics import Floats
from kgflow.evaluation.scoring import Ids
from kgflow.uncertainty import Calibration


class KnownFacts:
    """Heads and tails of the known facts of each relation and inverse relation.

    Example:
        >>> import kgflow
        >>> world = kgflow.load("world")
        >>> h, t = KnownFacts(world.known).pairs(world.relations.id("borders"))
        >>> len(h) == len(t) > 0
        True
    """

    def __init__(self, index: QueryIndex) -> None:
        self.index = index

    @cached_property
    def _by_relation(self) -> tuple[Ids, Ids, Ids]:
        query, tail, _ = self.index.gather(np.arange(len(self.index)))
        relation = self.index.r[query]
        order = np.argsort(relation, kind="stable")
        offsets = np.searchsorted(relation[order], np.arange(self.index.relations + 1))
        return self.index.h[query][order], tail[order], offsets

    def pairs(self, r: int) -> tuple[Ids, Ids]:
        """Return heads and tails of the facts of a relation, ``(N,)`` each."""
        head, tail, offsets = self._by_relation
        return head[offsets[r] : offsets[r + 1]], tail[offsets[r] : offsets[r + 1]]


class FactProbabilities:
    """P(fact) of facts by a model and its calibration; 1 for known facts.

    It is the probability of `Predictor.probability`, from both queries of a fact and what is
    missing of them (see `TruthModel`); without enough validation facts, that of an answer to
    (h, r, ?).

    Args:
        scorer: Scorer of the model, with the known facts.
        calibration: Calibration of scores.
        model_only: Whether nothing counts as known: a fact has the probability of an answer to
            (h, r, ?), which is conditional on one being missing.
    """

    def __init__(self, scorer: Scorer, calibration: Calibration, model_only: bool = False) -> None:
        self.scorer, self.model_only = scorer, model_only
        self.calibration = (
            calibration.model_copy(update={"truth": None}) if model_only else calibration
        )

    def __call__(self, h: Ids, r: int) -> Floats:
        """Return P of all entities as answers to (h, r, ?) of heads ``(B,)``: ``(B, E)``."""
        P: Floats = expit(self.calibration.rows(self.scorer, h, r))
        if self.model_only:
            return P
        row, tail = self.scorer.known_answers(h, np.full_like(h, r))
        P[row.cpu().numpy(), tail.cpu().numpy()] = 1
        return P

    def of_triples(self, h: Ids, r: Ids, t: Ids) -> Floats:
        """Return P of facts of ids, ``(N,)`` each: ``(N,)``."""
        if self.calibration.truth is None:
            score = self.scorer.score_triples(h, r, t).double().numpy()
            P = self.calibration.probability(score, r)
        else:
            R = self.scorer.known.relations // 2
            inverse = r >= R
            ends = np.where(inverse, t, h), r % R, np.where(inverse, h, t)
            P = expit(
                self.calibration.truth.log_odds(self.calibration.evidence(self.scorer, *ends))
            )
        return P if self.model_only else np.where(self.scorer.known.contains(h, r, t), 1.0, P)
