"""Splits of a graph for training, validation and test, drawn at random."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from kgflow.data.dataset import SPLITS, Dataset
from kgflow.data.triples import Ids, Triples
from kgflow.data.vocabulary import Vocabulary
from kgflow.errors import KgflowError


def resplit(dataset: Dataset, valid: float = 0.05, test: float = 0.05, seed: int = 0) -> Dataset:
    """All triples of a data set, split anew: by default 90, 5 and 5 percent.

    Every entity and every relation keeps at least one triple in train, so that nothing in valid
    or test is unseen; on a graph too sparse for that, valid and test come out smaller, and a
    notice says so.

    Example:
        >>> triples = Triples.of([(i, 0, j) for i in range(10) for j in range(10)])
        >>> names = Vocabulary([str(i) for i in range(10)])
        >>> resplit(Dataset("grid", names, Vocabulary(["to"], "relation"), triples), test=0.1)
        Dataset(grid: 10 entities, 1 relations, 85 train, 5 valid, 10 test)
    """
    # Written so that NaN, which compares with nothing, is refused too.
    if not (valid >= 0 and test >= 0 and valid + test < 1):
        raise KgflowError(
            f"a valid share of {valid} and a test share of {test} leave nothing to train on: "
            "give shares of at least 0 that sum to less than 1"
        )
    if seed < 0:
        raise KgflowError(f"the seed {seed} is negative: give 0 or more")
    everything, _ = Triples.concatenate([dataset.split(s) for s in SPLITS]).unique()
    free = _spare(everything, seed)
    wanted = [math.ceil(len(everything) * share) for share in (valid, test)]
    given = _fit(wanted, len(free))
    place = np.zeros(len(everything), dtype=np.int8)
    place[free[: given[0]]] = 1
    place[free[given[0] : sum(given)]] = 2
    drawn = replace(
        dataset,
        train=everything.take(place == 0),
        valid=everything.take(place == 1),
        test=everything.take(place == 2),
        notices=_notices(wanted, given),
    )
    return _renumbered(drawn)


def _spare(triples: Triples, seed: int) -> Ids:
    """The triples that train can do without, all together, in random order.

    Of each entity and relation, the first triple of a random order stays in train.
    """
    order = np.random.default_rng(seed).permutation(len(triples))
    shuffled = triples.take(order)
    entities, relations = triples.extent()
    cells = np.stack((shuffled.h, shuffled.t), axis=1).ravel()
    needed = np.zeros(len(triples) + 1, dtype=bool)
    needed[_first(cells, entities) // 2] = True
    needed[_first(shuffled.r, relations)] = True
    return order[~needed[:-1]]


def _fit(wanted: list[int], available: int) -> list[int]:
    total = sum(wanted)
    if total <= available:
        return wanted
    valid = available * wanted[0] // total
    return [valid, available - valid]


def _notices(wanted: list[int], given: list[int]) -> tuple[str, ...]:
    if wanted == given:
        return ()
    return (
        f"only {given[0]:,} valid and {given[1]:,} test triples could be held out "
        "with every entity and relation still in training",
    )


def _renumbered(dataset: Dataset) -> Dataset:
    """The same data set with ids by first appearance, as if read from three files."""
    everything = Triples.concatenate([dataset.split(s) for s in SPLITS])
    cells = np.stack((everything.h, everything.t), axis=1).ravel()
    e = np.argsort(_first(cells, len(dataset.entities)), kind="stable")
    r = np.argsort(_first(everything.r, len(dataset.relations)), kind="stable")
    new_e, new_r = np.argsort(e), np.argsort(r)

    def moved(old: Triples) -> Triples:
        return Triples(new_e[old.h], new_r[old.r], new_e[old.t], old.weight)

    return replace(
        dataset,
        entities=Vocabulary([dataset.entities[i] for i in e], dataset.entities.kind),
        relations=Vocabulary([dataset.relations[i] for i in r], dataset.relations.kind),
        train=moved(dataset.train),
        valid=moved(dataset.valid),
        test=moved(dataset.test),
    )


def _first(ids: Ids, size: int) -> Ids:
    """The position at which each id below `size` first occurs; len(ids) if it does not."""
    first = np.full(size, len(ids))
    np.minimum.at(first, ids, np.arange(len(ids)))
    return first
