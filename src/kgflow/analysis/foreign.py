"""Queries that make no sense: of an entity that the relation is never asked about."""

import numpy as np
from numpy.typing import NDArray

from kgflow.data import QueryIndex

Ids = NDArray[np.int64]
TRIES = 100


def foreign_heads(r: Ids, pool: Ids, known: QueryIndex, seed: int = 0) -> Ids:
    """For each relation an entity that no known fact has as its head, ``(Q,)``.

    -1 where none was found, as for a relation that everything stands in.

    Args:
        r: relations; for a reciprocal one, the entity is no known tail.
        pool: whom to draw from, each as often as it stands here.
        known: all facts, with inverse_relations.
        seed: of the draw.

    Example:
        >>> from kgflow.data import Triples
        >>> known = QueryIndex.build(Triples.of([(0, 0, 1), (1, 0, 2)]), entities=3, relations=1)
        >>> foreign_heads(np.array([0, 0, 1]), np.array([0, 1, 2]), known).tolist()
        [2, 2, 0]
    """
    rng, found = np.random.default_rng(seed), np.full(len(r), -1)
    for _ in range(TRIES):
        open_ = np.flatnonzero(found < 0)
        if not len(open_) or not len(pool):
            break
        drawn = rng.choice(pool, size=len(open_))
        fits = known.find(drawn, r[open_]) < 0
        found[open_[fits]] = drawn[fits]
    return found
