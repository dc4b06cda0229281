"""Queries by name, and the tables of their answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kgflow.data import Dataset
from kgflow.errors import KgflowError

if TYPE_CHECKING:
    import polars as pl

Ids = NDArray[np.int64]

_TYPES: dict[str, type] = {
    "query": int,
    "rank": int,
    "head": str,
    "relation": str,
    "tail": str,
    "answer": str,
    "head_label": str,
    "tail_label": str,
    "score": float,
    "probability": float,
    "conditional_probability": float,
    "certainty": float,
    "known": bool,
    "trained": bool,
    "trust": str,
    "note": str,
    "entropy_change": float,
}


def _schema(names: str) -> dict[str, type]:
    return {name: _TYPES[name] for name in names.split()}


COLUMNS = _schema(
    "query rank head relation tail answer score probability conditional_probability certainty known"
    " trained trust note"
)
"""Columns and types of the table of answers."""
ENTROPY_COLUMN = _schema("entropy_change")
"""Further column of the table of answers, on demand."""
SCORE_COLUMNS = _schema(
    "head relation tail score probability conditional_probability known trust note"
)
"""Columns and types of the table of scored triples."""
DISCOVERY_COLUMNS = _schema(
    "rank head relation tail head_label tail_label score probability conditional_probability"
    " certainty trust note"
)
"""Columns and types of the table of discovered triples."""


@dataclass(frozen=True)
class TripleQuery:
    """Triple with one part missing: (h, r, ?), (?, r, t) or (h, ?, t).

    Args:
        head: Name or label of the head.
        relation: Name of the relation.
        tail: Name or label of the tail.
        source: File and line of the query, such as ``q.tsv:3``, for error messages.

    Example:
        >>> import kgflow
        >>> world = kgflow.load("world")
        >>> TripleQuery(relation="borders", tail="France").ids(world)[0]
        -1
        >>> TripleQuery(head="zzz", relation="borders", source="q.tsv:3").ids(world)
        Traceback (most recent call last):
        kgflow.errors.KgflowError: q.tsv:3: unknown entity 'zzz'
    """

    head: str | None = None
    relation: str | None = None
    tail: str | None = None
    source: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if sum(part is None for part in (self.head, self.relation, self.tail)) != 1:
            raise KgflowError("ask with two of head, relation and tail; the third is the answer")

    def ids(self, data: Dataset) -> tuple[int, int, int]:
        """Look up head, relation and tail, -1 for the missing part."""
        try:
            return triple_ids(data, self.head, self.relation, self.tail)
        except KgflowError as error:
            raise KgflowError(f"{self.source}: {error}" if self.source else str(error)) from None


def triple_ids(
    data: Dataset, head: str | None, relation: str | None, tail: str | None
) -> tuple[int, int, int]:
    """Look up the ids of a triple by names or labels, -1 for None."""
    return (
        -1 if head is None else data.entity_id(head),
        -1 if relation is None else data.relations.id(relation),
        -1 if tail is None else data.entity_id(tail),
    )


def triple_names(data: Dataset, triples: Ids) -> dict[str, list[str]]:
    """Return the columns head, relation and tail of triples of ids, ``(N, 3)``."""
    h, r, t = triples.T.tolist()
    return {
        "head": [data.entities[i] for i in h],
        "relation": [data.relations[i] for i in r],
        "tail": [data.entities[i] for i in t],
    }


TRUST = ((0.9, "almost certain"), (0.6, "likely"), (0.3, "possible"), (0.05, "unlikely"))
"""Words for probabilities from these on; smaller ones are very unlikely."""


def trust_word(probability: float | None) -> str | None:
    """Return a word for a probability, None where there is none.

    Example:
        >>> [trust_word(p) for p in (0.95, 0.7, 0.3, 0.01, None)]
        ['almost certain', 'likely', 'possible', 'very unlikely', None]
    """
    if probability is None:
        return None
    return next((word for least, word in TRUST if probability >= least), "very unlikely")


def id_array(rows: Sequence[tuple[int, int, int]]) -> Ids:
    """Return triples of ids as an array, ``(N, 3)``, also for N = 0."""
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


def frame(columns: Mapping[str, object], schema: Mapping[str, type]) -> "pl.DataFrame":
    """Return columns as a table, which has the right types even without rows."""
    import polars as pl

    return pl.DataFrame(columns, schema=schema)
