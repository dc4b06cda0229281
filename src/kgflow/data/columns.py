"""Columns of a table that hold head, relation, tail and weight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass

from kgflow.errors import KgflowError, suggest

HEADS_AND_TAILS = (
    ("head", "tail"),
    ("h", "t"),
    ("subject", "object"),
    ("s", "o"),
    ("source", "target"),
    ("from", "to"),
)
RELATIONS = ("relation", "r", "predicate", "p", "rel", "property", "edge", "type", "label")
WEIGHTS = ("weight", "w", "confidence", "conf", "score", "probability")


@dataclass(frozen=True)
class Columns:
    """Columns to read, each by name or by position from 0.

    Example:
        >>> Columns.parse("subject,predicate,object")
        Columns(head='subject', relation='predicate', tail='object', weight=None)
        >>> Columns.parse("0,2,1,3").tail
        1
    """

    head: str | int
    relation: str | int
    tail: str | int
    weight: str | int | None = None

    @classmethod
    def parse(cls, text: str) -> Columns:
        """Parse three or four names or positions: head,relation,tail[,weight]."""
        parts = [int(p) if p.isdecimal() else p for p in (p.strip() for p in text.split(","))]
        if not 3 <= len(parts) <= 4 or "" in parts or len(set(parts)) < len(parts):
            raise KgflowError(
                f"columns {text!r} do not name head, relation, tail and at most a weight: "
                "write for example subject,predicate,object or 0,2,1"
            )
        return cls(*parts)

    @classmethod
    def of(cls, columns: Columns | str | None) -> Columns | None:
        """Return `columns`, parsed if it is text."""
        return cls.parse(columns) if isinstance(columns, str) else columns


@dataclass(frozen=True)
class ColumnLayout:
    """Positions of head, relation, tail and, if any, weight in the rows of a table.

    `header` is True if the first row holds column names; `extra_columns` is True if rows may be
    longer than the first one.
    """

    positions: tuple[int, ...]
    header: bool
    extra_columns: bool

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the parts of a triple at these positions."""
        return ("head", "relation", "tail", "weight")[: len(self.positions)]


def column_layout(first: Sequence[str], columns: Columns | None, where: str) -> ColumnLayout:
    """Return the layout of a table from its first row, or from its column names.

    Example:
        >>> column_layout(["id", "subject", "object", "predicate"], None, "facts.csv:1")
        ColumnLayout(positions=(1, 3, 2), header=True, extra_columns=True)
        >>> column_layout(["Paris", "capital of", "France"], None, "facts.csv:1")
        ColumnLayout(positions=(0, 1, 2), header=False, extra_columns=False)
    """
    known = recognize_header(first)
    if columns is not None:
        chosen = [c for c in astuple(columns) if c is not None]
        header = known is not None or any(isinstance(c, str) for c in chosen)
        return ColumnLayout(tuple(_position(c, first, where) for c in chosen), header, True)
    if known is not None:
        return ColumnLayout(known, True, True)
    if len(first) > 4:
        raise KgflowError(
            f"{where}: {len(first)} columns where head, relation, tail and at most a weight are "
            "expected: choose columns with --columns, for example --columns 0,1,2"
        )
    return ColumnLayout(tuple(range(max(len(first), 3))), False, False)


def recognize_header(names: Sequence[str]) -> tuple[int, ...] | None:
    """Return the positions of head, relation, tail and weight, or None if it is no header.

    Example:
        >>> recognize_header(["Source", "Target", "Type", "Score"])
        (0, 2, 1, 3)
        >>> recognize_header(["Paris", "capital of", "France"]) is None
        True
    """
    lowercase = [name.strip().lower() for name in names]
    ends = next((pair for pair in HEADS_AND_TAILS if set(pair) <= set(lowercase)), None)
    relation = next((name for name in RELATIONS if name in lowercase), None)
    if ends is None or relation is None:
        return None
    weight = [name for name in WEIGHTS if name in lowercase][:1]
    return tuple(lowercase.index(name) for name in (ends[0], relation, ends[1], *weight))


def _position(column: str | int, names: Sequence[str], where: str) -> int:
    if isinstance(column, str):
        if column not in names:
            raise KgflowError(f"{where}: there is no column {column!r}{suggest(column, names)}")
        return list(names).index(column)
    if column >= len(names):
        raise KgflowError(
            f"{where}: there is no column {column}: the columns are 0 to {len(names) - 1}"
        )
    return column
