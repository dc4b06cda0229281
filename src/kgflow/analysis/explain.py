"""Why an answer was given: rules whose case it is, and the known facts most like it."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import torch

from kgflow.analysis.rules.candidates import LONGEST, distinct
from kgflow.analysis.rules.geometry import SAMPLE
from kgflow.analysis.rules.graph import Ids
from kgflow.analysis.rules.judge import Judge
from kgflow.analysis.rules.rule import Rule
from kgflow.runs.predictor import Predictor
from kgflow.runs.run import Run

WAYS = 60
"""Ways of two steps, at most, that are looked at between two entities."""

Triple = tuple[int, int, int]
Fact = tuple[str, str, str]


@dataclass(frozen=True)
class Reason:
    """One reason: a rule with the training facts it starts from, or one fact that is like it.

    Args:
        text: in words.
        facts: the training facts it rests on, by label.
        rule: in words, None for a fact that is like the answer.
        belief: how much the model believes the rule (see `Belief`).
        confidence: the rule's, in the facts of all splits.
        distance: of a fact that is like the answer, from 0, the answer itself, to 1, as far as two
            random pairs of entities are.
    """

    text: str
    facts: tuple[Fact, ...]
    rule: str | None = None
    belief: float | None = None
    confidence: float | None = None
    distance: float | None = None

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        return asdict(self)


class Explainer:
    r"""Reasons for triples, from the training facts alone.

    How like (h, r, t) a fact (h', r, t') is, is measured where the model compares answers: with K
    the rows that an entity brings to the scores, over random pairs' mean,

    .. math:: d^2 = \frac{\|K_h - K_{h'}\|^2 + \|K_t - K_{t'}\|^2}
                         {\mathbb E\,(\|K_a - K_b\|^2 + \|K_c - K_d\|^2)}

    For the models under the Wasserstein distance :math:`\|K_a - K_b\|^2` is :math:`W_2^2` of the
    two entities; for all others it is the Euclidean distance of these rows.

    Args:
        predictor: a run's model with its data.
    """

    def __init__(self, predictor: Predictor) -> None:
        self.predictor, self.judge, self.data = predictor, Judge(predictor), predictor.data
        rows = np.random.default_rng(0).permutation(len(self.data.entities))[:SAMPLE]
        K = self._keys(rows)
        self.scale = max(float(4 * (K - K.mean(0)).square().sum(1).mean()), 1e-30)

    def explain(self, h: int, r: int, t: int, n: int = 3) -> list[Reason]:
        """The n best rules whose case a triple of ids is, then the n facts most like it."""
        return [*self._rules(h, r, t, n), *self._like(h, r, t, n)]

    def nearest(self, h: int, r: int, t: int, n: int) -> list[tuple[int, int, float]]:
        """The n training facts of r most like (h, r, t) but itself: head, tail and distance."""
        heads, tails = self.judge.train.facts(r)
        other = (heads != h) | (tails != t)
        heads, tails = heads[other], tails[other]
        gap = (self._gaps(h, heads) + self._gaps(t, tails)) / self.scale
        order = np.argsort(gap, kind="stable")[:n]
        return [(int(heads[i]), int(tails[i]), float(np.sqrt(gap[i]))) for i in order]

    def cases(self, h: int, r: int, t: int) -> Iterator[tuple[Rule, list[Triple]]]:
        """The rules with head r whose body leads from h to t in training, and by which facts."""
        graph, R = self.judge.train, self.judge.train.relations
        for d in graph.direct(h, t).tolist():
            if d != r:
                yield Rule((d,), r, R), [_forward((h, d, t), R)]
        first, middle, second = graph.score_relations(h, t)
        ways = dict(zip(zip(first.tolist(), second.tolist(), strict=True), middle, strict=True))
        paths = {Rule(way, r, R): int(self.judge.known.paths[way]) for way in ways}
        few = sorted(
            (rule for rule in paths if paths[rule] <= LONGEST), key=lambda rule: paths[rule]
        )
        for rule in distinct(few[:WAYS], self.judge.known):
            m = int(ways[rule.body[0], rule.body[1]])
            yield rule, [_forward((h, rule.body[0], m), R), _forward((m, rule.body[1], t), R)]

    def _rules(self, h: int, r: int, t: int, n: int) -> list[Reason]:
        found = [(self.judge.judge(rule), facts) for rule, facts in self.cases(h, r, t)]
        found = [(belief, facts) for belief, facts in found if belief.verdict == "agree"]
        found.sort(key=lambda pair: pair[0].order)
        reasons = []
        for belief, facts in found[:n]:
            words, named = belief.rule.words(self.data.relations.names), self._named(facts)
            text = f"{_and(named)}, and {words}"
            reasons.append(Reason(text, named, words, belief.belief, belief.confidence))
        return reasons

    def _like(self, h: int, r: int, t: int, n: int) -> Iterator[Reason]:
        for head, tail, distance in self.nearest(h, r, t, n):
            named = self._named([(head, r, tail)])
            yield Reason(f"like it is {_and(named)}", named, distance=distance)

    def _named(self, facts: Sequence[Triple]) -> tuple[Fact, ...]:
        label, relation = self.data.label, self.data.relations
        return tuple((label(h), relation[r], label(t)) for h, r, t in facts)

    def _gaps(self, entity: int, others: Ids) -> np.ndarray:
        """The squared distances of an entity and others, ``(N,)``."""
        ids, place = np.unique(others, return_inverse=True)
        gap = (self._keys(ids) - self._keys(np.array([entity]))).square().sum(1)
        return gap.double().cpu().numpy()[place]

    @torch.no_grad()
    def _keys(self, ids: Ids) -> torch.Tensor:
        model = self.predictor.model.trained
        return model.encode_keys(model.entity(self.predictor.tensor(ids))).K


def explain(run: Run, head: str, relation: str, tail: str, n: int = 3) -> list[Reason]:
    """Why the model may answer (head, relation, tail): n rules at most, and n facts like it.

    Rules are those that the model believes and the graph holds; their bodies and the facts that are
    like the answer are training facts. For many answers keep an `Explainer`.

    Args:
        run: a trained run.
        head: name or label.
        relation: name.
        tail: name or label.
        n: rules and facts, each at most.

    Example:
        >>> import kgflow, tempfile
        >>> run = kgflow.train("world", dim=8, epochs=1, out=tempfile.mkdtemp() + "/run")
        >>> len(explain(run, "France", "borders", "Spain", n=2)) >= 2
        True
    """
    data = run.data
    ids = data.entity_id(head), data.relations.id(relation), data.entity_id(tail)
    return Explainer(run.predictor).explain(*ids, n)


def _forward(triple: Triple, relations: int) -> Triple:
    h, d, t = triple
    return (h, d, t) if d < relations else (t, d - relations, h)


def _and(facts: Sequence[Fact]) -> str:
    return " and ".join(" ".join(fact) for fact in facts)
