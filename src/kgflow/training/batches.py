"""Batches of training facts: which facts make up a batch, and how they share scores."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kgflow.data import QueryIndex
from kgflow.data.triples import Floats, Ids, run_starts


@dataclass(frozen=True, eq=False)
class Batch:
    """Queries (h, r) of a batch, each with those of its true tails that the batch holds.

    Every query is scored once, however many facts of the batch share it.

    Shapes:
        query, h, r: (B,). row, tail, weight: (P,).

    Args:
        query: Position of each query in the index.
        h: Head ids.
        r: Relation ids.
        row: Query of each fact, a position in `h`.
        tail: Tail ids.
        weight: Confidence of each fact, or None.

    Example:
        >>> from kgflow.data import Triples
        >>> index = QueryIndex.build(Triples.of([(0, 0, 2), (0, 0, 1), (1, 0, 2)]), 3, 1)
        >>> batch = Batch.of_facts(index, np.array([0, 1, 3]))
        >>> batch.h.tolist(), batch.row.tolist(), batch.tail.tolist()
        ([0, 1], [0, 0, 1], [1, 2, 0])
    """

    query: Ids
    h: Ids
    r: Ids
    row: Ids
    tail: Ids
    weight: NDArray[np.float32] | None

    @classmethod
    def of_facts(cls, index: QueryIndex, facts: Ids) -> "Batch":
        """Return the batch of some facts, given by their positions in ``index.tails``.

        Facts that are neighbours and share a query share a row.
        """
        query = np.searchsorted(index.offsets, facts, side="right") - 1
        starts = run_starts(query)
        row = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(facts)))
        query = query[starts]
        weight = None if index.weights is None else index.weights[facts]
        return cls(query, index.h[query], index.r[query], row, index.tails[facts], weight)

    @classmethod
    def of_queries(cls, index: QueryIndex, queries: Ids) -> "Batch":
        """Return the batch of some queries with all their tails."""
        row, tail, weight = index.gather(queries)
        return cls(queries, index.h[queries], index.r[queries], row, tail, weight)

    def __len__(self) -> int:
        """Return the number of facts P."""
        return len(self.tail)

    def weights(self) -> Floats:
        """Return the confidence of each fact, or 1 where there are none, ``(P,)``."""
        return np.ones(len(self)) if self.weight is None else self.weight.astype(np.float64)

    def with_all_tails(self, index: QueryIndex) -> "tuple[Batch, Floats]":
        """Return the batch with all tails of its queries, and the share that it held: (B,)."""
        held = np.bincount(self.row, minlength=len(self.query))
        return Batch.of_queries(index, self.query), held / index.counts[self.query]


def whole_queries(index: QueryIndex, size: int, rng: np.random.Generator) -> list[Ids]:
    """Return one epoch of batches in which every query comes once, with all its tails.

    The fewest scores per epoch. A batch ends when its facts reach the next multiple of `size`, so
    that an epoch has about as many steps as with single facts.
    """
    order = rng.permutation(len(index))
    return _batches(index.offsets[:-1][order], index.counts[order], size)


def single_facts(index: QueryIndex, size: int, rng: np.random.Generator) -> list[Ids]:
    """Return one epoch of batches of `size` facts, shuffled one by one."""
    order = rng.permutation(len(index.tails))
    return [np.sort(facts) for facts in np.split(order, range(size, len(order), size))]


def pieces_of_queries(index: QueryIndex, size: int, rng: np.random.Generator) -> list[Ids]:
    """Return one epoch of batches of pieces of queries.

    A piece holds no more facts than a batch holds of its relation on average, so that a relation of
    few, large queries gets a gradient in about as many batches as with single facts. Which facts
    of a query make up a piece is drawn anew in every epoch.
    """
    number = max(1, len(index.tails) // size)
    facts = np.bincount(index.r, weights=index.counts, minlength=index.relations)
    longest = np.maximum(1, facts // number).astype(np.int64)[index.r]
    pieces = -(-index.counts // longest)
    query = np.repeat(np.arange(len(index)), pieces)
    nth = np.arange(len(query)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    first = index.offsets[query] + nth * longest[query]
    length = np.minimum(longest[query], index.offsets[query + 1] - first)
    order = rng.permutation(len(query))
    owner = np.repeat(np.arange(len(index)), index.counts)
    shuffled = np.lexsort((rng.random(len(index.tails)), owner))
    return [np.sort(shuffled[places]) for places in _batches(first[order], length[order], size)]


BATCHES: dict[str, Callable[[QueryIndex, int, np.random.Generator], list[Ids]]] = {
    "queries": whole_queries,
    "pieces": pieces_of_queries,
    "facts": single_facts,
}


def epoch_batches(kind: str, index: QueryIndex, size: int, seed: int, epoch: int) -> list[Ids]:
    """Return the facts of each batch of an epoch, in an order drawn from (seed, epoch).

    Facts are positions in ``index.tails``; every fact comes once.

    Example:
        >>> from kgflow.data import Triples
        >>> facts = Triples.of([(h, 0, t) for h in range(3) for t in range(4)])
        >>> index = QueryIndex.build(facts, entities=4, relations=1, inverse_relations=False)
        >>> for kind in BATCHES:  # queries to score in each batch
        ...     order = epoch_batches(kind, index, size=3, seed=0, epoch=0)
        ...     print(kind, [len(Batch.of_facts(index, facts).h) for facts in order])
        queries [1, 1, 1]
        pieces [1, 1, 1, 1]
        facts [3, 2, 2, 2]
    """
    return BATCHES[kind](index, size, np.random.default_rng((seed, epoch)))


def _batches(first: Ids, length: Ids, size: int) -> list[Ids]:
    """Return the ranges ``first, …, first + length - 1``, divided where they pass a multiple."""
    before = np.cumsum(length) - length
    places = np.arange(length.sum()) + np.repeat(first - before, length)
    ends = before[np.flatnonzero(np.diff(before // size)) + 1]
    return np.split(places, ends)
