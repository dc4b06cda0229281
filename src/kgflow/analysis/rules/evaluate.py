"""Confidence of rules in a model and in its graph."""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from kgflow.analysis.rules.distance import RelationDistance
from kgflow.analysis.rules.rule import Graph, Rule, inverse
from kgflow.data import Triples
from kgflow.data.triples import Ids
from kgflow.runs.predictor import Predictor

MAX_TRIPLES = 200
"""Largest number of training triples of a relation from which its threshold is computed."""

MAX_PAIRS = 200
"""Largest number of pairs of a rule's body that the model classifies."""

MIN_CONFIDENCE = 0.5
"""Smallest confidence of a rule that counts as true in the model or in the graph."""

MIN_LIFT = 0.25
"""Smallest difference between the confidence of a rule and its confidence by chance."""

MIN_MARGIN = 0.1
"""Smallest difference between the model's recall and its rate of false positives."""

PRIOR_PAIRS = 5
"""Number of counterexamples added to each rule for the order of rules."""


class TripleClassifier:
    r"""Triple classification by a threshold on the scores of each relation.

    A triple (h, r, t) counts as true where the score of (h, r, t) reaches the threshold of r and
    the score of (t, r⁻¹, h) that of r⁻¹. A threshold separates training triples from corrupted
    ones, with the tail of another triple of r, and maximizes Youden's J = true positive rate −
    false positive rate.

    Args:
        predictor: model with its data.
        train: graph of the training triples.

    Reference:
        Youden: Index for rating diagnostic tests, Cancer 1950; Socher, Chen, Manning, Ng: Reasoning
        with Neural Tensor Networks for Knowledge Base Completion, NeurIPS 2013.
    """

    def __init__(self, predictor: Predictor, train: Graph) -> None:
        self.predictor, self.train = predictor, train
        self.threshold = lru_cache(maxsize=None)(self._threshold)
        self.recall = lru_cache(maxsize=None)(self._recall)

    def positive_rate(self, r: int, h: Ids, t: Ids) -> float:
        """Return the share of the pairs (h, t) classified as true."""
        return float(self.classify(r, h, t).mean())

    def classify(self, r: int, h: Ids, t: Ids) -> NDArray[np.bool_]:
        """Return whether (h, r, t) is classified as true, ``(N,)``."""
        back = inverse(r, self.train.relations)
        forward = self.score(r, h, t) >= self.threshold(r)
        return forward & (self.score(back, t, h) >= self.threshold(back))

    def score(self, d: int, h: Ids, t: Ids) -> NDArray[np.float64]:
        """Return the scores of (h, d, t) for a relation or inverse relation d, ``(N,)``."""
        return self.predictor.score(h, np.full_like(h, d), t).double().numpy()

    def _recall(self, r: int) -> float:
        """Return the share of r's training triples classified as true."""
        heads, tails = self.train.pairs(r)
        sample = self._sample(r)
        return self.positive_rate(r, heads[sample], tails[sample]) if len(sample) else 0.0

    def _sample(self, d: int) -> Ids:
        count = len(self.train.pairs(d)[0])
        return np.random.default_rng(d).choice(count, min(MAX_TRIPLES, count), replace=False)

    def _threshold(self, d: int) -> float:
        heads, tails = self.train.pairs(d)
        if not len(heads):
            return np.inf  # the model was not trained on this relation
        sample = self._sample(d)
        h = np.repeat(heads[sample], 4)
        corrupted = np.random.default_rng(d).choice(tails, 4 * len(sample))
        unknown = ~self.predictor.known.contains(h, np.full_like(h, d), corrupted)
        negative = self.score(d, h[unknown], corrupted[unknown])
        return best_threshold(self.score(d, heads[sample], tails[sample]), negative)


def best_threshold(positive: NDArray[np.float64], negative: NDArray[np.float64]) -> float:
    """Return the threshold with the largest true positive rate minus false positive rate.

    Example:
        >>> best_threshold(np.array([3.0, 4.0, 1.0]), np.array([0.0, 2.0, 1.5]))
        3.0
    """
    if not len(negative):
        return float(positive.min())
    candidates = np.unique(positive)
    true, false = (
        1 - np.searchsorted(np.sort(x), candidates) / len(x) for x in (positive, negative)
    )
    return float(candidates[np.argmax(true - false)])


