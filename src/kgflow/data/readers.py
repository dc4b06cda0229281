"""Tables of triples: TSV, CSV and Parquet, read quickly and checked with care."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import polars as pl

from kgflow.data import files
from kgflow.data.columns import Columns, Layout, layout
from kgflow.data.rows import rows
from kgflow.errors import KgflowError

NAMES = ("head", "relation", "tail")


class Table(NamedTuple):
    """A frame of head, relation, tail and, where known, weight; and what to tell the user."""

    frame: pl.DataFrame
    notices: tuple[str, ...] = ()


class Fault(NamedTuple):
    """The first bad row of a frame, counted from 0, and what is wrong with it."""

    row: int
    sentence: str


def read(path: Path, columns: Columns | None = None) -> Table:
    """The triples of one file of any supported kind, as names."""
    files.require(path)
    suffix = files.kind(path)
    if suffix in files.RDF:
        from kgflow.data import rdf

        if columns is not None:
            raise KgflowError(f"{path}: RDF has no columns to choose from: leave out --columns")
        table = Table(*rdf.read(path))
    else:
        table = Table(_parquet(path, columns) if suffix == ".parquet" else _text(path, columns))
    if table.frame.is_empty():
        raise KgflowError(f"{path}: no triples in it: give a file with at least one")
    return table


def _text(path: Path, columns: Columns | None) -> pl.DataFrame:
    content = files.content(path)
    line, first = next(rows(path, content), (1, []))
    if not first:
        return pl.DataFrame()
    plan = layout(first, columns, f"{path}:{line}")
    frame = _quick(content, files.SEPARATORS[files.kind(path)], len(first), plan)
    return _careful(path, content, plan) if frame is None else frame


def _quick(content: bytes, separator: str, width: int, plan: Layout) -> pl.DataFrame | None:
    """The whole table at once, or None where anything about it is unusual."""
    stray = b"\r" in content and content.count(b"\r") != content.count(b"\r\n")
    if stray or width <= max(plan.positions):
        return None
    try:
        frame = pl.read_csv(
            content,
            has_header=False,
            separator=separator,
            quote_char='"' if separator == "," else None,
            schema={str(i): pl.String for i in range(width)},
        )
    except (pl.exceptions.PolarsError, OSError):
        # The second: a text whose first letters polars takes for those of a compressed file.
        return None
    frame = frame.filter(~pl.all_horizontal(pl.all().is_null())).slice(int(plan.header))
    frame = frame.select(
        pl.col(str(i)).alias(p) for i, p in zip(plan.positions, plan.parts, strict=True)
    )
    return None if fault(frame) else weighed(frame)


def _careful(path: Path, content: bytes, plan: Layout) -> pl.DataFrame:
    """The same table row by row, so that a sentence can name the line."""
    lines, kept, width = [], [], 0
    for line, cells in rows(path, content):
        width = width or len(cells)
        if len(cells) <= max(plan.positions) or (len(cells) > width and not plan.open_ended):
            raise KgflowError(f"{path}:{line}: {_miscounted(cells, plan)}")
        lines.append(line)
        kept.append([cells[i] for i in plan.positions])
    frame = pl.DataFrame(
        kept[plan.header :], schema=dict.fromkeys(plan.parts, pl.String), orient="row"
    )
    found = fault(frame)
    if found:
        raise KgflowError(f"{path}:{lines[found.row + plan.header]}: {found.sentence}")
    return weighed(frame)


def _miscounted(cells: list[str], plan: Layout) -> str:
    parts = f"{', '.join(plan.parts[:-1])} and {plan.parts[-1]}"
    columns = "1 column" if len(cells) == 1 else f"{len(cells)} columns"
    return f"{columns} where {parts} are needed: correct the row {', '.join(map(repr, cells))}"


def _parquet(path: Path, columns: Columns | None) -> pl.DataFrame:
    try:
        names = list(pl.read_parquet_schema(path))
        plan = layout(names, columns, str(path))
        if len(names) <= max(plan.positions):
            raise KgflowError(f"{path}: {_miscounted(names, plan)}")
        frame = pl.read_parquet(path, columns=[names[i] for i in plan.positions], glob=False)
        frame = frame.select(
            pl.col(names[i]).alias(p)
            if p == "weight"
            else pl.col(names[i]).cast(pl.String).alias(p)
            for i, p in zip(plan.positions, plan.parts, strict=True)
        )
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise KgflowError(
            f"{path}: not a Parquet table of names ({reason}): write it again"
        ) from None
    found = fault(frame)
    if found:
        raise KgflowError(f"{path}: row {found.row}: {found.sentence}")
    return weighed(frame)


def fault(frame: pl.DataFrame) -> Fault | None:
    """The first row with an empty name or a weight that is not in (0, 1], if any.

    Example:
        >>> fault(pl.DataFrame({"head": ["a", "a"], "relation": ["r", "r"], "tail": ["b", ""]}))
        Fault(row=1, sentence='the tail is empty: give it a name')
    """
    faults = []
    for part in NAMES:
        empty = frame[part].is_null() | (frame[part] == "")
        if empty.any():
            faults.append(Fault(empty.arg_max() or 0, f"the {part} is empty: give it a name"))
    if "weight" in frame.columns:
        # not (0 < w <= 1), so that NaN and what is no number at all are bad too
        weight = _numbers(frame["weight"])
        bad = ~((weight.cast(pl.Float32) > 0) & (weight <= 1) & ~weight.is_nan()).fill_null(False)
        if bad.any():
            row = bad.arg_max() or 0
            value = frame["weight"][row]
            shown = "nothing" if value is None else repr(value)
            faults.append(Fault(row, f"the weight is {shown}: give a number above 0 and up to 1"))
    return min(faults, default=None)


def weighed(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with its weights, if it has any, as 32-bit numbers."""
    if "weight" not in frame.columns:
        return frame
    return frame.with_columns(_numbers(frame["weight"]).cast(pl.Float32))


def _numbers(weight: pl.Series) -> pl.Series:
    if weight.dtype == pl.String:
        weight = weight.str.strip_chars()
    return weight.cast(pl.Float64, strict=False)
