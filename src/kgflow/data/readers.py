"""Readers of triples as tables of names: TSV, CSV, Parquet, N-Triples and Turtle."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from kgflow.data import files
from kgflow.data.columns import ColumnLayout, Columns, column_layout
from kgflow.errors import KgflowError, require

NAMES = ("head", "relation", "tail")
RDF_FORMATS = {".nt": "N_TRIPLES", ".ttl": "TURTLE"}
GENERATED_LABEL = re.compile(r"[0-9a-f]{24,32}")


class TripleTable(NamedTuple):
    """Data frame of head, relation, tail and, if given, weight, with notices for the user."""

    frame: pl.DataFrame
    notices: tuple[str, ...] = ()


class RowError(NamedTuple):
    """Index from 0 of the first invalid row of a data frame, and the message."""

    row: int
    message: str


def read_table(path: Path, columns: Columns | None = None) -> TripleTable:
    """Read the triples of one file of any supported format, as names."""
    files.require_readable(path)
    suffix = files.file_format(path)
    if suffix in files.RDF:
        if columns is not None:
            raise KgflowError(f"{path}: RDF has no columns to choose from: leave out --columns")
        table = _read_rdf(path)
    elif suffix == ".parquet":
        table = TripleTable(_read_parquet(path, columns))
    else:
        table = TripleTable(_read_text(path, columns))
    if table.frame.is_empty():
        raise KgflowError(f"{path}: contains no triples: give a file with at least one")
    return table


def _read_text(path: Path, columns: Columns | None) -> pl.DataFrame:
    content = files.read_text(path)
    line, first = next(files.text_rows(path, content), (1, []))
    if not first:
        return pl.DataFrame()
    layout = column_layout(first, columns, f"{path}:{line}")
    separator = files.SEPARATORS[files.file_format(path)]
    frame = _read_at_once(content, separator, len(first), layout)
    return _read_by_row(path, content, layout) if frame is None else frame


def _read_at_once(
    content: bytes, separator: str, width: int, layout: ColumnLayout
) -> pl.DataFrame | None:
    """Read a whole table by polars, or return None if it may be irregular."""
    lone_returns = b"\r" in content and content.count(b"\r") != content.count(b"\r\n")
    if lone_returns or width <= max(layout.positions):
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
        # OSError: a text whose first bytes polars takes for those of a compressed file.
        return None
    frame = frame.filter(~pl.all_horizontal(pl.all().is_null())).slice(int(layout.header))
    frame = frame.select(
        pl.col(str(i)).alias(p) for i, p in zip(layout.positions, layout.parts, strict=True)
    )
    return None if find_row_error(frame) else _with_float_weights(frame)


def _read_by_row(path: Path, content: bytes, layout: ColumnLayout) -> pl.DataFrame:
    """Read the same table row by row, so that an error message can name the line."""
    lines, rows, width = [], [], 0
    for line, cells in files.text_rows(path, content):
        width = width or len(cells)
        too_many = len(cells) > width and not layout.extra_columns
        if len(cells) <= max(layout.positions) or too_many:
            raise KgflowError(f"{path}:{line}: {_column_count_message(cells, layout)}")
        lines.append(line)
        rows.append([cells[i] for i in layout.positions])
    frame = pl.DataFrame(
        rows[layout.header :], schema=dict.fromkeys(layout.parts, pl.String), orient="row"
    )
    error = find_row_error(frame)
    if error:
        raise KgflowError(f"{path}:{lines[error.row + layout.header]}: {error.message}")
    return _with_float_weights(frame)


def _column_count_message(cells: list[str], layout: ColumnLayout) -> str:
    parts = f"{', '.join(layout.parts[:-1])} and {layout.parts[-1]}"
    columns = "1 column" if len(cells) == 1 else f"{len(cells)} columns"
    return f"{columns} where {parts} are needed: correct the row {', '.join(map(repr, cells))}"


def _read_parquet(path: Path, columns: Columns | None) -> pl.DataFrame:
    try:
        names = list(pl.read_parquet_schema(path))
        layout = column_layout(names, columns, str(path))
        if len(names) <= max(layout.positions):
            raise KgflowError(f"{path}: {_column_count_message(names, layout)}")
        frame = pl.read_parquet(path, columns=[names[i] for i in layout.positions], glob=False)
        frame = frame.select(
            pl.col(names[i]).alias(p)
            if p == "weight"
            else pl.col(names[i]).cast(pl.String).alias(p)
            for i, p in zip(layout.positions, layout.parts, strict=True)
        )
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise KgflowError(
            f"{path}: not a Parquet table of names ({reason}): write it again"
        ) from None
    invalid = find_row_error(frame)
    if invalid:
        raise KgflowError(f"{path}: row {invalid.row}: {invalid.message}")
    return _with_float_weights(frame)


def _read_rdf(path: Path) -> TripleTable:
    """Read the triples between IRIs and blank nodes; a notice counts the others, with literals."""
    columns: dict[str, list[str]] = {name: [] for name in NAMES}
    left_out, names = 0, NodeNames(path.name.split(".")[0])
    for quad in _parse_rdf(path):
        head, tail = names(quad.subject), names(quad.object)
        if head is None or tail is None:
            left_out += 1
            continue
        for name, value in zip(NAMES, (head, quad.predicate.value, tail), strict=True):
            columns[name].append(value)
    notice = f"{path}: triples with literals left out: {left_out:,}"
    frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
    return TripleTable(frame, (notice,) if left_out else ())


class NodeNames:
    """Names of the nodes of one RDF graph.

    The parser gives random labels to blank nodes without a label. They are replaced by the name of
    the graph and a number, so that a file always has the same names, and other files have others.
    """

    def __init__(self, graph: str) -> None:
        self._graph = graph
        self._numbered: dict[str, str] = {}

    def __call__(self, node: Any) -> str | None:  # noqa: ANN401
        """Return an IRI as it is, a blank node as _:label, and None for anything else."""
        kind = type(node).__name__
        if kind == "NamedNode":
            return str(node.value)
        if kind != "BlankNode":
            return None
        label = str(node.value)
        if GENERATED_LABEL.fullmatch(label):
            number = f"{self._graph}.{len(self._numbered) + 1}"
            label = self._numbered.setdefault(label, number)
        return f"_:{label}"


def _parse_rdf(path: Path) -> Iterator[Any]:
    pyoxigraph = require("pyoxigraph", f"{path}: reading RDF", "rdf")
    rdf_format = getattr(pyoxigraph.RdfFormat, RDF_FORMATS[files.file_format(path)])
    try:
        yield from pyoxigraph.parse(files.read_text(path), format=rdf_format)
    except SyntaxError as error:
        reason = str(error.msg or error).rstrip(".")
        raise KgflowError(f"{path}:{error.lineno}: {reason}: correct the line") from None


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


def _with_float_weights(frame: pl.DataFrame) -> pl.DataFrame:
    if "weight" not in frame.columns:
        return frame
    return frame.with_columns(_as_floats(frame["weight"]).cast(pl.Float32))


def _as_floats(weight: pl.Series) -> pl.Series:
    if weight.dtype == pl.String:
        weight = weight.str.strip_chars()
    return weight.cast(pl.Float64, strict=False)
