"""A smaller graph that is like the whole: its k-core."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kgflow.data.dataset import Dataset
from kgflow.data.triples import Triples
from kgflow.data.vocabulary import Vocabulary
from kgflow.errors import KgflowError


def k_core(data: Dataset, share: float) -> Dataset:
    """The first k-core that keeps no more than a share of the training facts.

    In a k-core every entity has at least k facts in training; k grows until the core is small
    enough. Valid and test keep the facts whose names all are in it. Where that core is empty, or
    holds nothing to validate on, the one before it is taken, which is larger than was asked for:
    a graph in which all entities have about as many facts has no small core.

    Args:
        data: the whole graph.
        share: of the training facts, more than 0 and at most 1.

    Reference:
        Kochsiek, Niesel, Gemulla: Start Small, Think Big: On Hyperparameter Optimization for
        Large-Scale Knowledge Graph Embeddings, ECML PKDD 2022.

    Example:
        >>> from kgflow.data import load
        >>> k_core(load("world"), 0.5)
        Dataset(world: 264 entities, 10 relations, 1,196 train, 166 valid, 161 test)
    """
    if not 0 < share <= 1:
        raise KgflowError(f"the share of facts to keep is {share}: give more than 0, at most 1")
    kept = np.ones(len(data.train), dtype=bool)
    k = 1
    while kept.sum() > share * len(kept):
        core = _core(data, kept, k)
        if not core.any() or (len(data.valid) and not _inside(data, data.valid, core).any()):
            break
        kept, k = core, k + 1
    return _restricted(data, kept)


def _core(data: Dataset, kept: NDArray[np.bool_], k: int) -> NDArray[np.bool_]:
    """Of these facts, those left after entities with fewer than k of them have gone, again."""
    h, t = data.train.h, data.train.t
    while True:
        ends = np.concatenate([h[kept], t[kept]])
        poor = np.bincount(ends, minlength=len(data.entities)) < k
        gone = kept & (poor[h] | poor[t])
        if not gone.any():
            return kept
        kept = kept & ~gone


def _inside(data: Dataset, facts: Triples, kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
    train = data.train.take(kept)
    entity = train.entity_mask(len(data.entities))
    relation = np.zeros(len(data.relations), dtype=bool)
    relation[train.r] = True
    return entity[facts.h] & relation[facts.r] & entity[facts.t]


def _restricted(data: Dataset, kept: NDArray[np.bool_]) -> Dataset:
    train = data.train.take(kept)
    entities = np.unique(np.concatenate([train.h, train.t]))
    relations = np.unique(train.r)

    def renamed(facts: Triples) -> Triples:
        ids = (np.searchsorted(entities, facts.h), np.searchsorted(relations, facts.r))
        return Triples(*ids, np.searchsorted(entities, facts.t), facts.weight)

    def part(facts: Triples) -> Triples:
        return renamed(facts.take(_inside(data, facts, kept)))

    return replace(
        data,
        entities=Vocabulary([data.entities[i] for i in entities.tolist()]),
        relations=Vocabulary([data.relations[i] for i in relations.tolist()], kind="relation"),
        train=renamed(train),
        valid=part(data.valid),
        test=part(data.test),
    )
