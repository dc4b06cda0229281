"""Smaller graphs that are like the whole: its k-core, or what lies between some entities."""

from collections.abc import Callable, Mapping
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
    _check(share)
    kept = np.ones(len(data.train), dtype=bool)
    k = 1
    while kept.sum() > share * len(kept):
        core = _core(data, kept, k)
        if not _useful(data, core):
            break
        kept, k = core, k + 1
    return _restricted(data, kept)


def entity_sample(data: Dataset, share: float, seed: int = 0) -> Dataset:
    """All facts between some entities, drawn at random, as many as keep a share of the facts.

    Of the training facts it keeps that share or a little less. Valid and test keep the facts whose
    names all are in it. Where nothing is left to train or to validate on, the share is doubled.
    Entities have fewer facts in it than in the whole; in a k-core they have more.

    Args:
        data: the whole graph.
        share: of the training facts, more than 0 and at most 1.
        seed: of what is drawn.

    Reference:
        Leskovec, Faloutsos: Sampling from Large Graphs, KDD 2006 (random node sampling).

    Example:
        >>> from kgflow.data import load
        >>> entity_sample(load("world"), 0.5)
        Dataset(world: 807 entities, 10 relations, 1,487 train, 168 valid, 163 test)
    """
    _check(share)
    place = np.random.default_rng(seed).permutation(len(data.entities))
    # A fact is there as soon as the later one of its two entities is.
    there = np.maximum(place[data.train.h], place[data.train.t])
    kept = _earliest(there, share)
    while not kept.all() and not _useful(data, kept):
        share *= 2
        kept = _earliest(there, share)
    return _restricted(data, kept)


REDUCTIONS: Mapping[str, Callable[[Dataset, float], Dataset]] = {
    "core": k_core,
    "sample": entity_sample,
}
"""The ways to a smaller graph, by name."""


def _check(share: float) -> None:
    if not 0 < share <= 1:
        raise KgflowError(f"the share of facts to keep is {share}: give more than 0, at most 1")


def _useful(data: Dataset, kept: NDArray[np.bool_]) -> bool:
    """Whether these facts are some, and some of valid are about their names."""
    if not kept.any():
        return False
    return not len(data.valid) or bool(_inside(data, data.valid, kept).any())


def _earliest(there: NDArray[np.int64], share: float) -> NDArray[np.bool_]:
    """The facts that are there before there are too many."""
    count = int(share * len(there))
    if count >= len(there):
        return np.ones(len(there), dtype=bool)
    return there < np.partition(there, count)[count]


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
