"""Vocabularies: the names of entities or relations and their ids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from kgflow.data.iri import short_names
from kgflow.errors import KgflowError, suggest

MAX_LISTED = 12
"""Maximum number of relations that an error message lists."""

MAX_COMPARED = 20_000
"""Maximum number of names that are all compared with a misspelt one."""


class Vocabulary:
    """Distinct names, whose ids are their positions.

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
            raise KgflowError(f"the {kind} {twice!r} occurs twice in a vocabulary: keep it once")

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
        """Return the id of a name, or of an IRI by its short name if that is unique.

        The error for an unknown name suggests similar ones.
        """
        found = self._ids.get(name)
        if found is None:
            found = self.by_short_name(name)
        if found is None:
            raise KgflowError(f"unknown {self.kind} {name!r}{self._hint(name)}")
        return found

    def by_short_name(self, text: str) -> int | None:
        """Return the id of the only IRI with this short name, if there is one.

        Example:
            >>> Vocabulary(["http://schema.org/spouse"]).by_short_name("schema:spouse")
            0
        """
        return self._short_ids.get(text)

    @cached_property
    def _short_ids(self) -> dict[str, int]:
        return {short: self._ids[name] for name, short in short_names(self.names).items()}

    def ids(self, names: Iterable[str]) -> NDArray[np.int64]:
        """Return the ids of names: (N,)."""
        return np.array([self.id(name) for name in names], dtype=np.int64)

    def similar(self, name: str) -> list[str]:
        """Return the names to compare with a misspelt one."""
        # Comparing names is slow: in large graphs only those are compared that differ within four
        # consecutive letters.
        if len(self) <= MAX_COMPARED:
            return list(self.names)
        ends = [(name[:i], name[i + 4 :]) for i in range(0, len(name), 3)]
        candidates = (
            n
            for n in self.names
            if abs(len(n) - len(name)) <= 2
            and any(n.startswith(start) and n.endswith(end) for start, end in ends)
        )
        return list(islice(candidates, 5_000))

    def _hint(self, name: str) -> str:
        # Short names such as P1 are never similar; if there are few relations, all are listed.
        few = self.kind == "relation" and 0 < len(self) <= MAX_LISTED
        known = f"; known are {', '.join(self)}" if few else ""
        return suggest(name, self.similar(name)) or known
