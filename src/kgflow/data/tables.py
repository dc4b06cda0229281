"""Tables of triples as names, and their validation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import polars as pl

NAMES = ("head", "relation", "tail")


@dataclass(frozen=True, eq=False)
class TripleTable:
    """Data frame of head, relation, tail and, if given, weight, with notices for the user.

    `labels` and `types` are those of entities, by name, if the file contains any; `nodes` are the
    names of the nodes that a file of a property graph lists.
    """

    frame: pl.DataFrame
    notices: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    types: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    nodes: frozenset[str] = frozenset()


class RowError(NamedTuple):
    """Index from 0 of the first invalid row of a data frame, and the message."""

    row: int
    message: str


def find_row_error(frame: pl.DataFrame) -> RowError | None:
    """Find the first row with an empty name or a weight outside of (0, 1], if any.

    Example:
        >>> frame = pl.DataFrame({"head": ["a", "a"], "relation": ["r", "r"], "tail": ["b", ""]})
        >>> find_row_error(frame)
        RowError(row=1, message='the tail is empty: give it a name')
    """
    errors = []
    for part in NAMES:
        empty = frame[part].is_null() | (frame[part] == "")
        if empty.any():
            errors.append(RowError(empty.arg_max() or 0, f"the {part} is empty: give it a name"))
    if "weight" in frame.columns:
        # not (0 < w <= 1), so that NaN and text are errors too
        weight = _as_floats(frame["weight"])
        bad = ~((weight.cast(pl.Float32) > 0) & (weight <= 1) & ~weight.is_nan()).fill_null(False)
        if bad.any():
            row = bad.arg_max() or 0
            value = frame["weight"][row]
            shown = "missing" if value is None else repr(value)
            message = f"the weight is {shown}: give a number above 0 and up to 1"
            errors.append(RowError(row, message))
    return min(errors, default=None)


def with_float_weights(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table with its weights, if any, as numbers."""
    if "weight" not in frame.columns:
        return frame
    return frame.with_columns(_as_floats(frame["weight"]).cast(pl.Float32))


def _as_floats(weight: pl.Series) -> pl.Series:
    if weight.dtype == pl.String:
        weight = weight.str.strip_chars()
    return weight.cast(pl.Float64, strict=False)
