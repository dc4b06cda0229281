"""Search for rules: candidates from the model and from the graph, evaluated and sorted."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch

from kgflow.analysis.rules.distance import RelationDistance
from kgflow.analysis.rules.evaluate import EvaluatedRule, RuleEvaluator
from kgflow.analysis.rules.rule import KINDS, Graph, Rule, inverse, relation_name
from kgflow.errors import KgflowError, suggest
from kgflow.evaluation import Progress, no_progress
from kgflow.runs.run import Run

if TYPE_CHECKING:
    import polars as pl

MAX_DISTANCE = 0.3
"""Largest distance between the two sides of a candidate from the model."""

MIN_CONFIDENCE = 0.1
"""Smallest confidence of a candidate from the graph."""

MAX_COMPOSITIONS = 500
"""Largest number of candidate compositions from the model, and from the graph."""

MAX_PATHS = 2_000_000
"""Largest number of paths of a composition; more paths are not followed."""

SAMPLED_TRIPLES = 40
"""Triples of each relation whose paths between head and tail are counted."""

COLUMNS: dict[str, type] = {
    "kind": str,
    "rule": str,
    "model_confidence": float,
    "distance": float,
    "closure": float,
    "support": int,
    "confidence": float,
    "chance": float,
    "agreement": str,
    "body": str,
    "head": str,
}
"""Columns of `rules_frame`."""


def find_rules(
    run: Run,
    relation: str | None = None,
    kind: str | None = None,
    k: int = 20,
    include_all: bool = False,
    progress: Progress = no_progress,
) -> list[EvaluatedRule]:
    """Find the rules that are true in the model or in the graph, k of each kind.

    Rules are sorted by descending model confidence; `rules_frame` makes a table of them.

    Args:
        run: trained run.
        relation: name of a relation that the rules must contain.
        kind: kind of the rules, one of `KINDS`.
        k: largest number of rules of each kind.
        include_all: whether to include rules without support, equivalent rules, and rules that are
            true in neither model nor graph.
        progress: callback that receives the completed fraction.

    Reference:
        Xiao, He, Cao: Knowledge Graph Embedding by Normalizing Flows, AAAI 2023, Proposition 6.
    """
    if kind is not None and kind not in KINDS:
        hint = suggest(kind, KINDS) or f"; known are {', '.join(KINDS)}"
        raise KgflowError(f"unknown kind of rule '{kind}'{hint}")
    if k < 1:
        raise KgflowError(f"k is {k}: ask for 1 rule or more")
    r = None if relation is None else run.data.relations.id(relation)
    evaluator, kinds = RuleEvaluator(run.predictor), [kind] if kind else KINDS
    rules = evaluate_candidates(evaluator, r, kinds, include_all, progress)
    untrue = () if include_all else ("neither", "untested")
    found = sorted((e for e in rules if e.agreement not in untrue), key=lambda e: e.order)
    return [e for name in KINDS for e in [e for e in found if e.rule.kind == name][:k]]


def rules_frame(run: Run, rules: Sequence[EvaluatedRule]) -> "pl.DataFrame":
    """Return evaluated rules as a table: kind, rule and body in words, and its measures."""
    import polars as pl

    names = run.data.relations.names
    return pl.DataFrame([_row(rule, names) for rule in rules], schema=COLUMNS)


def evaluate_candidates(
    evaluator: RuleEvaluator,
    relation: int | None = None,
    kinds: Sequence[str] = KINDS,
    include_all: bool = False,
    progress: Progress = no_progress,
) -> Iterator[EvaluatedRule]:
    """Evaluate all candidate rules of these kinds that contain a relation."""
    graph, R = evaluator.known, evaluator.known.relations
    rules = list(simple_candidates(graph, evaluator.distances))
    if "composition" in kinds:
        rules += _compositions(evaluator, include_all, lambda share: progress(share / 2))
    rules = [rule for rule in rules if rule.kind in kinds]
    if relation is not None:
        rules = [x for x in rules if relation in (x.head, *(d % R for d in x.body))]
    for done, rule in enumerate(rules, start=1):
        yield evaluator.evaluate(rule)
        progress((1 + done / len(rules)) / 2)


def simple_candidates(graph: Graph, distances: RelationDistance | None) -> Iterator[Rule]:
    """Yield symmetry and antisymmetry of each relation, and likely inverses and implications."""
    R, size = graph.relations, np.maximum(graph.shared_pairs.diagonal(), 1)
    likely = graph.shared_pairs[:, :R] / size[:, None] >= MIN_CONFIDENCE
    if distances is not None:
        gap = torch.cdist(distances.images, distances.images[:R]).square()
        likely |= (gap / distances.mean_distance < MAX_DISTANCE).cpu().numpy()
    for head in np.flatnonzero(graph.shared_pairs.diagonal()[:R]).tolist():
        yield Rule((head + R,), head, R)
        yield Rule((head + R,), head, R, negated=True)
        for d in np.flatnonzero(likely[:, head]).tolist():
            if d not in (head, head + R):
                yield Rule((d,), head, R)


def model_compositions(
    graph: Graph, distances: RelationDistance, include_all: bool, progress: Progress
) -> list[Rule]:
    """Return the compositions with the smallest distance between body and head.

    Compositions without paths in the graph are included only on request. Relations near the
    identity compose with any relation to nearly that relation and are excluded.
    """
    R, identity = graph.relations, distances.near_identity()
    found: list[tuple[float, Rule]] = []
    for first, head, distance in distances.nearest(R, progress):
        paths = torch.from_numpy(graph.path_counts[first]).to(distance.device)
        selected = (distance < MAX_DISTANCE) & ~identity & ~identity[first] & (paths <= MAX_PATHS)
        if not include_all:
            selected &= paths > 0
        for second in torch.nonzero(selected)[:, 0].tolist():
            rule = Rule((first, second), int(head[second]), R)
            found.append((float(distance[second]), rule))
    found.sort(key=lambda pair: pair[0])
    return [rule for _, rule in found[:MAX_COMPOSITIONS]]


def graph_compositions(graph: Graph) -> list[Rule]:
    """Return the compositions with the largest confidence, estimated from a sample of triples.

    The paths h → m → t of each sampled triple (h, r, t) are counted. The confidence is estimated by
    the number of these paths, times the triples per sampled triple, over the number of all paths.
    """
    R, rng = graph.relations, np.random.default_rng(0)
    found: dict[Rule, float] = {}
    for head in range(R):
        h, t = graph.pairs(head)
        sample = rng.choice(len(h), min(SAMPLED_TRIPLES, len(h)), replace=False)
        bodies: Counter[tuple[int, int]] = Counter()
        for i in sample.tolist():
            first, _, second = graph.paths_between(int(h[i]), int(t[i]))
            bodies.update(set(zip(first.tolist(), second.tolist(), strict=True)))
        for body, hits in bodies.items():
            paths = int(graph.path_counts[body])
            confidence = hits * len(h) / max(1, len(sample)) / max(1, paths)
            if hits > 1 and confidence >= MIN_CONFIDENCE / 2 and paths <= MAX_PATHS:
                found[Rule(body, head, R)] = confidence
    return sorted(found, key=lambda rule: -found[rule])[:MAX_COMPOSITIONS]


def without_equivalents(rules: list[Rule], graph: Graph) -> Iterator[Rule]:
    """Yield compositions, without those that are equivalent to an earlier one.

    Relations with the same pairs, such as an inverse relation in the data, count as one, and
    s, s' → r is equivalent to s'⁻¹, s⁻¹ → r⁻¹.
    """
    same, seen = graph.equivalents().tolist(), set()
    for rule in rules:
        (first, second), head = rule.body, rule.head
        forward = (same[first], same[second], same[head])
        backward = tuple(same[inverse(d, graph.relations)] for d in (second, first, head))
        key = min(forward, backward)
        if key not in seen and rule.body == forward[:2]:
            seen.add(key)
            yield rule


def _compositions(evaluator: RuleEvaluator, include_all: bool, progress: Progress) -> list[Rule]:
    graph, distances = evaluator.known, evaluator.distances
    near = [] if distances is None else model_compositions(graph, distances, include_all, progress)
    rules = list(dict.fromkeys([*near, *graph_compositions(graph)]))
    return rules if include_all else list(without_equivalents(rules, graph))


def _row(evaluated: EvaluatedRule, names: Sequence[str]) -> dict[str, object]:
    rule = evaluated.rule
    body = ", ".join(relation_name(d, names) for d in rule.body)
    text = {"kind": rule.kind, "rule": rule.text(names), "body": body, "head": names[rule.head]}
    return {name: text[name] if name in text else getattr(evaluated, name) for name in COLUMNS}
