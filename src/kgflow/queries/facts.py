"""Known facts as a sparse join, and the probabilities of all others."""

from functools import cached_property

import numpy as np
from scipy.special import expit

from kgflow.data import QueryIndex
from kgflow.evaluation import Scorer
from kgflow.evaluation.metrics import Floats
from kgflow.evaluation.scoring import Ids
from kgflow.uncertainty import Calibration, MissingAnswerProbability


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
    r"""P(fact) of facts by a model and its calibration; 1 for known facts.

    .. math:: P(h, r, t) = P(\text{an answer of } (h, r, ?) \text{ is missing}) \cdot
              P(t \mid \text{an answer is missing})

    Args:
        scorer: Scorer of the model, with the known facts.
        calibration: Calibration of scores to the second factor.
        missing: The first factor; None for 1.
        model_only: Whether nothing counts as known: every fact has the second factor only.
    """

    def __init__(
        self,
        scorer: Scorer,
        calibration: Calibration,
        missing: MissingAnswerProbability | None = None,
        model_only: bool = False,
    ) -> None:
        self.scorer, self.calibration = scorer, calibration
        self.missing, self.model_only = None if model_only else missing, model_only

    def __call__(self, h: Ids, r: int) -> Floats:
        """Return P of all entities as answers to (h, r, ?) of heads ``(B,)``: ``(B, E)``."""
        relation = np.full_like(h, r)
        score = self.scorer.scores(h, relation).cpu().numpy()
        calibrator = self.calibration.by_relation.get(r, self.calibration.common)
        score += self.calibration.margin
        P: Floats = expit(calibrator(score))
        P *= self.limit(h, r).astype(P.dtype)[:, None]
        if self.model_only:
            return P
        row, tail = self.scorer.known_answers(h, relation)
        P[row.cpu().numpy(), tail.cpu().numpy()] = 1
        return P

    def limit(self, h: Ids, r: int) -> Floats:
        """Return what no unknown fact of the queries (h, r, ?) exceeds, ``(B,)``."""
        return np.ones(len(h)) if self.missing is None else self.missing(h, np.full_like(h, r))

    def of_triples(self, h: Ids, r: Ids, t: Ids) -> Floats:
        """Return P of facts of ids, ``(N,)`` each: ``(N,)``."""
        score = self.scorer.score_triples(h, r, t).double().numpy()
        P = self.calibration.probability(score, r)
        if self.missing is not None:
            P *= self.missing(h, r)
        return P if self.model_only else np.where(self.scorer.known.contains(h, r, t), 1.0, P)
