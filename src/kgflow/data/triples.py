"""Triples as three columns of integers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kgflow.errors import KgflowError

Ids = NDArray[np.int64]
Weights = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Triples:
    """Facts (h, r, t) by the ids of their names, each with a weight in (0, 1] if known.

    Shapes:
        h, r, t: (N,). weight: (N,) or None.

    Example:
        >>> facts = Triples.of([(0, 0, 1), (1, 0, 2), (0, 0, 1)])
        >>> len(facts)
        3
        >>> kept, merged = facts.unique()
        >>> kept.array().tolist(), merged
        ([[0, 0, 1], [1, 0, 2]], 1)
    """

    h: Ids
    r: Ids
    t: Ids
    weight: Weights | None = None

    @classmethod
    def of(
        cls, rows: Sequence[Sequence[int]] | Ids, weight: Sequence[float] | None = None
    ) -> Triples:
        """Triples from rows of (h, r, t)."""
        h, r, t = np.asarray(rows, dtype=np.int64).reshape(-1, 3).T
        return cls(h, r, t, None if weight is None else np.asarray(weight, dtype=np.float32))

    @classmethod
    def empty(cls) -> Triples:
        """No triples."""
        return cls.of([])

    @classmethod
    def concatenate(cls, parts: Sequence[Triples]) -> Triples:
        """All parts in turn; where only some carry weights, the others count as certain."""
        if not parts:
            return cls.empty()
        h, r, t = (np.concatenate([getattr(p, c) for p in parts]) for c in "hrt")
        if all(p.weight is None for p in parts):
            return cls(h, r, t)
        return cls(h, r, t, np.concatenate([p.certainty() for p in parts]))

    def __len__(self) -> int:
        return len(self.h)

    def __repr__(self) -> str:
        return f"Triples({len(self):,}{'' if self.weight is None else ', weighted'})"

    def array(self) -> Ids:
        """The triples as the rows of one (N, 3) array."""
        return np.stack((self.h, self.r, self.t), axis=1)

    def certainty(self) -> Weights:
        """The weights, ones where there are none: (N,)."""
        return np.ones(len(self), dtype=np.float32) if self.weight is None else self.weight

    def take(self, index: Ids | NDArray[np.bool_] | slice) -> Triples:
        """The triples at these positions, or where this mask holds."""
        weight = None if self.weight is None else self.weight[index]
        return Triples(self.h[index], self.r[index], self.t[index], weight)

    def unique(self) -> tuple[Triples, int]:
        """Each triple once, where it first stood, with its largest weight; and how many went."""
        key = self.keys(*self.extent())
        order = np.argsort(key)
        starts = run_starts(key[order])
        merged = len(self) - len(starts)
        if not merged:
            return self, 0
        first = np.minimum.reduceat(order, starts)
        place = np.argsort(first)
        kept = self.take(first[place])
        if self.weight is not None:
            kept = replace(kept, weight=np.maximum.reduceat(self.weight[order], starts)[place])
        return kept, merged

    def extent(self) -> tuple[int, int]:
        """The smallest numbers of entities and of relations that these ids fit in."""
        if not len(self):
            return 1, 1
        return int(max(self.h.max(), self.t.max())) + 1, int(self.r.max()) + 1

    def keys(self, entities: int, relations: int) -> Ids:
        """One integer per triple, (h · relations + r) · entities + t, that sorts like it."""
        heads = int(self.h.max(initial=0)) + 1
        if heads * relations * entities > np.iinfo(np.int64).max:
            raise KgflowError(
                f"{entities:,} entities with {relations:,} relations are more than 64-bit keys "
                "can tell apart: split the graph"
            )
        key = self.h * relations
        key += self.r
        key *= entities
        key += self.t
        return key

    def inverted(self, relations: int) -> Triples:
        """The reciprocal triples (t, r + relations, h)."""
        return Triples(self.t, self.r + relations, self.h, self.weight)

    def degrees(self, size: int) -> Ids:
        """In how many triples, as head or tail, each of `size` entities stands: (size,)."""
        return np.bincount(np.concatenate((self.h, self.t)), minlength=size)

    def entity_mask(self, size: int) -> NDArray[np.bool_]:
        """Which of `size` entities occur here: (size,)."""
        mask = np.zeros(size, dtype=bool)
        mask[self.h] = True
        mask[self.t] = True
        return mask

    def relation_mask(self, size: int) -> NDArray[np.bool_]:
        """Which of `size` relations occur here: (size,)."""
        mask = np.zeros(size, dtype=bool)
        mask[self.r] = True
        return mask


def run_starts(ascending: Ids) -> Ids:
    """Where each new value begins, for values in ascending order that are not negative.

    Example:
        >>> run_starts(np.array([0, 0, 3, 7, 7])).tolist()
        [0, 2, 3]
    """
    return np.flatnonzero(np.diff(ascending, prepend=-1))
