"""Explanations of predictions: rules that imply an answer, and similar training triples."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import torch

from kgflow.analysis.rules.distance import MAX_ENTITIES
from kgflow.analysis.rules.evaluate import RuleEvaluator
from kgflow.analysis.rules.rule import Rule
from kgflow.analysis.rules.search import MAX_PATHS, without_equivalents
from kgflow.data.triples import Ids
from kgflow.runs.predictor import Predictor
from kgflow.runs.run import Run

MAX_BODIES = 60
"""Largest number of compositions that are evaluated for one triple."""

Triple = tuple[int, int, int]
NamedTriple = tuple[str, str, str]


@dataclass(frozen=True)
class Explanation:
    """A rule with the training triples of its body, or a similar training triple.

    Args:
        text: explanation in words.
        triples: training triples by label.
        rule: rule in words, None for a similar triple.
        model_confidence: confidence of the rule in the model (see `EvaluatedRule`).
        confidence: confidence of the rule in the triples of all splits.
        distance: distance of a similar triple, from 0, the answer itself, to 1, the mean distance
            of random pairs of entities.
    """

    text: str
    triples: tuple[NamedTriple, ...]
    rule: str | None = None
    model_confidence: float | None = None
    confidence: float | None = None
    distance: float | None = None

    def to_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return asdict(self)


class Explainer:
    r"""Explain triples by the training triples.

    The distance of (h, r, t) and a training triple (h', r, t') uses the key vectors K of entities,
    relative to the mean over random pairs,

    .. math:: d^2 = \frac{\|K_h - K_{h'}\|^2 + \|K_t - K_{t'}\|^2}
                         {\mathbb E\,(\|K_a - K_b\|^2 + \|K_c - K_d\|^2)}

    For models with the Wasserstein distance, :math:`\|K_a - K_b\|^2` is :math:`W_2^2` of the two
    entities.

    Args:
        predictor: model with its data.
    """

    def __init__(self, predictor: Predictor) -> None:
        self.predictor, self.data = predictor, predictor.data
        self.evaluator = RuleEvaluator(predictor)
        sample = np.random.default_rng(0).permutation(len(self.data.entities))[:MAX_ENTITIES]
        K = self._keys(sample)
        self.scale = max(float(4 * (K - K.mean(0)).square().sum(1).mean()), 1e-30)

    def explain(self, h: int, r: int, t: int, n: int = 3) -> list[Explanation]:
        """Return the n best rules that imply a triple of ids, then the n most similar triples."""
        return [*self._rules(h, r, t, n), *self._similar(h, r, t, n)]

    def nearest(self, h: int, r: int, t: int, n: int) -> list[tuple[int, int, float]]:
        """Return head, tail and distance of the n training triples of r nearest to (h, r, t)."""
        heads, tails = self.evaluator.train.pairs(r)
        other = (heads != h) | (tails != t)
        heads, tails = heads[other], tails[other]
        gap = (self._gaps(h, heads) + self._gaps(t, tails)) / self.scale
        order = np.argsort(gap, kind="stable")[:n]
        return [(int(heads[i]), int(tails[i]), float(np.sqrt(gap[i]))) for i in order]

    def applicable_rules(self, h: int, r: int, t: int) -> Iterator[tuple[Rule, list[Triple]]]:
        """Yield the rules with head r and a true body in training, with the body's triples."""
        graph, known = self.evaluator.train, self.evaluator.known
        R = graph.relations
        for d in graph.relations_between(h, t).tolist():
            if d != r:
                yield Rule((d,), r, R), [_forward((h, d, t), R)]
        first, middle, second = graph.paths_between(h, t)
        bodies = dict(zip(zip(first.tolist(), second.tolist(), strict=True), middle, strict=True))
        paths = {Rule(body, r, R): int(known.path_counts[body]) for body in bodies}
        rules = sorted((rule for rule in paths if paths[rule] <= MAX_PATHS), key=paths.__getitem__)
        for rule in without_equivalents(rules[:MAX_BODIES], known):
            s, s2 = rule.body
            m = int(bodies[s, s2])
            yield rule, [_forward((h, s, m), R), _forward((m, s2, t), R)]

    def _rules(self, h: int, r: int, t: int, n: int) -> Iterator[Explanation]:
        rules = self.applicable_rules(h, r, t)
        found = [(self.evaluator.evaluate(rule), triples) for rule, triples in rules]
        found = [(rule, triples) for rule, triples in found if rule.agreement == "both"]
        for rule, triples in sorted(found, key=lambda pair: pair[0].order)[:n]:
            words, named = rule.rule.text(self.data.relations.names), self._named(triples)
            text = f"{_join(named)}, and {words}"
            yield Explanation(text, named, words, rule.model_confidence, rule.confidence)

    def _similar(self, h: int, r: int, t: int, n: int) -> Iterator[Explanation]:
        for head, tail, distance in self.nearest(h, r, t, n):
            named = self._named([(head, r, tail)])
            yield Explanation(f"similar to {_join(named)}", named, distance=distance)

    def _named(self, triples: Sequence[Triple]) -> tuple[NamedTriple, ...]:
        label, relation = self.data.label, self.data.relations
        return tuple((label(h), relation[r], label(t)) for h, r, t in triples)

    def _gaps(self, entity: int, others: Ids) -> np.ndarray:
        """Return the squared distances between an entity and others, ``(N,)``."""
        ids, index = np.unique(others, return_inverse=True)
        gap = (self._keys(ids) - self._keys(np.array([entity]))).square().sum(1)
        return gap.double().cpu().numpy()[index]

    @torch.no_grad()
    def _keys(self, ids: Ids) -> torch.Tensor:
        model = self.predictor.model.trained
        return model.encode_keys(model.entity(self.predictor.tensor(ids))).K


def explain(run: Run, head: str, relation: str, tail: str, n: int = 3) -> list[Explanation]:
    """Explain (head, relation, tail) by at most n rules and n similar training triples.

    The rules are true in both the model and the graph; their bodies are training triples. Head and
    tail are names or labels. Use an `Explainer` for many triples.

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


def _join(triples: Sequence[NamedTriple]) -> str:
    return " and ".join(" ".join(triple) for triple in triples)
