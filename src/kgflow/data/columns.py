"""Which columns of a table hold head, relation, tail and weight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kgflow.errors import KgflowError, suggest

ENDS = (
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
    """The user's choice of columns, each by name or by position from 0.

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
        """Three or four names or positions, separated by commas: head, relation, tail, weight."""
        parts = [int(p) if p.isdecimal() else p for p in (p.strip() for p in text.split(","))]
        if not 3 <= len(parts) <= 4 or "" in parts or len(set(parts)) < len(parts):
            raise KgflowError(
                f"columns {text!r} do not name head, relation, tail and at most a weight: "
                "write for example subject,predicate,object or 0,2,1"
            )
        return cls(*parts)

    @classmethod
    def of(cls, choice: Columns | str | None) -> Columns | None:
        """A choice as it is, or parsed where it is text."""
        return cls.parse(choice) if isinstance(choice, str) else choice

    def chosen(self) -> list[str | int]:
        """The columns in the order head, relation, tail and, if any, weight."""
        return [
            self.head,
            self.relation,
            self.tail,
            *([] if self.weight is None else [self.weight]),
        ]


@dataclass(frozen=True)
class Layout:
    """Where in a row the parts of a triple stand: head, relation, tail and, if any, weight.

    `header` says that the first row holds names; `open_ended` that rows may hold more columns.
    """

    positions: tuple[int, ...]
    header: bool
    open_ended: bool

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the parts that are there."""
        return ("head", "relation", "tail", "weight")[: len(self.positions)]


def layout(first: Sequence[str], columns: Columns | None, where: str) -> Layout:
    """How to read a table whose first row, or whose column names, are these.

    Example:
        >>> layout(["id", "subject", "object", "predicate"], None, "facts.csv:1")
        Layout(positions=(1, 3, 2), header=True, open_ended=True)
        >>> layout(["Paris", "capital of", "France"], None, "facts.csv:1")
        Layout(positions=(0, 1, 2), header=False, open_ended=False)
    """
    known = recognise(first)
    if columns is not None:
        chosen = columns.chosen()
        named = known is not None or any(isinstance(c, str) for c in chosen)
        return Layout(tuple(_position(c, first, where) for c in chosen), named, True)
    if known is not None:
        return Layout(known, True, True)
    if len(first) > 4:
        raise KgflowError(
            f"{where}: {len(first)} columns where head, relation, tail and at most a weight are "
            "expected: say which to use with --columns, for example --columns 0,1,2"
        )
    return Layout(tuple(range(max(len(first), 3))), False, False)


def recognise(names: Sequence[str]) -> tuple[int, ...] | None:
    """The positions of head, relation, tail and weight under a usual naming, if it is one.

    Example:
        >>> recognise(["Source", "Target", "Type", "Score"])
        (0, 2, 1, 3)
        >>> recognise(["Paris", "capital of", "France"]) is None
        True
    """
    lowered = [name.strip().lower() for name in names]
    ends = next((pair for pair in ENDS if set(pair) <= set(lowered)), None)
    relation = next((name for name in RELATIONS if name in lowered), None)
    if ends is None or relation is None:
        return None
    weight = [name for name in WEIGHTS if name in lowered][:1]
    return tuple(lowered.index(name) for name in (ends[0], relation, ends[1], *weight))


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
