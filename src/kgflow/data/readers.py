"""Readers of triples as tables of names: TSV, CSV and Parquet, and all other formats."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from kgflow.data import files
from kgflow.data.columns import ColumnLayout, Columns, column_layout
from kgflow.data.iri import RdfOptions
from kgflow.data.tables import TripleTable, find_row_error, with_float_weights
from kgflow.errors import KgflowError


def read_table(
    path: Path, columns: Columns | None = None, rdf: RdfOptions | None = None
) -> TripleTable:
    """Read the triples of one file of any supported format, or of a store, as names."""
    table = _read(path, columns, rdf)
    if table.frame.is_empty() and not table.nodes:
        raise KgflowError(f"{path}: contains no triples: give a file with at least one")
    return table


def _read(path: Path, columns: Columns | None, options: RdfOptions | None) -> TripleTable:
    from kgflow.data import property_graph, rdf

    if files.is_store(path):
        return rdf.read_store(path, options)
    if "," in str(path) and not path.exists():
        return property_graph.read_neo4j([Path(part) for part in str(path).split(",")])
    files.require_readable(path)
    suffix = files.file_format(path)
    if columns is not None and suffix in (*files.RDF, *files.JSON_LINES):
        raise KgflowError(f"{path}: there are no columns to choose from: leave out --columns")
    if suffix in files.RDF:
        return rdf.read_rdf(path, options)
    if suffix in files.JSON_LINES:
        return property_graph.read_apoc(path)
    if suffix == ".parquet":
        return TripleTable(_read_parquet(path, columns))
    return _read_text(path, columns)


def _read_text(path: Path, columns: Columns | None) -> TripleTable:
    from kgflow.data import property_graph

    content = files.read_text(path)
    line, first = next(files.text_rows(path, content), (1, []))
    if not first:
        return TripleTable(pl.DataFrame())
    if columns is None and property_graph.is_neo4j_header(first):
        return property_graph.read_neo4j([path])
    layout = column_layout(first, columns, f"{path}:{line}")
    separator = files.SEPARATORS[files.file_format(path)]
    frame = _read_at_once(content, separator, len(first), layout)
    return TripleTable(_read_by_row(path, content, layout) if frame is None else frame)


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
    return None if find_row_error(frame) else with_float_weights(frame)


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
    return with_float_weights(frame)


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
    return with_float_weights(frame)
