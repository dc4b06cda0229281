"""The facts of a graph as matrices: which pairs a relation, or two in turn, join."""

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kgflow.analysis.rules.rule import Rule, reverse
from kgflow.data import QueryIndex, Triples

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Ids = NDArray[np.int64]


class Count(NamedTuple):
    """Pairs of different entities that a rule's body joins, and those of which its head holds."""

    support: int
    hits: int

    @property
    def confidence(self) -> float | None:
        """The share that holds, None of nothing."""
        return self.hits / self.support if self.support else None


class Graph:
    r"""Facts (h, d, t) with d over relations and inverse_relations: sparse matrices A_d of 0 and 1.

    The pairs that d then d' joins are the entries of :math:`A_d A_{d'}`.

    Args:
        facts: each once or more.
        entities: E.
        relations: R.

    Example:
        >>> graph = Graph(Triples.of([(0, 0, 1), (1, 1, 2), (0, 2, 2)]), entities=3, relations=3)
        >>> graph.count(Rule((0, 1), 2, relations=3))
        Count(support=1, hits=1)
    """

    def __init__(self, facts: Triples, entities: int, relations: int) -> None:
        self.index = QueryIndex.build(facts, entities, relations)
        self.entities, self.relations = entities, relations
        rows = np.arange(len(self.index))
        place, self.tail, _ = self.index.gather(rows)
        self.head, self.relation = self.index.h[place], self.index.r[place]
        # Facts stand by head, so that those of one head are a slice.
        self.starts = np.searchsorted(self.head, np.arange(entities + 1))
        self._by_relation = np.argsort(self.relation, kind="stable")
        found = np.bincount(self.relation, minlength=2 * relations)
        self._ends = np.concatenate([[0], np.cumsum(found)])
        self.matrix = lru_cache(maxsize=None)(self._matrix)

    def facts(self, d: int) -> tuple[Ids, Ids]:
        """Heads and tails of a relation or reciprocal."""
        mine = self._by_relation[self._ends[d] : self._ends[d + 1]]
        return self.head[mine], self.tail[mine]

    def _matrix(self, d: int) -> "csr_array":
        from scipy.sparse import csr_array

        h, t = self.facts(d)
        return csr_array(
            (np.ones(len(h), dtype=np.int32), (h, t)), shape=(self.entities, self.entities)
        )

    @cached_property
    def shared(self) -> Ids:
        """How many pairs of different entities two directed relations share, ``(2R, 2R)``."""
        from scipy.sparse import csr_array

        apart = self.head != self.tail
        pair = self.head[apart] * self.entities + self.tail[apart]
        _, row = np.unique(pair, return_inverse=True)
        column = self.relation[apart]
        shape = (int(row.max(initial=-1)) + 1, 2 * self.relations)
        incidence = csr_array((np.ones(len(row), dtype=np.int64), (row, column)), shape=shape)
        return np.asarray((incidence.T @ incidence).todense())

    @cached_property
    def paths(self) -> Ids:
        """How many paths h, m, t there are by each two directed relations, ``(2R, 2R)``."""
        from scipy.sparse import csr_array

        shape = (self.entities, 2 * self.relations)
        ones = np.ones(len(self.head), dtype=np.int64)
        into = csr_array((ones, (self.tail, self.relation)), shape=shape)
        out = csr_array((ones, (self.head, self.relation)), shape=shape)
        return np.asarray((into.T @ out).todense())

    def joined(self, body: tuple[int, ...]) -> tuple[Ids, Ids]:
        """The pairs of different entities that a body joins, each once: heads and tails."""
        if len(body) == 1:
            h, t = self.facts(body[0])
        else:
            found = (self.matrix(body[0]) @ self.matrix(body[1])).tocoo()
            h, t = found.row.astype(np.int64), found.col.astype(np.int64)
        apart = h != t
        return h[apart], t[apart]

    def count(self, rule: Rule) -> Count:
        """In how many cases the body holds, and in how many the head then does."""
        if len(rule.body) == 1:
            (d,) = rule.body
            support, hits = int(self.shared[d, d]), int(self.shared[d, rule.head])
        else:
            h, t = self.joined(rule.body)
            held = self.index.contains(h, np.full_like(h, rule.head), t)
            support, hits = len(h), int(held.sum())
        return Count(support, support - hits if rule.negated else hits)

    def score_relations(self, h: int, t: int) -> tuple[Ids, Ids, Ids]:
        """The paths from h over a third entity to t: first relation, entity, second relation."""
        out, back = (slice(self.starts[e], self.starts[e + 1]) for e in (h, t))
        order = np.argsort(self.tail[back], kind="stable")
        ends, second = self.tail[back][order], self.relation[back][order]
        second = np.where(second < self.relations, second + self.relations, second - self.relations)
        middle, first = self.tail[out], self.relation[out]
        low, high = (np.searchsorted(ends, middle, side) for side in ("left", "right"))
        count = np.where((middle == h) | (middle == t), 0, high - low)
        row = np.repeat(np.arange(len(middle)), count)
        shift = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
        return first[row], middle[row], second[low[row] + shift]

    def direct(self, h: int, t: int) -> Ids:
        """The relations and inverse_relations that lead from h to t."""
        mine = slice(self.starts[h], self.starts[h + 1])
        return self.relation[mine][self.tail[mine] == t]

    def same(self, mostly: float = 0.8) -> Ids:
        """For each directed relation the first one that holds where it does, mostly, ``(2R,)``."""
        size = np.maximum(self.shared.diagonal(), 1)
        share = self.shared / size[:, None]
        alike = np.minimum(share, share.T) >= mostly
        alike |= np.eye(len(size), dtype=bool)
        return alike.argmax(1)

    def reverse(self, d: int) -> int:
        """The reciprocal."""
        return reverse(d, self.relations)
