"""Evaluation of tree-shaped queries by fuzzy logic, with bounds of what a beam leaves out."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from kgflow.evaluation.metrics import Floats
from kgflow.evaluation.scoring import Ids
from kgflow.kernels import blocks
from kgflow.queries.facts import FactProbabilities, KnownFacts
from kgflow.queries.tree import (
    Anchor,
    Anything,
    Intersection,
    Node,
    Projection,
    Union,
    children,
)

CELLS = 2**20
"""Probabilities held at a time."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Value of every entity at a node, and bounds of its exact value.

    Args:
        rows: Value, lower bound and upper bound, ``(3, E)``; one row where the value is exact.
        children: Evaluations of the children.
        best: Head that makes each entity most probable, of a projection, -1 for none, ``(E,)``.
    """

    rows: Floats
    children: tuple["Evaluation", ...] = ()
    best: Ids | None = None

    @property
    def value(self) -> Floats:
        """Values, ``(E,)``."""
        return self.rows[0]

    @property
    def low(self) -> Floats:
        """Lower bounds of the exact values, ``(E,)``."""
        return self.rows[len(self.rows) // 2]

    @property
    def high(self) -> Floats:
        """Upper bounds of the exact values, ``(E,)``."""
        return self.rows[-1]


class Existential(ABC):
    """How the values of several heads of an answer are combined."""

    name: str

    def __init__(self, rows: int, entities: int) -> None:
        self.total = np.zeros((rows, entities))
        self.best = np.full(entities, -1)
        self.most = np.zeros(entities)

    def add_rows(self, weight: Floats, P: Floats, heads: Ids) -> None:
        """Add heads ``(B,)`` with values ``(rows, B)`` and probabilities of facts ``(B, E)``."""
        for i, head in enumerate(heads.tolist()):
            self._add(weight[:, i], P[i])
            better = weight[0, i] * P[i]
            more = better > self.most
            self.best[more], self.most[more] = head, better[more]

    def add_facts(self, weight: Floats, heads: Ids, tails: Ids) -> None:
        """Add known facts, whose heads ``(N,)`` have values ``(rows, N)``."""
        if not len(heads):
            return
        order = np.argsort(weight[0], kind="stable")
        value, tail, head = weight[0][order], tails[order], heads[order]
        more = value > self.most[tail]
        # Of an index that is repeated, the last and here the largest value stays.
        self.best[tail[more]], self.most[tail[more]] = head[more], value[more]
        self._add_facts(weight, tails)

    @abstractmethod
    def _add(self, weight: Floats, P: Floats) -> None: ...

    @abstractmethod
    def _add_facts(self, weight: Floats, tails: Ids) -> None: ...

    @abstractmethod
    def finish(self, rest: Floats | None) -> Floats:
        """Return the rows; `rest` bounds the values ``(N,)`` of heads left out, None for none."""


class Maximum(Existential):
    """The value of the best head: max over h of v(h) P(h, r, t)."""

    name = "max"

    def _add(self, weight: Floats, P: Floats) -> None:
        np.maximum(self.total, weight[:, None] * P, out=self.total)

    def _add_facts(self, weight: Floats, tails: Ids) -> None:
        for row, values in zip(self.total, weight, strict=True):
            np.maximum.at(row, tails, values)

    def finish(self, rest: Floats | None) -> Floats:
        if rest is not None:
            np.maximum(self.total[-1], rest.max(), out=self.total[-1])
        return self.total


class NoisyOr(Existential):
    r"""Any of the heads, as if independent: :math:`1 - \prod_h (1 - v(h) P(h, r, t))`."""

    name = "noisy-or"

    def _add(self, weight: Floats, P: Floats) -> None:
        with np.errstate(divide="ignore"):
            self.total += np.log1p(-np.minimum(weight[:, None] * P, 1))

    def _add_facts(self, weight: Floats, tails: Ids) -> None:
        with np.errstate(divide="ignore"):
            for row, values in zip(self.total, np.log1p(-weight), strict=True):
                np.add.at(row, tails, values)

    def finish(self, rest: Floats | None) -> Floats:
        if rest is not None:
            with np.errstate(divide="ignore"):
                self.total[-1] += np.log1p(-np.minimum(rest, 1)).sum()
        return np.clip(-np.expm1(self.total), 0, 1)


EXISTENTIALS: dict[str, type[Existential]] = {one.name: one for one in (Maximum, NoisyOr)}
"""Ways to combine heads, by name."""


@dataclass(frozen=True)
class Executor:
    r"""Evaluates queries on all entities.

    Conjunctions are products, unions :math:`1 - \prod (1 - v)`, negations 1 - v, and existential
    variables the maximum over the intermediate entities (as QTO: Bai et al.: Answering complex
    logical queries on knowledge graphs via query computation tree optimization, ICML 2023) or a
    noisy-or. Known facts count 1 and are joined exactly; other facts of the `beam` best
    intermediate entities are scored in blocks, so memory does not grow with their number. What the
    other entities could add is bounded, so that values come with an upper and a lower bound.

    Args:
        known: Known facts, None to count none.
        facts: Probabilities of all facts, None for a plain join of known facts.
        existential: Key of `EXISTENTIALS`.
        beam: Number of intermediate entities whose facts are scored, None for all.
        cells: Probabilities held at a time.
    """

    known: KnownFacts
    facts: FactProbabilities | None = None
    existential: str = "max"
    beam: int | None = None
    cells: int = CELLS

    @property
    def entities(self) -> int:
        """Number of entities."""
        return self.known.index.entities

    def __call__(self, node: Node) -> Evaluation:
        """Evaluate a query, from its anchors to its answers."""
        found = tuple(self(child) for child in children(node))
        if isinstance(node, Anchor):
            rows = np.zeros((1, self.entities))
            rows[0, node.entity] = 1
            return Evaluation(rows)
        if isinstance(node, Anything):
            return Evaluation(np.ones((1, self.entities)))
        if isinstance(node, Projection):
            return self._project(found[0], node.relation)
        rows_of = [one.rows for one in found]
        if isinstance(node, Intersection):
            return Evaluation(_product(rows_of), found)
        if isinstance(node, Union):
            return Evaluation(1 - _product([1 - rows for rows in rows_of]), found)
        # The upper bound of a negation is one minus the lower bound, and the other way round.
        return Evaluation(1 - (rows_of[0][[0, 2, 1]] if len(rows_of[0]) > 1 else rows_of[0]), found)

    def _project(self, child: Evaluation, r: int) -> Evaluation:
        chosen, rest = self._choose(child, r)
        rows = child.rows if rest is None or len(child.rows) > 1 else child.rows[[0, 0, 0]]
        total = EXISTENTIALS[self.existential](len(rows), self.entities)
        if self.facts is not None:
            for low, high in blocks(len(chosen), max(1, self.cells // self.entities)):
                heads = chosen[low:high]
                total.add_rows(rows[:, heads], self.facts(heads, r), heads)
        if self.facts is None or not self.facts.model_only:
            head, tail = self.known.pairs(r)
            left = np.ones(self.entities, dtype=bool)
            left[chosen] = False
            left &= rows[-1] > 0
            kept = left[head]
            total.add_facts(rows[:, head[kept]], head[kept], tail[kept])
        return Evaluation(total.finish(rest), (child,), total.best)

    def _choose(self, child: Evaluation, r: int) -> tuple[Ids, Floats | None]:
        """Return the heads whose facts are scored, and bounds of what the others could give."""
        possible = np.flatnonzero(child.high > 0)
        if self.facts is None:
            return possible[:0], None
        if self.beam is None or len(possible) <= self.beam:
            return possible, None
        limit = self.facts.limit(possible, r)
        # Ties are broken by the upper bound.
        order = np.lexsort((-child.high[possible] * limit, -child.value[possible] * limit))
        rest = order[self.beam :]
        return possible[order[: self.beam]], child.high[possible[rest]] * limit[rest]


def _product(parts: list[Floats]) -> Floats:
    product = parts[0]
    for rows in parts[1:]:
        product = product * rows
    return product
