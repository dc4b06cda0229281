"""A rule before two courts: the model that may believe it, the graph that may hold it."""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from kgflow.analysis.rules.acceptance import Acceptance
from kgflow.analysis.rules.geometry import Geometry
from kgflow.analysis.rules.graph import Graph, Ids
from kgflow.analysis.rules.rule import Rule
from kgflow.data import Triples
from kgflow.runs.predictor import Predictor

TESTED = 200
"""Cases of a rule, at most, that the model is asked about."""

HALF = 0.5
"""From this share of cases on a rule counts as believed, or as held."""

BEYOND = 0.25
"""By how much a confidence must exceed that by chance for the rule to say something."""

BLUR = 0.1
"""How much more often than others facts must be accepted for a model to have a belief."""

DOUBT = 5
"""Cases that nobody saw and that speak against each rule when rules are put in order."""


@dataclass(frozen=True)
class Belief:
    r"""A rule and what speaks for it.

    Args:
        rule: the rule.
        belief: how often the model accepts the head in cases of the body, on a scale from 0, as
            often as when the cases' tails are dealt out anew, to 1, as often as facts of the
            head's relation (see `Acceptance`); for antisymmetry how rarely, 1 being never. None
            without cases.
        distance: of the rule's two sides as functions, None where the model has none.
        closure: the paper's statistic of symmetry and inverse, :math:`f_r \circ f_s` against the
            identity.
        support: cases of the body in all known facts.
        confidence: the share of them in which the head is a known fact, None without cases.
        chance: the confidence if the cases' tails are dealt out anew: where all have one currency,
            that two have the same says nothing.
    """

    rule: Rule
    belief: float | None
    distance: float | None
    closure: float | None
    support: int
    confidence: float | None
    chance: float | None

    @property
    def verdict(self) -> str:
        """Who is for it: agree, model only, graph only, neither; untested without cases."""
        if self.belief is None or self.confidence is None:
            return "untested"
        model = self.belief >= HALF
        graph = self.confidence >= max(HALF, (self.chance or 0.0) + BEYOND)
        if model and graph:
            return "agree"
        return "model only" if model else "graph only" if graph else "neither"

    @property
    def order(self) -> tuple[float, float]:
        """What rules are sorted by: the belief, held down where cases are few; then distance."""
        tested = min(self.support, TESTED)
        belief = (self.belief or 0.0) * tested / (tested + DOUBT)
        return -belief, self.distance if self.distance is not None else 0.0


class Judge:
    """What a model and its graph say of rules; each rule is heard once.

    Args:
        predictor: a run's model with its data.
    """

    def __init__(self, predictor: Predictor) -> None:
        self.model, self.data = predictor.model, predictor.data
        self.acceptance = Acceptance(predictor, self.train)
        self.judge = lru_cache(maxsize=None)(self._judge)

    @cached_property
    def known(self) -> Graph:
        """The facts of all splits."""
        splits = (self.data.split(s) for s in ("train", "valid", "test"))
        return self._graph(Triples.concatenate(list(splits)))

    @cached_property
    def train(self) -> Graph:
        """The facts the model was shown."""
        return self._graph(self.data.train)

    @cached_property
    def geometry(self) -> Geometry | None:
        """The relations as functions, where they are such."""
        return Geometry.of(self.model)

    def _graph(self, facts: Triples) -> Graph:
        return Graph(facts, len(self.data.entities), len(self.data.relations))

    def _judge(self, rule: Rule) -> Belief:
        count = self.known.count(rule)
        distance = closure = None
        if self.geometry is not None:
            distance = self.geometry.distance(rule)
            if rule.kind in ("symmetric", "antisymmetric", "inverse"):
                closure = self.geometry.closure(rule)
        belief = chance = None
        if count.support:
            h, t, dealt = self._cases(rule)
            belief = self._belief(rule, h, t, dealt)
            held = self.known.index.contains(h, np.full_like(h, rule.head), dealt)
            chance = None if rule.negated else float(held.mean())
        return Belief(rule, belief, distance, closure, count.support, count.confidence, chance)

    def _belief(self, rule: Rule, h: Ids, t: Ids, dealt: Ids) -> float:
        share, full = self.acceptance.share(rule.head, h, t), self.acceptance.usual(rule.head)
        none = 0.0 if rule.negated else self.acceptance.share(rule.head, h, dealt)
        # Where facts are accepted hardly more often than others, the model knows no difference, and
        # believes nothing, be it that something is so or that it is not.
        if full <= none + BLUR:
            return 0.0
        belief = min(1.0, max(0.0, (share - none) / (full - none)))
        return 1 - belief if rule.negated else belief

    def _cases(self, rule: Rule) -> tuple[Ids, Ids, Ids]:
        """Heads and tails of some cases of the body, and the tails dealt out anew."""
        h, t = self.known.joined(rule.body)
        rng = np.random.default_rng(0)
        if len(h) > TESTED:
            some = rng.choice(len(h), TESTED, replace=False)
            h, t = h[some], t[some]
        return h, t, rng.permutation(t)
