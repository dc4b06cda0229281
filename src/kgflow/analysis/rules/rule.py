"""Rules over relations, and their support and confidence in a graph."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kgflow.data import QueryIndex, Triples
from kgflow.data.triples import Ids

if TYPE_CHECKING:
    from scipy.sparse import csr_array

KINDS = ("symmetric", "antisymmetric", "inverse", "implication", "composition")
"""Kinds of rules."""


@dataclass(frozen=True)
class Rule:
    r"""Horn rule (h, body, t) → (h, head, t) over R relations and their inverse relations r + R.

    - symmetric: (h, r⁻¹, t) → (h, r, t), which is (t, r, h) → (h, r, t);
    - antisymmetric: (h, r⁻¹, t) → not (h, r, t);
    - inverse: (h, s⁻¹, t) → (h, r, t); implication: (h, s, t) → (h, r, t);
    - composition: (h, s, m), (m, s', t) → (h, r, t).

    Args:
        body: ids of one or two relations; ids from R on are inverse relations.
        head: id of a relation, below R.
        relations: number of relations R.
        negated: whether the rule concludes that the head is false.

    Example:
        >>> Rule((0, 1), 2, relations=3).text(["in_city", "city_in", "in_country"])
        'in_city then city_in gives in_country'
        >>> Rule((3,), 0, relations=3).kind
        'symmetric'
    """

    body: tuple[int, ...]
    head: int
    relations: int
    negated: bool = False

    @cached_property
    def kind(self) -> str:
        """Kind of the rule, one of `KINDS`."""
        if self.negated:
            return "antisymmetric"
        if len(self.body) == 2:
            return "composition"
        if self.body[0] == self.head + self.relations:
            return "symmetric"
        return "inverse" if self.body[0] >= self.relations else "implication"

    def text(self, names: Sequence[str]) -> str:
        """Return the rule as a sentence, given the names of the R relations."""
        body = [relation_name(d, names) for d in self.body]
        head = names[self.head]
        if self.kind == "inverse":
            return f"{head} is the inverse of {names[self.body[0] - self.relations]}"
        if self.kind == "implication":
            return f"{body[0]} implies {head}"
        if self.kind == "composition":
            return f"{body[0]} then {body[1]} gives {head}"
        return f"{head} is {self.kind}"


def relation_name(d: int, names: Sequence[str]) -> str:
    """Return the name of a relation, with ⁻¹ for an inverse relation.

    Example:
        >>> relation_name(1, ["borders"])
        'borders⁻¹'
    """
    return names[d] if d < len(names) else f"{names[d - len(names)]}⁻¹"


def inverse(d: int, relations: int) -> int:
    """Return the id of the inverse of a relation or of an inverse relation.

    Example:
        >>> inverse(1, 3), inverse(4, 3)
        (4, 1)
    """
    return d - relations if d >= relations else d + relations


class RuleCount(NamedTuple):
    """Pairs of different entities for which the body is true, and those with a true head."""

    support: int
    hits: int

    @property
    def confidence(self) -> float | None:
        """Share hits / support, None without support."""
        return self.hits / self.support if self.support else None


class Graph:
    r"""Sparse adjacency matrices :math:`A_d` of the relations d and their inverse relations.

    The pairs (h, t) connected by d and then d' are the nonzero entries of :math:`A_d A_{d'}`.

    Args:
        triples: triples of the graph; duplicates are ignored.
        entities: number of entities E.
        relations: number of relations R.

    Example:
        >>> graph = Graph(Triples.of([(0, 0, 1), (1, 1, 2), (0, 2, 2)]), entities=3, relations=3)
        >>> graph.count(Rule((0, 1), 2, relations=3))
        RuleCount(support=1, hits=1)
    """

    def __init__(self, triples: Triples, entities: int, relations: int) -> None:
        self.index = QueryIndex.build(triples, entities, relations)
        self.entities, self.relations = entities, relations
        query, self.tail, _ = self.index.gather(np.arange(len(self.index)))
        self.head, self.relation = self.index.h[query], self.index.r[query]
        # Triples are sorted by head, so that those of one head are a slice.
        self.starts = np.searchsorted(self.head, np.arange(entities + 1))
        self._by_relation = np.argsort(self.relation, kind="stable")
        counts = np.bincount(self.relation, minlength=2 * relations)
        self._offsets = np.concatenate([[0], np.cumsum(counts)])
        self.matrix = lru_cache(maxsize=None)(self._matrix)

    def pairs(self, d: int) -> tuple[Ids, Ids]:
        """Return the heads and tails of a relation or inverse relation."""
        selected = self._by_relation[self._offsets[d] : self._offsets[d + 1]]
        return self.head[selected], self.tail[selected]

    def _matrix(self, d: int) -> "csr_array":
        return _sparse(*self.pairs(d), (self.entities, self.entities))

    @cached_property
    def shared_pairs(self) -> Ids:
        """Number of pairs h ≠ t that two relations have in common, ``(2R, 2R)``."""
        different = self.head != self.tail
        pair = self.head[different] * self.entities + self.tail[different]
        _, row = np.unique(pair, return_inverse=True)
        shape = (int(row.max(initial=-1)) + 1, 2 * self.relations)
        incidence = _sparse(row, self.relation[different], shape)
        return np.asarray((incidence.T @ incidence).todense())

    @cached_property
    def path_counts(self) -> Ids:
        """Number of paths h → m → t by each two relations, ``(2R, 2R)``."""
        shape = (self.entities, 2 * self.relations)
        into, out = (_sparse(e, self.relation, shape) for e in (self.tail, self.head))
        return np.asarray((into.T @ out).todense())

    def body_pairs(self, body: tuple[int, ...]) -> tuple[Ids, Ids]:
        """Return heads and tails of the pairs h ≠ t for which a body is true, each once."""
        if len(body) == 1:
            h, t = self.pairs(body[0])
        else:
            product = (self.matrix(body[0]) @ self.matrix(body[1])).tocoo()
            h, t = product.row.astype(np.int64), product.col.astype(np.int64)
        different = h != t
        return h[different], t[different]

    def count(self, rule: Rule) -> RuleCount:
        """Count the pairs for which the body is true, and those for which the head is true too."""
        if len(rule.body) == 1:
            (d,) = rule.body
            support, hits = int(self.shared_pairs[d, d]), int(self.shared_pairs[d, rule.head])
        else:
            h, t = self.body_pairs(rule.body)
            known = self.index.contains(h, np.full_like(h, rule.head), t)
            support, hits = len(h), int(known.sum())
        return RuleCount(support, support - hits if rule.negated else hits)

    def paths_between(self, h: int, t: int) -> tuple[Ids, Ids, Ids]:
        """Return the paths h → m → t as first relations, entities m and second relations."""
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

    def relations_between(self, h: int, t: int) -> Ids:
        """Return the relations and inverse relations from h to t."""
        from_h = slice(self.starts[h], self.starts[h + 1])
        return self.relation[from_h][self.tail[from_h] == t]

    def equivalents(self, min_overlap: float = 0.8) -> Ids:
        """Return for each relation the first one with nearly the same pairs, ``(2R,)``."""
        size = np.maximum(self.shared_pairs.diagonal(), 1)
        share = self.shared_pairs / size[:, None]
        alike = np.minimum(share, share.T) >= min_overlap
        alike |= np.eye(len(size), dtype=bool)
        return alike.argmax(1)


def _sparse(row: Ids, column: Ids, shape: tuple[int, int]) -> "csr_array":
    from scipy.sparse import csr_array

    return csr_array((np.ones(len(row), dtype=np.int64), (row, column)), shape=shape)
