"""Witnesses of answers: the facts and intermediate entities that make an answer probable."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from kgflow.data import Dataset
from kgflow.queries.execution import Evaluation
from kgflow.queries.facts import FactProbabilities
from kgflow.queries.tree import Anchor, Intersection, Negation, Node, Projection, Union


@dataclass(frozen=True)
class Step:
    """A fact of a witness, of ids; `variable` is that of its source, "" for a name of the query."""

    source: int
    relation: int
    target: int
    variable: str
    negated: bool


@dataclass(frozen=True)
class WitnessFact:
    """A fact that makes an answer probable, or whose absence does.

    Args:
        head, relation, tail: Names; heads and tails as labels.
        probability: P(fact).
        known: Whether it is a known fact.
        negated: Whether the query asks that it is false.
    """

    head: str
    relation: str
    tail: str
    probability: float
    known: bool
    negated: bool

    def __str__(self) -> str:
        chance = "known" if self.known else f"{percent(self.probability)}"
        words = f"{self.head} {self.relation} {self.tail} ({chance})"
        return f"not: {words}" if self.negated else words

    def to_dict(self) -> dict[str, Any]:
        """Return the fact as a dictionary."""
        return dict(vars(self))


@dataclass(frozen=True)
class Witness:
    """Facts that make an answer probable, and the entities they give to variables.

    Args:
        facts: Facts, from names to the answer.
        entities: Label of the entity of each variable.
    """

    facts: tuple[WitnessFact, ...]
    entities: dict[str, str]

    def __str__(self) -> str:
        return " and ".join(map(str, self.facts))

    def to_dict(self) -> dict[str, Any]:
        """Return the witness as a dictionary."""
        return {
            "text": str(self),
            "facts": [fact.to_dict() for fact in self.facts],
            "entities": self.entities,
        }


def percent(p: float) -> str:
    """Return a probability as a percentage of two digits.

    Example:
        >>> percent(0.834), percent(0.0123), percent(1e-5)
        ('83 %', '1.2 %', '<0.1 %')
    """
    if p < 0.001:
        return "<0.1 %"
    return f"{100 * p:.0f} %" if p >= 0.0995 else f"{100 * p:.1f} %"


def steps(node: Node, found: Evaluation, answer: int, negated: bool = False) -> Iterator[Step]:
    """Yield the facts on the most probable way to an answer."""
    if isinstance(node, Projection) and found.best is not None:
        head = int(found.best[answer])
        if head >= 0:
            variable = "" if isinstance(node.child, Anchor) else node.variable
            yield from steps(node.child, found.children[0], head, negated)
            yield Step(head, node.relation, answer, variable, negated)
    elif isinstance(node, Intersection):
        for child, values in zip(node.children, found.children, strict=True):
            yield from steps(child, values, answer, negated)
    elif isinstance(node, Union):
        best = int(np.argmax([values.value[answer] for values in found.children]))
        yield from steps(node.children[best], found.children[best], answer, negated)
    elif isinstance(node, Negation):
        yield from steps(node.child, found.children[0], answer, not negated)


def witnesses(
    node: Node, found: Evaluation, answers: list[int], facts: FactProbabilities, data: Dataset
) -> list[Witness]:
    """Return the witness of each answer; the facts of all are scored at once."""
    R = len(data.relations)
    paths = [list(steps(node, found, answer)) for answer in answers]
    ids = np.array(
        [(s.source, s.relation, s.target) for path in paths for s in path], dtype=np.int64
    ).reshape(-1, 3)
    # Each fact is scored in the direction in which the query was answered.
    P = facts.of_triples(*ids.T) if len(ids) else np.empty(0)
    known = facts.scorer.known.contains(*ids.T)
    scored, result = iter(zip(P.tolist(), known.tolist(), strict=True)), []
    for path in paths:
        shown, entities = [], {}
        for step in path:
            p, is_known = next(scored)
            h, t = step.source, step.target
            if step.relation >= R:
                h, t = t, h
            names = data.label(h), data.relations[step.relation % R], data.label(t)
            shown.append(WitnessFact(*names, p, is_known, step.negated))
            if step.variable and not step.negated:
                entities[step.variable] = data.label(step.source)
        result.append(Witness(tuple(shown), entities))
    return result
