"""Statistics of a data set: degrees, relation categories, inverse relations, leakage."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from kgflow.data.dataset import SPLITS, Dataset
from kgflow.data.query_index import QueryIndex
from kgflow.data.triples import Floats, Ids, Mask, Triples

MANY = 1.5
"""Average number of tails or heads that counts as N in 1-N, N-1 and N-N: Bordes et al. (2013)."""

MOSTLY = 0.8
"""Share of its triples from which a relation counts as the inverse of another."""


@dataclass(frozen=True)
class Degrees:
    """Distribution of the number of training triples of an entity."""

    min: int
    median: float
    mean: float
    max: int


@dataclass(frozen=True)
class Unseen:
    """Entities and relations of a split that are not in train, and triples with such a name."""

    entities: int
    relations: int
    triples: int


@dataclass(frozen=True)
class RelationStatistics:
    """Statistics of one relation in train; its category is 1-1, 1-N, N-1, N-N or unseen.

    `symmetry` is the share of its triples (h, t) for which (t, h) is a triple too; `inverse` is the
    other relation with the largest share `inverse_share` of the triples (t, h).
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
    """Statistics of a data set.

    `duplicates` counts repeated rows by split; `shared` counts the triples common to two splits;
    `leakage` is the share of the triples of a split whose inverse is in train, under a relation
    that is mostly inverse, or symmetric.
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
        """Return all statistics as dictionaries that can be written as JSON."""
        return asdict(self)


def describe(dataset: Dataset) -> Statistics:
    """Compute the statistics of a data set.

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
    inverses = InverseRelations.of(dataset.train, len(dataset.entities), len(dataset.relations))
    evaluated = SPLITS[1:]
    return Statistics(
        name=dataset.name,
        entities=len(dataset.entities),
        relations=len(dataset.relations),
        sizes={split: len(dataset.split(split)) for split in SPLITS},
        degrees=_degrees(dataset),
        duplicates={split: dataset.duplicates.get(split, 0) for split in SPLITS},
        shared=_shared(dataset),
        unseen={split: _unseen(dataset, split) for split in evaluated},
        leakage={split: _share(inverses.leaked(dataset.split(split))) for split in evaluated},
        by_relation=_by_relation(dataset, inverses),
    )


def _share(mask: Mask) -> float:
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
    affected = new_entity[triples.h] | new_entity[triples.t] | new_relation[triples.r]
    return Unseen(
        entities=int((new_entity & triples.entity_mask(sizes[0])).sum()),
        relations=int((new_relation & triples.relation_mask(sizes[1])).sum()),
        triples=int(affected.sum()),
    )


def _by_relation(dataset: Dataset, inverses: InverseRelations) -> tuple[RelationStatistics, ...]:
    index = dataset.queries("train")
    queries = np.bincount(index.r, minlength=index.relations)
    triples = np.bincount(index.r, index.counts, minlength=index.relations)
    tails_per_head, heads_per_tail = np.split(triples / np.maximum(queries, 1), 2)
    found = []
    for i, name in enumerate(dataset.relations):
        count, tails, heads = int(triples[i]), float(tails_per_head[i]), float(heads_per_tail[i])
        category = f"{'1N'[heads >= MANY]}-{'1N'[tails >= MANY]}" if count else "unseen"
        symmetry, inverse, share = inverses.symmetry_and_inverse(i)
        other = None if inverse is None else dataset.relations[inverse]
        found.append(
            RelationStatistics(name, count, category, tails, heads, symmetry, other, share)
        )
    return tuple(found)


@dataclass(frozen=True, eq=False)
class InverseRelations:
    """Pairs of relations (r, s), and the share of the triples (h, r, t) with a triple (t, s, h).

    A symmetric relation is its own inverse.

    Shapes:
        r, s, share: (P,).

    Example:
        >>> triples = Triples.of([(0, 0, 1), (2, 0, 3), (1, 1, 0)])
        >>> found = InverseRelations.of(triples, entities=4, relations=2)
        >>> list(zip(found.r.tolist(), found.s.tolist(), found.share.tolist()))
        [(0, 1, 0.5), (1, 0, 1.0)]
        >>> found.leaked(Triples.of([(3, 1, 2), (0, 1, 2)])).tolist()
        [True, False]
    """

    r: Ids
    s: Ids
    share: Floats
    relations: int
    pairs: QueryIndex

    @classmethod
    def of(cls, triples: Triples, entities: int, relations: int) -> InverseRelations:
        """Find the inverse relations among distinct triples."""
        # The relations between two entities are the answers to (h, t, ?): an index in which
        # relations and tails are exchanged.
        swapped = Triples(triples.h, triples.t, triples.r)
        pairs = QueryIndex.build(swapped, relations, entities, inverse_relations=False)
        position, s, _ = pairs.gather(pairs.find(triples.t, triples.h))
        both, overlap = np.unique(triples.r[position] * relations + s, return_counts=True)
        r, s = np.divmod(both, max(relations, 1))
        total = np.bincount(triples.r, minlength=relations)
        return cls(r, s, overlap / total[r], relations, pairs)

    def leaked(self, triples: Triples) -> Mask:
        """Return which triples have their inverse under a relation mostly inverse to theirs: (N,).

        Toutanova and Chen (2015) found this for most test triples of WN18 and FB15k; mostly means
        a share of 0.8 or more.
        """
        inverse = (self.r * self.relations + self.s)[self.share >= MOSTLY]
        position, s, _ = self.pairs.gather(self.pairs.find(triples.t, triples.h))
        leaks = np.isin(triples.r[position] * self.relations + s, inverse)
        mask = np.zeros(len(triples), dtype=bool)
        mask[position[leaks]] = True
        return mask

    def symmetry_and_inverse(self, relation: int) -> tuple[float, int | None, float]:
        """Return the symmetry of a relation, its best other inverse, if any, and its share."""
        here = self.r == relation
        s, share = self.s[here], self.share[here]
        symmetry = float(share[s == relation].sum())
        other = np.where(s == relation, -1.0, share)
        if not (other > 0).any():
            return symmetry, None, 0.0
        return symmetry, int(s[other.argmax()]), float(other.max())
