"""Batches of training queries, and their random seeds."""

import numpy as np
from numpy.typing import NDArray

from kgflow.data import QueryIndex


def batches(index: QueryIndex, size: int, seed: int, epoch: int) -> list[NDArray[np.int64]]:
    """Return one epoch of batches: every query once, in an order drawn from (seed, epoch).

    A batch ends when its triples reach the next multiple of `size`, so an epoch has about as many
    steps as with shuffled single triples.

    Returns:
        Rows of the index in each batch.

    Example:
        >>> from kgflow.data import Triples
        >>> h, t = np.arange(6), np.arange(1, 7)
        >>> index = QueryIndex.build(Triples(h, np.zeros_like(h), t), entities=7, relations=1)
        >>> [len(rows) for rows in batches(index, size=5, seed=0, epoch=0)]
        [5, 5, 2]
    """
    order = np.random.default_rng((seed, epoch)).permutation(len(index))
    counts = index.counts[order]
    number = (np.cumsum(counts) - counts) // size
    return np.split(order, np.flatnonzero(np.diff(number)) + 1)


def batch_seed(seed: int, epoch: int, batch: int) -> int:
    """Return a random seed of 64 bits that depends on the seed, the epoch and the batch only.

    Example:
        >>> batch_seed(0, 1, 2) == batch_seed(0, 1, 2), batch_seed(0, 1, 2) == batch_seed(0, 2, 1)
        (True, False)
    """
    return int(np.random.SeedSequence((seed, epoch, batch)).generate_state(1, np.uint64)[0])
