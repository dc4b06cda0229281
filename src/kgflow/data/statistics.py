"""What there is to know about a data set before training on it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from kgflow.data.dataset import SPLITS, Dataset
from kgflow.data.relations import Cardinality, Inverses


@dataclass(frozen=True)
class Degrees:
    """The number of training triples an entity stands in, over all entities."""

    min: int
    median: float
    mean: float
    max: int


@dataclass(frozen=True)
class Unseen:
    """Entities and relations of a split that training lacks, and the triples that name one."""

    entities: int
    relations: int
    triples: int


@dataclass(frozen=True)
class RelationStatistics:
    """One relation in training.

    `symmetry` is the share of its triples that also hold turned round; `inverse` the other
    relation that holds most of them turned round, `inverse_share` of them.
    """

    name: str
    count: int
    category: str
    tails_per_head: float
    heads_per_tail: float
    symmetry: float
    inverse: str | None
    inverse_share: float


@dataclass(frozen=True)
class Statistics:
    """Counts of a data set and its pitfalls.

    `duplicates` counts repeated rows by split; `shared` the triples common to two splits;
    `leakage` the share of a split that training holds turned round under a relation that is
    mostly inverse, or symmetric.
    """

    name: str
    entities: int
    relations: int
    sizes: dict[str, int]
    degrees: Degrees
    duplicates: dict[str, int]
    shared: dict[str, int]
    unseen: dict[str, Unseen]
    leakage: dict[str, float]
    by_relation: tuple[RelationStatistics, ...]

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain dictionaries, tuples and numbers, for JSON."""
        return asdict(self)


def describe(dataset: Dataset) -> Statistics:
    """The statistics of a data set.

    Example:
        >>> from kgflow.data import Triples, Vocabulary
        >>> tiny = Dataset(
        ...     "tiny",
        ...     Vocabulary(["Peru", "Chile", "Bolivia"]),
        ...     Vocabulary(["borders"], kind="relation"),
        ...     train=Triples.of([(0, 0, 1), (1, 0, 0), (2, 0, 0)]),
        ...     test=Triples.of([(0, 0, 2)]),
        ... )
        >>> describe(tiny).degrees
        Degrees(min=1, median=2.0, mean=2.0, max=3)
    """
    inverses = Inverses.of(dataset.train, len(dataset.entities), len(dataset.relations))
    held = SPLITS[1:]
    return Statistics(
        name=dataset.name,
        entities=len(dataset.entities),
        relations=len(dataset.relations),
        sizes={split: len(dataset.split(split)) for split in SPLITS},
        degrees=_degrees(dataset),
        duplicates={split: dataset.duplicates.get(split, 0) for split in SPLITS},
        shared=_shared(dataset),
        unseen={split: _unseen(dataset, split) for split in held},
        leakage={split: _share(inverses.leaked(dataset.split(split))) for split in held},
        by_relation=_by_relation(dataset, inverses),
    )


def _share(mask: np.ndarray) -> float:
    return float(mask.mean()) if len(mask) else 0.0


def _degrees(dataset: Dataset) -> Degrees:
    degree = dataset.train.degrees(len(dataset.entities))
    return Degrees(
        int(degree.min()), float(np.median(degree)), float(degree.mean()), int(degree.max())
    )


def _shared(dataset: Dataset) -> dict[str, int]:
    size = len(dataset.entities), len(dataset.relations)
    keys = {split: dataset.split(split).keys(*size) for split in SPLITS}
    return {
        f"{a}+{b}": len(np.intersect1d(keys[a], keys[b], assume_unique=True))
        for a, b in combinations(SPLITS, 2)
    }


def _unseen(dataset: Dataset, split: str) -> Unseen:
    triples = dataset.split(split)
    sizes = len(dataset.entities), len(dataset.relations)
    new_entity = ~dataset.train.entity_mask(sizes[0])
    new_relation = ~dataset.train.relation_mask(sizes[1])
    touched = new_entity[triples.h] | new_entity[triples.t] | new_relation[triples.r]
    return Unseen(
        entities=int((new_entity & triples.entity_mask(sizes[0])).sum()),
        relations=int((new_relation & triples.relation_mask(sizes[1])).sum()),
        triples=int(touched.sum()),
    )


def _by_relation(dataset: Dataset, inverses: Inverses) -> tuple[RelationStatistics, ...]:
    numbers = Cardinality.of(dataset.queries("train"))
    found = []
    for i, category in enumerate(numbers.categories()):
        symmetry, inverse, share = inverses.best(i)
        found.append(
            RelationStatistics(
                name=dataset.relations[i],
                count=int(numbers.count[i]),
                category=category,
                tails_per_head=float(numbers.tails_per_head[i]),
                heads_per_tail=float(numbers.heads_per_tail[i]),
                symmetry=symmetry,
                inverse=None if inverse is None else dataset.relations[inverse],
                inverse_share=share,
            )
        )
    return tuple(found)
