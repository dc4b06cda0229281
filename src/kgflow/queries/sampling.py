"""Random queries of a shape, with the answers that known facts give and those that need others."""

from dataclasses import dataclass, replace

import numpy as np

from kgflow.data import Dataset, Triples
from kgflow.evaluation.scoring import Ids
from kgflow.queries.execution import Executor
from kgflow.queries.facts import KnownFacts
from kgflow.queries.tree import (
    SHAPES,
    Anchor,
    Anything,
    Intersection,
    Negation,
    Node,
    Projection,
    Union,
    children,
    shape_of,
)

MAX_ANSWERS = 100
"""Largest number of answers of a sampled query."""
ATTEMPTS = 2000
"""Random trees that are tried for each query, on average."""


@dataclass(frozen=True, eq=False)
class SampledQuery:
    """A query and its answers.

    Args:
        node: Query as a tree.
        answers: Entities that answer it in the complete graph.
        hard: Those of them that need a fact which is not known.
        known: Entities that answer it by known facts alone; with negation, some may be wrong.
    """

    node: Node
    answers: Ids
    hard: Ids
    known: Ids


class QuerySampler:
    """Draws queries from a complete graph of which only a part is known.

    As in BetaE (Ren, Leskovec, NeurIPS 2020), hard queries of one relation are those of the missing
    facts, and any other tree is drawn from its answer back to its anchors:
    a random entity, one of the relations that lead to it, one of the entities that they come from,
    and so on. A negated part is drawn for another answer, which it excludes. Trees that walk a
    relation back at once or repeat a part are left out, as are queries with more than `MAX_ANSWERS`
    answers.

    Args:
        complete: Data set whose triples are the complete graph.
        known: Known triples.
        seed: Random seed.

    Example:
        >>> import kgflow
        >>> from kgflow.queries.tree import SHAPES
        >>> world = kgflow.load("world")
        >>> (query,) = QuerySampler(world, world.train).draw(SHAPES["2i"], 1)
        >>> len(query.answers) >= len(query.hard) > 0
        True
    """

    def __init__(self, complete: Dataset, known: Triples, seed: int = 0) -> None:
        self.rng, self.index = np.random.default_rng(seed), complete.known
        self.complete = Executor(KnownFacts(complete.known))
        self.known = Executor(KnownFacts(complete.index(known)))

    def draw(self, shape: Node, count: int, hard: bool = True) -> list[SampledQuery]:
        """Draw queries of a shape, fewer where they are too rare.

        Args:
            shape: Tree whose structure the queries have.
            count: Number of queries.
            hard: Whether each has an answer that needs a fact which is not known; else trees are
                drawn from the known facts, whether or not an answer is missing.
        """
        self.index = (self.complete if hard else self.known).known.index
        found: list[SampledQuery] = []
        for _ in range(ATTEMPTS * count):
            if len(found) == count:
                break
            query = self._try(shape, hard)
            if query is not None:
                found.append(query)
        return found

    def _try(self, shape: Node, hard: bool) -> SampledQuery | None:
        if hard and shape_of(shape) == SHAPES["1p"]:
            node = self._missing_fact()
        else:
            node = self._fill(shape, int(self.rng.integers(self.index.entities)))
        if node is None:
            return None
        answers = _answers(self.complete, node)
        if not 0 < len(answers) <= MAX_ANSWERS:
            return None
        known = _answers(self.known, node)
        missing = np.setdiff1d(answers, known, assume_unique=True)
        if hard and not len(missing):
            return None
        return SampledQuery(node, answers, missing, known)

    def _missing_fact(self) -> Node | None:
        index, place = self.index, int(self.rng.integers(len(self.index.tails)))
        row = int(np.searchsorted(index.offsets, place, side="right")) - 1
        h, r = int(index.h[row]), int(index.r[row])
        known = self.known.known.index.contains(h, r, index.tails[place])
        return None if known else Projection(Anchor(h), r)

    def _fill(self, shape: Node, answer: int) -> Node | None:
        """Return a tree of a shape with a given answer, None if the random choices fail."""
        if isinstance(shape, Anchor):
            return Anchor(answer)
        if isinstance(shape, Projection):
            return self._fill_projection(shape, answer)
        if isinstance(shape, Intersection):
            return self._fill_intersection(shape, answer)
        if isinstance(shape, Union):
            # One part holds for this answer, the others for any entity.
            first = int(self.rng.integers(len(shape.children)))
            answers = [
                answer if i == first else int(self.rng.integers(self.index.entities))
                for i in range(len(shape.children))
            ]
            parts = [self._fill(c, a) for c, a in zip(shape.children, answers, strict=True)]
            return Union(_all(parts)) if _distinct(parts) else None
        if isinstance(shape, Negation):
            inner = self._fill(shape.child, int(self.rng.integers(self.index.entities)))
            return None if inner is None else Negation(inner)
        return shape

    def _fill_projection(self, shape: Projection, answer: int) -> Node | None:
        index, R = self.index, self.index.relations // 2
        low, high = np.searchsorted(index.h, [answer, answer + 1])
        if low == high:
            return None
        # A query (answer, r, ?) of the index gives the heads of (?, r⁻¹, answer).
        row = int(self.rng.integers(low, high))
        head = int(self.rng.choice(index.tails[index.offsets[row] : index.offsets[row + 1]]))
        relation = (int(index.r[row]) + R) % (2 * R)
        child = self._fill(shape.child, head)
        back = isinstance(child, Projection) and child.relation == index.r[row]
        return None if child is None or back else replace(shape, child=child, relation=relation)

    def _fill_intersection(self, shape: Intersection, answer: int) -> Node | None:
        parts: dict[int, Node | None] = {}
        for i, child in enumerate(shape.children):
            if not isinstance(child, Negation):
                parts[i] = self._fill(child, answer)
        if not _distinct([*parts.values()]):
            return None
        positive = _answers(self.complete, Intersection(_all([*parts.values()])))
        others = positive[positive != answer]
        for i, child in enumerate(shape.children):
            if isinstance(child, Negation):
                if not len(others):
                    return None
                inner = self._fill(child.child, int(self.rng.choice(others)))
                parts[i] = None if inner is None else Negation(inner)
        ordered = [parts[i] for i in range(len(shape.children))]
        return Intersection(_all(ordered)) if _distinct(ordered) else None


def _answers(executor: Executor, node: Node) -> Ids:
    return np.flatnonzero(executor(node).value > 0)


def _distinct(parts: list[Node | None]) -> bool:
    """Return whether all parts could be drawn, and none twice, be it negated."""
    plain = [part.child if isinstance(part, Negation) else part for part in parts]
    return None not in plain and len(set(plain)) == len(plain)


def _all(parts: list[Node | None]) -> tuple[Node, ...]:
    return tuple(part for part in parts if part is not None)


def has_anything(node: Node) -> bool:
    """Return whether a query has a variable that nothing constrains."""
    return isinstance(node, Anything) or any(map(has_anything, children(node)))
