"""Every distinct (h, r) once, with its tails."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kgflow.data.triples import Ids, Triples, Weights, run_starts


@dataclass(frozen=True, eq=False)
class QueryIndex:
    """The queries (h, r, ?) of a graph and their answers, in compressed sparse rows.

    The tails of query q are `tails[offsets[q]:offsets[q + 1]]`, in ascending order; queries
    ascend by (h, r). With inverse_relations, (t, r + R, ?) asks for the heads of (?, r, t), so that
    one index serves both sides. Built from the training triples it feeds the loss; built from
    all splits it is the filter of the ranking.

    Shapes:
        h, r: (Q,). offsets: (Q + 1,). tails, weights: (N,).

    Example:
        >>> facts = Triples.of([(0, 0, 2), (0, 0, 1), (1, 0, 2)])
        >>> index = QueryIndex.build(facts, entities=3, relations=1)
        >>> list(zip(index.h.tolist(), index.r.tolist(), index.counts.tolist()))
        [(0, 0, 2), (1, 0, 1), (1, 1, 1), (2, 1, 2)]
        >>> position, tails, _ = index.gather(index.find([0, 2, 2], [0, 0, 1]))
        >>> position.tolist(), tails.tolist()
        ([0, 0, 2, 2], [1, 2, 0, 1])
    """

    h: Ids
    r: Ids
    offsets: Ids
    tails: Ids
    weights: Weights | None
    entities: int
    relations: int

    @classmethod
    def build(
        cls, triples: Triples, entities: int, relations: int, reciprocal: bool = True
    ) -> QueryIndex:
        """Group triples by (h, r), merging repeats to their largest weight."""
        total = 2 * relations if reciprocal else relations
        key, weight = triples.keys(entities, total), triples.weight
        if reciprocal:
            key = np.concatenate((key, triples.inverted(relations).keys(entities, total)))
            weight = None if weight is None else np.tile(weight, 2)
        key, weight = _distinct(key, weight)
        query, tails = np.divmod(key, max(entities, 1))
        starts = run_starts(query)
        h, r = np.divmod(query[starts], max(total, 1))
        offsets = np.append(starts, len(key))
        return cls(h, r, offsets, tails, weight, entities, total)

    def __len__(self) -> int:
        return len(self.h)

    @property
    def counts(self) -> Ids:
        """The number of tails of each query: (Q,)."""
        return np.diff(self.offsets)

    @cached_property
    def _query_keys(self) -> Ids:
        return self.h * self.relations + self.r

    @cached_property
    def _fact_keys(self) -> Ids:
        return np.repeat(np.arange(len(self)) * self.entities, self.counts) + self.tails

    def find(self, h: ArrayLike, r: ArrayLike) -> Ids:
        """The row of each query (h, r), -1 where it has no tails: (B,)."""
        return _search(self._query_keys, np.asarray(h) * self.relations + np.asarray(r))

    def contains(self, h: ArrayLike, r: ArrayLike, t: ArrayLike) -> NDArray[np.bool_]:
        """Whether each (h, r, t) is a fact of this index: (B,)."""
        rows = self.find(h, r)
        place = _search(self._fact_keys, rows * self.entities + np.asarray(t))
        return (rows >= 0) & (place >= 0)

    def gather(self, rows: ArrayLike) -> tuple[Ids, Ids, Weights | None]:
        """All tails of these rows: for each, its position in `rows`, the tail and its weight.

        A row of -1 has no tails.
        """
        rows = np.asarray(rows, dtype=np.int64)
        first = self.offsets[rows]
        counts = np.where(rows < 0, 0, self.offsets[rows + 1] - first)
        position = np.repeat(np.arange(len(rows)), counts)
        shift = first - np.cumsum(counts) + counts
        place = np.arange(len(position)) + shift[position]
        weights = None if self.weights is None else self.weights[place]
        return position, self.tails[place], weights


def _distinct(key: Ids, weight: Weights | None) -> tuple[Ids, Weights | None]:
    """The distinct keys in ascending order, each with its largest weight; may sort in place."""
    if weight is None:
        key.sort()
        return key[run_starts(key)], None
    order = np.argsort(key)
    key = key[order]
    starts = run_starts(key)
    return key[starts], np.maximum.reduceat(weight[order], starts) if len(starts) else weight


def _search(ascending: Ids, values: Ids) -> Ids:
    """The position of each value, -1 where it is missing."""
    if not len(ascending):
        return np.full(values.shape, -1)
    place = np.searchsorted(ascending, values)
    return np.where(ascending.take(place, mode="clip") == values, place, -1)
