"""Random splits: training, validation and test; and of the validation triples."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from kgflow.data.dataset import SPLITS, Dataset
from kgflow.data.triples import Ids, Triples
from kgflow.errors import KgflowError

MIN_TRIPLES = 20
"""Validation triples below which all are used for model selection: too few to split."""


class ValidationSplit(NamedTuple):
    """Two parts of the validation triples.

    The part `selection` is used for model selection and calibration. The part `conformal` is used
    for conformal prediction sets only: since nothing is selected by it, it is exchangeable with
    future triples, as their coverage guarantee requires.
    """

    selection: Triples
    conformal: Triples


def split_validation(triples: Triples, conformal_share: float, seed: int) -> ValidationSplit:
    """Split validation triples at random; both queries of a triple stay in the same part.

    Args:
        triples: validation triples.
        conformal_share: share of the triples for conformal prediction; 0 if there are fewer than
            `MIN_TRIPLES`.
        seed: random seed.

    Example:
        >>> triples = Triples.of([(i, 0, i + 1) for i in range(40)])
        >>> split_validation(triples, 0.3, seed=0)
        ValidationSplit(selection=Triples(28), conformal=Triples(12))
        >>> split_validation(triples.take(slice(0, 19)), 0.3, seed=0)
        ValidationSplit(selection=Triples(19), conformal=Triples(0))
    """
    size = int(conformal_share * len(triples)) if len(triples) >= MIN_TRIPLES else 0
    conformal = np.zeros(len(triples), dtype=bool)
    conformal[np.random.default_rng(seed).permutation(len(triples))[:size]] = True
    return ValidationSplit(triples.take(~conformal), triples.take(conformal))


def resplit(dataset: Dataset, valid: float = 0.05, test: float = 0.05, seed: int = 0) -> Dataset:
    """Split all triples of a data set again: by default 90, 5 and 5 percent.

    Every entity and every relation keeps at least one triple in train, so that none is unseen in
    training; in a graph too sparse for that, valid and test are smaller, with a notice.

    Args:
        dataset: data set whose splits are merged and drawn again.
        valid: share of validation triples.
        test: share of test triples.
        seed: random seed.

    Example:
        >>> from kgflow.data import Vocabulary
        >>> triples = Triples.of([(i, 0, j) for i in range(10) for j in range(10)])
        >>> names = Vocabulary([str(i) for i in range(10)])
        >>> resplit(Dataset("grid", names, Vocabulary(["to"], "relation"), triples), test=0.1)
        Dataset(grid: 10 entities, 1 relations, 85 train, 5 valid, 10 test)
    """
    # Written so that NaN, for which every comparison is False, is refused too.
    if not (valid >= 0 and test >= 0 and valid + test < 1):
        raise KgflowError(
            f"a valid share of {valid} and a test share of {test} leave nothing to train on: "
            "give shares of at least 0 that sum to less than 1"
        )
    if seed < 0:
        raise KgflowError(f"the seed {seed} is negative: give 0 or more")
    everything, _ = Triples.concatenate([dataset.split(s) for s in SPLITS]).unique()
    free = _free_triples(everything, seed)
    wanted = [math.ceil(len(everything) * share) for share in (valid, test)]
    given = wanted
    if sum(wanted) > len(free):
        fewer = len(free) * wanted[0] // sum(wanted)
        given = [fewer, len(free) - fewer]
    place = np.zeros(len(everything), dtype=np.int8)
    place[free[: given[0]]] = 1
    place[free[given[0] : sum(given)]] = 2
    parts = [everything.take(place == i) for i in range(3)]
    notices = _notices(wanted, given)
    drawn = replace(dataset, train=parts[0], valid=parts[1], test=parts[2], notices=notices)
    # Ids by first appearance, as if read from three files.
    sizes = len(dataset.entities), len(dataset.relations)
    entities, relations = _first_appearances(Triples.concatenate(parts), *sizes)
    return drawn.select(np.argsort(entities, kind="stable"), np.argsort(relations, kind="stable"))


def _free_triples(triples: Triples, seed: int) -> Ids:
    """Return the positions of the triples that need not stay in train, in random order.

    For each entity and relation, its first triple of a random order stays in train.
    """
    order = np.random.default_rng(seed).permutation(len(triples))
    shuffled = triples.take(order)
    needed = np.zeros(len(triples) + 1, dtype=bool)
    entities, relations = _first_appearances(shuffled, *triples.id_bounds())
    needed[entities // 2] = True
    needed[relations] = True
    return order[~needed[:-1]]


def _notices(wanted: list[int], given: list[int]) -> tuple[str, ...]:
    if wanted == given:
        return ()
    return (
        f"only {given[0]:,} valid and {given[1]:,} test triples could be held out "
        "with every entity and relation in training",
    )


def _first_appearances(triples: Triples, entities: int, relations: int) -> tuple[Ids, Ids]:
    """Return the first cell (h before t) of each entity, and the first triple of each relation."""
    cells = np.stack((triples.h, triples.t), axis=1).ravel()
    return _first(cells, entities), _first(triples.r, relations)


def _first(ids: Ids, size: int) -> Ids:
    """Return the first position of each id below `size`, or len(ids)."""
    first = np.full(size, len(ids))
    np.minimum.at(first, ids, np.arange(len(ids)))
    return first
