"""Triples of integer ids, and the array types of the package."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kgflow.errors import KgflowError

Ids = NDArray[np.int64]
Floats = NDArray[np.float64]
Weights = NDArray[np.float32]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Triples:
    """Triples (h, r, t) of ids, optionally with weights in (0, 1].

    Shapes:
        h, r, t: (N,). weight: (N,) or None.

    Example:
        >>> triples = Triples.of([(0, 0, 1), (1, 0, 2), (0, 0, 1)])
        >>> len(triples)
        3
        >>> kept, removed = triples.unique()
        >>> kept.array().tolist(), removed
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
        """Build triples from rows (h, r, t)."""
        h, r, t = np.asarray(rows, dtype=np.int64).reshape(-1, 3).T
        return cls(h, r, t, None if weight is None else np.asarray(weight, dtype=np.float32))

    @classmethod
    def empty(cls) -> Triples:
        """Return no triples."""
        return cls.of([])

    @classmethod
    def concatenate(cls, parts: Sequence[Triples]) -> Triples:
        """Concatenate triples; if only some parts have weights, those of the others are 1."""
        if not parts:
            return cls.empty()
        h, r, t = (np.concatenate([getattr(p, c) for p in parts]) for c in "hrt")
        if all(p.weight is None for p in parts):
            return cls(h, r, t)
        return cls(h, r, t, np.concatenate([p.weights() for p in parts]))

    def __len__(self) -> int:
        return len(self.h)

    def __repr__(self) -> str:
        return f"Triples({len(self):,}{'' if self.weight is None else ', weighted'})"

    def array(self) -> Ids:
        """Return the triples as the rows of an (N, 3) array."""
        return np.stack((self.h, self.r, self.t), axis=1)

    def weights(self) -> Weights:
        """Return the weights, or ones if there are none: (N,)."""
        return np.ones(len(self), dtype=np.float32) if self.weight is None else self.weight

    def take(self, index: Ids | Mask | slice) -> Triples:
        """Return the triples at these positions, or where the mask is True."""
        weight = None if self.weight is None else self.weight[index]
        return Triples(self.h[index], self.r[index], self.t[index], weight)

    def unique(self) -> tuple[Triples, int]:
        """Return the distinct triples, each with its largest weight, and the number removed."""
        key = self.keys(*self.id_bounds())
        order = np.argsort(key)
        starts = run_starts(key[order])
        removed = len(self) - len(starts)
        if not removed:
            return self, 0
        first = np.minimum.reduceat(order, starts)
        place = np.argsort(first)
        kept = self.take(first[place])
        if self.weight is not None:
            kept = replace(kept, weight=np.maximum.reduceat(self.weight[order], starts)[place])
        return kept, removed

    def id_bounds(self) -> tuple[int, int]:
        """Return the smallest numbers of entities and relations that these ids fit in."""
        if not len(self):
            return 1, 1
        return int(max(self.h.max(), self.t.max())) + 1, int(self.r.max()) + 1

    def keys(self, entities: int, relations: int) -> Ids:
        """Return (h · relations + r) · entities + t, which sorts like the triples: (N,)."""
        heads = int(self.h.max(initial=0)) + 1
        if heads * relations * entities > np.iinfo(np.int64).max:
            raise KgflowError(
                f"{entities:,} entities with {relations:,} relations are too many for 64-bit "
                "keys: split the graph"
            )
        key = self.h * relations
        key += self.r
        key *= entities
        key += self.t
        return key

    def inverse(self, relations: int) -> Triples:
        """Return the triples (t, r + relations, h) of the inverse relations."""
        return Triples(self.t, self.r + relations, self.h, self.weight)

    def degrees(self, size: int) -> Ids:
        """Count the triples of each of `size` entities, as head or tail: (size,)."""
        return np.bincount(np.concatenate((self.h, self.t)), minlength=size)

    def entity_mask(self, size: int) -> Mask:
        """Return which of `size` entities occur: (size,)."""
        return self.degrees(size) > 0

    def relation_mask(self, size: int) -> Mask:
        """Return which of `size` relations occur: (size,)."""
        return np.bincount(self.r, minlength=size) > 0


def run_starts(ascending: Ids) -> Ids:
    """Return where each new value begins, for values that ascend and are not negative.

    Example:
        >>> run_starts(np.array([0, 0, 3, 7, 7])).tolist()
        [0, 2, 3]
    """
    return np.flatnonzero(np.diff(ascending, prepend=-1))
