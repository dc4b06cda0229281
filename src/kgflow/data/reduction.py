"""Smaller graph from a large one: a k-core."""

from dataclasses import replace

import numpy as np

from kgflow.data.dataset import Dataset
from kgflow.data.triples import Mask
from kgflow.errors import KgflowError


def k_core(data: Dataset, share: float) -> Dataset:
    """Return the first k-core with at most a given share of the training triples.

    In a k-core every entity has at least k training triples; k grows until the core is small
    enough. Valid and test keep the triples whose entities and relation are in the core. If that
    core is empty or has no validation triples, the one before it is returned, which is larger than
    requested: a graph whose entities all have similar degrees has no small core.

    Args:
        data: whole graph.
        share: share of the training triples, more than 0 and at most 1.

    Reference:
        Kochsiek, Niesel, Gemulla: Start Small, Think Big: On Hyperparameter Optimization for
        Large-Scale Knowledge Graph Embeddings, ECML PKDD 2022.

    Example:
        >>> from kgflow.data import load
        >>> k_core(load("world"), 0.5)
        Dataset(world: 264 entities, 10 relations, 1,196 train, 166 valid, 161 test)
    """
    if not 0 < share <= 1:
        raise KgflowError(
            f"the share of triples to keep is {share}: give more than 0 and at most 1"
        )
    kept = np.ones(len(data.train), dtype=bool)
    k = 1
    while kept.sum() > share * len(kept):
        core = _core(data, kept, k)
        if not _is_usable(data, core):
            break
        kept, k = core, k + 1
    return _subgraph(data, kept)


def _is_usable(data: Dataset, kept: Mask) -> bool:
    """Return whether there are training triples, and validation triples of their names."""
    train, valid = data.train.take(kept), data.valid
    entity = train.entity_mask(len(data.entities))
    relation = train.relation_mask(len(data.relations))
    contained = entity[valid.h] & relation[valid.r] & entity[valid.t]
    return bool(kept.any() and (contained.any() or not len(valid)))


def _core(data: Dataset, kept: Mask, k: int) -> Mask:
    """Remove entities with fewer than k triples and their triples, repeatedly."""
    h, t = data.train.h, data.train.t
    while True:
        sparse = data.train.take(kept).degrees(len(data.entities)) < k
        removed = kept & (sparse[h] | sparse[t])
        if not removed.any():
            return kept
        kept = kept & ~removed


def _subgraph(data: Dataset, kept: Mask) -> Dataset:
    train = data.train.take(kept)
    entities = np.flatnonzero(train.entity_mask(len(data.entities)))
    relations = np.flatnonzero(train.relation_mask(len(data.relations)))
    return replace(data, train=train).select(entities, relations)
