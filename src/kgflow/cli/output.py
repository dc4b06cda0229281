"""Output of commands: one JSON object, or tables and text."""

import json
import math
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    import polars as pl

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Device = Annotated[str, typer.Option(help="Device to compute on: cpu, cuda, cuda:1 …")]
RunPath = Annotated[Path, typer.Argument(help="Run directory.", metavar="RUN")]

Coverage = Annotated[
    float | None,
    typer.Option(help="Coverage of prediction sets, such as 0.9."),
]
ByRelation = Annotated[
    bool, typer.Option("--by-relation", help="Guarantee the coverage for each relation and side.")
]

Adaptive = Annotated[
    bool,
    typer.Option("--adaptive", help="Use adaptive prediction sets, smaller for certain queries."),
]


def check_coverage_flags(coverage: float | None, by_relation: bool, adaptive: bool) -> None:
    """Refuse options of prediction sets without --coverage."""
    from kgflow.errors import KgflowError

    for flag, given in (("--by-relation", by_relation), ("--adaptive", adaptive)):
        if given and coverage is None:
            raise KgflowError(f"{flag} is an option of prediction sets: add --coverage")


def check_writable(path: Path) -> None:
    """Refuse an output file that cannot be written, before any work is done for it."""
    from kgflow.errors import KgflowError

    if not path.absolute().parent.is_dir():
        raise KgflowError(f"{path} cannot be written: {path.absolute().parent} does not exist")
    if path.is_dir():
        raise KgflowError(f"{path} cannot be written: it is a directory")


PLOT_FORMATS = (".png", ".svg", ".pdf")


def check_plot_file(path: Path) -> None:
    """Refuse an output file that is no plot by its extension, or that cannot be written."""
    from kgflow.errors import KgflowError

    if path.suffix.lower() not in PLOT_FORMATS:
        raise KgflowError(f"{path} is no plot file: use the extension {', '.join(PLOT_FORMATS)}")
    check_writable(path)


def say(text: str) -> None:
    """Print a remark to stderr, so that stdout has only the result."""
    print(text, file=sys.stderr)


def show_json(value: dict[str, Any]) -> None:
    """Print one JSON object; numbers that are not finite become null."""
    print(json.dumps(_plain(value), ensure_ascii=False, indent=2))


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a table, with numbers aligned right and text aligned left."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    rows = [list(row) for row in rows]
    grid = Table(title=title, box=SIMPLE_HEAD, title_justify="left", title_style="bold")
    for i, name in enumerate(columns):
        number = all(isinstance(row[i], int | float) or row[i] is None for row in rows)
        grid.add_column(name, justify="right" if number else "left")
    for row in rows:
        grid.add_row(*(_cell(value) for value in row))
    console = Console()
    # Without a terminal, such as in a file, tables are not wrapped at its width.
    console.width = console.width if console.is_terminal else 200
    console.print(grid)


def frame_rows(frame: "pl.DataFrame", names: Sequence[str]) -> list[list[Any]]:
    """Return some columns of a frame as rows."""
    return [[row[name] for name in names] for row in frame.to_dicts()]


def _cell(value: Any) -> str:  # noqa: ANN401
    from rich.markup import escape

    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.1f}" if abs(value) >= 100 else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else escape(str(value))


def _plain(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return str(value) if isinstance(value, Path) else value