@dataclass(frozen=True)
class EvaluatedRule:
    r"""A rule with its confidence in the model and in the graph.

    Args:
        rule: the rule.
        model_confidence: share of the body's pairs for which the model classifies the head as true
            (see `TripleClassifier`), rescaled so that 0 is the share for shuffled tails and 1 the
            share for training triples of the head; for antisymmetry 1 minus the share. None without
            pairs.
        distance: distance of body and head as functions, None for models without functions.
        closure: distance of :math:`f_r \circ f_s` from the identity, for symmetry and inverse.
        support: number of pairs for which the body is true in all splits.
        confidence: share of them for which the head is true, None without pairs.
        chance: confidence for shuffled tails: where all countries have one currency, it is no
            evidence that two of them have the same.
    """

    rule: Rule
    model_confidence: float | None
    distance: float | None
    closure: float | None
    support: int
    confidence: float | None
    chance: float | None

    @property
    def agreement(self) -> str:
        """Where the rule is true: both, model only, graph only, neither; untested without pairs."""
        if self.model_confidence is None or self.confidence is None:
            return "untested"
        model = self.model_confidence >= MIN_CONFIDENCE
        graph = self.confidence >= max(MIN_CONFIDENCE, (self.chance or 0.0) + MIN_LIFT)
        if model and graph:
            return "both"
        return "model only" if model else "graph only" if graph else "neither"

    @property
    def order(self) -> tuple[float, float]:
        """Sort key: descending model confidence, shrunk for few pairs, then distance."""
        tested = min(self.support, MAX_PAIRS)
        shrunk = (self.model_confidence or 0.0) * tested / (tested + PRIOR_PAIRS)
        return -shrunk, self.distance if self.distance is not None else 0.0


class RuleEvaluator:
    """Evaluate rules in the model and the graph of a predictor; results are cached."""

    def __init__(self, predictor: Predictor) -> None:
        self.model, self.data = predictor.model, predictor.data
        self.classifier = TripleClassifier(predictor, self.train)
        self.evaluate = lru_cache(maxsize=None)(self._evaluate)

    @cached_property
    def known(self) -> Graph:
        """Graph of the triples of all splits."""
        splits = (self.data.split(s) for s in ("train", "valid", "test"))
        return self._graph(Triples.concatenate(list(splits)))

    @cached_property
    def train(self) -> Graph:
        """Graph of the training triples."""
        return self._graph(self.data.train)

    @cached_property
    def distances(self) -> RelationDistance | None:
        """Distances of relations, None for models whose relations are not functions."""
        return RelationDistance.of(self.model)

    def _graph(self, triples: Triples) -> Graph:
        return Graph(triples, len(self.data.entities), len(self.data.relations))

    def _evaluate(self, rule: Rule) -> EvaluatedRule:
        count = self.known.count(rule)
        distance = closure = model_confidence = chance = None
        if self.distances is not None:
            distance = self.distances.distance(rule)
            if rule.kind in ("symmetric", "antisymmetric", "inverse"):
                closure = self.distances.closure(rule)
        if count.support:
            h, t, shuffled = self._pairs(rule)
            model_confidence = self._model_confidence(rule, h, t, shuffled)
            known = self.known.index.contains(h, np.full_like(h, rule.head), shuffled)
            chance = None if rule.negated else float(known.mean())
        return EvaluatedRule(
            rule, model_confidence, distance, closure, count.support, count.confidence, chance
        )

    def _model_confidence(self, rule: Rule, h: Ids, t: Ids, shuffled: Ids) -> float:
        classifier, r = self.classifier, rule.head
        rate, upper = classifier.positive_rate(r, h, t), classifier.recall(r)
        lower = 0.0 if rule.negated else classifier.positive_rate(r, h, shuffled)
        # A model that cannot separate true from false triples gives no evidence for or against.
        if upper <= lower + MIN_MARGIN:
            return 0.0
        share = min(1.0, max(0.0, (rate - lower) / (upper - lower)))
        return 1 - share if rule.negated else share

    def _pairs(self, rule: Rule) -> tuple[Ids, Ids, Ids]:
        """Return heads and tails of a sample of the body's pairs, and the tails shuffled."""
        h, t = self.known.body_pairs(rule.body)
        rng = np.random.default_rng(0)
        if len(h) > MAX_PAIRS:
            sample = rng.choice(len(h), MAX_PAIRS, replace=False)
            h, t = h[sample], t[sample]
        return h, t, rng.permutation(t)
