"""Index of the distinct queries (h, r, ?) with their tails."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from kgflow.data.triples import Ids, Mask, Triples, Weights, run_starts


@dataclass(frozen=True, eq=False)
class QueryIndex:
    """Queries (h, r, ?) of a graph and their answers, in compressed sparse row (CSR) format.

    The tails of query q are `tails[offsets[q]:offsets[q + 1]]`, in ascending order; queries are
    sorted by (h, r). With inverse relations, the answers to (t, r + R, ?) are the heads of
    (?, r, t), so that one index serves both directions. Built from the training triples it serves
    the loss; built from all splits it is the filter of ranks.

    Shapes:
        h, r: (Q,). offsets: (Q + 1,). tails, weights: (N,).

    Example:
        >>> triples = Triples.of([(0, 0, 2), (0, 0, 1), (1, 0, 2)])
        >>> index = QueryIndex.build(triples, entities=3, relations=1)
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
        cls, triples: Triples, entities: int, relations: int, inverse_relations: bool = True
    ) -> QueryIndex:
        """Group triples by (h, r); repeated triples keep their largest weight."""
        total = 2 * relations if inverse_relations else relations
        key, weight = triples.keys(entities, total), triples.weight
        if inverse_relations:
            key = np.concatenate((key, triples.inverse(relations).keys(entities, total)))
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
        """Number of tails of each query: (Q,)."""
        return np.diff(self.offsets)

    @cached_property
    def _query_keys(self) -> Ids:
        return self.h * self.relations + self.r

    @cached_property
    def _triple_keys(self) -> Ids:
        return np.repeat(np.arange(len(self)) * self.entities, self.counts) + self.tails

    def find(self, h: ArrayLike, r: ArrayLike) -> Ids:
        """Return the position of each query (h, r) in the index, or -1: (B,)."""
        return _search(self._query_keys, np.asarray(h) * self.relations + np.asarray(r))

    def contains(self, h: ArrayLike, r: ArrayLike, t: ArrayLike) -> Mask:
        """Return whether each triple (h, r, t) is in the index: (B,)."""
        query = self.find(h, r)
        place = _search(self._triple_keys, query * self.entities + np.asarray(t))
        return (query >= 0) & (place >= 0)

    def gather(self, queries: ArrayLike) -> tuple[Ids, Ids, Weights | None]:
        """Return all tails of some queries, given by their positions in the index.

        Args:
            queries: positions (B,) as returned by `find`; -1 has no tails.

        Returns:
            For each tail: the position in `queries`, the tail and its weight, (P,) each.
        """
        queries = np.asarray(queries, dtype=np.int64)
        first = self.offsets[queries]
        counts = np.where(queries < 0, 0, self.offsets[queries + 1] - first)
        position = np.repeat(np.arange(len(queries)), counts)
        shift = first - np.cumsum(counts) + counts
        place = np.arange(len(position)) + shift[position]
        weights = None if self.weights is None else self.weights[place]
        return position, self.tails[place], weights


def _distinct(key: Ids, weight: Weights | None) -> tuple[Ids, Weights | None]:
    """Return the distinct keys, ascending, each with its largest weight; may sort in place."""
    if weight is None:
        key.sort()
        return key[run_starts(key)], None
    order = np.argsort(key)
    key = key[order]
    starts = run_starts(key)
    return key[starts], np.maximum.reduceat(weight[order], starts) if len(starts) else weight


def _search(ascending: Ids, values: Ids) -> Ids:
    """Return the position of each value, or -1."""
    if not len(ascending):
        return np.full(values.shape, -1)
    place = np.searchsorted(ascending, values)
    return np.where(ascending.take(place, mode="clip") == values, place, -1)
