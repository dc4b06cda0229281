"""Printed output of commands: one JSON object, or tables and notes."""

import json
import math
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgflow.errors import KgflowError

if TYPE_CHECKING:
    import polars as pl


def check_writable(path: Path) -> None:
    """Raise an error if an output file cannot be written, before the work begins."""
    if not path.absolute().parent.is_dir():
        raise KgflowError(f"{path} cannot be written: {path.absolute().parent} does not exist")
    if path.is_dir():
        raise KgflowError(f"{path} cannot be written: it is a directory")


IMAGE_SUFFIXES = (".png", ".svg", ".pdf")


def check_image_path(path: Path) -> None:
    """Raise an error if a path is not that of an image, or cannot be written."""
    if path.suffix.lower() not in IMAGE_SUFFIXES:
        raise KgflowError(
            f"{path} is not an image: use a name that ends in {', '.join(IMAGE_SUFFIXES)}"
        )
    check_writable(path)


def write_tsv(path: Path, frame: "pl.DataFrame") -> None:
    """Write a data frame to a TSV file."""
    from kgflow.io import write_atomic

    write_atomic(path, frame.write_csv(separator="\t").encode())


def print_note(text: str) -> None:
    """Print a note to stderr, so that stdout holds the result only."""
    print(text, file=sys.stderr)


def show_json(value: dict[str, Any]) -> None:
    """Print one JSON object, in which numbers that are not finite are null."""
    print(json.dumps(_plain(value), ensure_ascii=False, indent=2))


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a table with numbers aligned right and text aligned left."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    rows = [list(row) for row in rows]
    grid = Table(title=escape(title), box=SIMPLE_HEAD, title_justify="left", title_style="bold")
    for i, name in enumerate(columns):
        number = all(isinstance(row[i], int | float) or row[i] is None for row in rows)
        grid.add_column(name, justify="right" if number else "left")
    for row in rows:
        grid.add_row(*(_cell(value) for value in row))
    console = Console()
    # In a pipe or a file, the table needs no line breaks.
    console.width = console.width if console.is_terminal else 200
    console.print(grid)


def frame_rows(frame: "pl.DataFrame", names: Sequence[str]) -> list[list[Any]]:
    """Return some columns of a data frame as a list of rows."""
    return [[row[name] for name in names] for row in frame.to_dicts()]


def _cell(value: Any) -> str:  # noqa: ANN401
    from rich.markup import escape

    from kgflow.data import short_name

    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.1f}" if abs(value) >= 100 else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else escape(short_name(str(value)))


def _plain(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return str(value) if isinstance(value, Path) else value


def clock(seconds: float) -> str:
    """Return a duration for people.

    Example:
        >>> clock(75), clock(3700)
        ('1:15', '1:01:40')
    """
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
