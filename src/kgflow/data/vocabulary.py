"""The names of entities or relations, in a stable order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from kgflow.errors import KgflowError, suggest

FEW = 12
"""Relations that an error message can list."""


class Vocabulary:
    """Distinct names; the id of a name is its position.

    Example:
        >>> countries = Vocabulary(["France", "Peru"])
        >>> countries.id("Peru"), countries[0], "Chile" in countries
        (1, 'France', False)
        >>> countries.id("Frence")
        Traceback (most recent call last):
        kgflow.errors.KgflowError: unknown entity 'Frence'; did you mean France?
    """

    def __init__(self, names: Sequence[str], kind: str = "entity") -> None:
        self.names = tuple(names)
        self.kind = kind
        self._ids = {name: i for i, name in enumerate(self.names)}
        if len(self._ids) < len(self.names):
            twice = next(name for i, name in enumerate(self.names) if self._ids[name] != i)
            raise KgflowError(f"the {kind} {twice!r} occurs twice in one vocabulary: keep it once")

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self._ids

    def __getitem__(self, i: int) -> str:
        return self.names[i]

    def __repr__(self) -> str:
        return f"Vocabulary({len(self):,} names, kind={self.kind!r})"

    def id(self, name: str) -> int:
        """The id of a name; a misspelt name gets the nearest ones suggested."""
        found = self._ids.get(name)
        if found is None:
            raise KgflowError(f"unknown {self.kind} {name!r}{self._hint(name)}")
        return found

    def ids(self, names: Iterable[str]) -> NDArray[np.int64]:
        """The ids of names: (N,)."""
        return np.array([self.id(name) for name in names], dtype=np.int64)

    def near(self, name: str) -> list[str]:
        """The names worth comparing with a misspelt one."""
        # Comparing names letter by letter is slow: on large graphs only those are worth it that
        # differ within four letters in a row.
        if len(self) <= 20_000:
            return list(self.names)
        ends = [(name[:i], name[i + 4 :]) for i in range(0, len(name), 3)]
        alike = (
            n
            for n in self.names
            if abs(len(n) - len(name)) <= 2
            and any(n.startswith(start) and n.endswith(end) for start, end in ends)
        )
        return list(islice(alike, 5_000))

    def _hint(self, name: str) -> str:
        # Short names such as P1 are never near each other; where there are few, all are shown.
        few = self.kind == "relation" and 0 < len(self) <= FEW
        known = f"; known are {', '.join(self)}" if few else ""
        return suggest(name, self.near(name)) or known
