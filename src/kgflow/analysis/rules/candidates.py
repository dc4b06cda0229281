"""Rules worth a hearing: those the model's geometry or the graph's facts propose."""

from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
import torch

from kgflow.analysis.rules.geometry import Geometry
from kgflow.analysis.rules.graph import Graph
from kgflow.analysis.rules.rule import Rule

NEAR = 0.3
"""Sides of a rule that are this near, as a share of what two relations are apart, propose it."""

OFTEN = 0.1
"""The least share of cases held in the graph by which the graph proposes a rule."""

COMPOSITIONS = 500
"""Compositions that the geometry and the graph may propose, each."""

LONGEST = 2_000_000
"""Paths of two relations beyond which they are not followed: such as sharing a nationality."""

SAMPLED = 40
"""Facts of each relation whose ends are searched for other ways between them."""

Tell = Callable[[float], None]


def singles(graph: Graph, geometry: Geometry | None) -> Iterator[Rule]:
    """Symmetry and antisymmetry of every relation with facts; inverses and implications."""
    R, size = graph.relations, np.maximum(graph.shared.diagonal(), 1)
    likely = graph.shared[:, :R] / size[:, None] >= OFTEN
    if geometry is not None:
        gap = torch.cdist(geometry.images, geometry.images[:R]).square() / geometry.typical
        likely |= (gap < NEAR).cpu().numpy()
    for head in np.flatnonzero(graph.shared.diagonal()[:R]).tolist():
        yield Rule((head + R,), head, R)
        yield Rule((head + R,), head, R, negated=True)
        for d in np.flatnonzero(likely[:, head]).tolist():
            if d not in (head, head + R):
                yield Rule((d,), head, R)


def near_compositions(
    graph: Graph, geometry: Geometry, everything: bool, progress: Tell
) -> list[Rule]:
    """Those whose two sides are nearest as functions; without paths in the graph only if asked.

    Relations that change next to nothing compose with any other to that other: left out.
    """
    R, idle = graph.relations, geometry.like_identity()
    found: list[tuple[float, Rule]] = []
    for first, head, distance in geometry.nearest(R, progress):
        paths = torch.from_numpy(graph.paths[first]).to(distance.device)
        wanted = (distance < NEAR) & ~idle & ~idle[first] & (paths <= LONGEST)
        if not everything:
            wanted &= paths > 0
        for second in torch.nonzero(wanted)[:, 0].tolist():
            rule = Rule((first, second), int(head[second]), R)
            found.append((float(distance[second]), rule))
    found.sort(key=lambda pair: pair[0])
    return [rule for _, rule in found[:COMPOSITIONS]]


def held_compositions(graph: Graph) -> list[Rule]:
    """Those that often hold, as far as a sample of facts and the ways between their ends tell.

    A fact's other ways of two steps are counted; times the facts per sampled one, and over the
    number of paths, that estimates the confidence.
    """
    R, rng = graph.relations, np.random.default_rng(0)
    found: dict[Rule, float] = {}
    for head in range(R):
        h, t = graph.facts(head)
        some = rng.choice(len(h), min(SAMPLED, len(h)), replace=False)
        ways: Counter[tuple[int, int]] = Counter()
        for place in some.tolist():
            first, _, second = graph.score_relations(int(h[place]), int(t[place]))
            ways.update(set(zip(first.tolist(), second.tolist(), strict=True)))
        for way, hits in ways.items():
            share = hits * len(h) / max(1, len(some)) / max(1, int(graph.paths[way]))
            if hits > 1 and share >= OFTEN / 2 and graph.paths[way] <= LONGEST:
                found[Rule(way, head, R)] = share
    return sorted(found, key=lambda rule: -found[rule])[:COMPOSITIONS]


def distinct(rules: list[Rule], graph: Graph) -> Iterator[Rule]:
    """Compositions without those that say what an earlier one says in other words.

    Relations that hold in the same cases (an inverse and a reciprocal) are one, and s then s' gives
    r is, reversed, s'⁻¹ then s⁻¹ gives r⁻¹.
    """
    same, seen = graph.same().tolist(), set()
    for rule in rules:
        (first, second), head = rule.body, rule.head
        forth = (same[first], same[second], same[head])
        back = tuple(same[graph.reverse(d)] for d in (second, first, head))
        key = min(forth, back)
        if key not in seen and rule.body == forth[:2]:
            seen.add(key)
            yield rule
