"""What commands print: one JSON object, or something for people."""

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
Device = Annotated[str, typer.Option(help="Where to compute: cpu, cuda, cuda:1 …")]
RunPath = Annotated[Path, typer.Argument(help="A run directory.", metavar="RUN")]

Coverage = Annotated[
    float | None,
    typer.Option(help="Answer sets that hold the missing answer with this probability: 0.9."),
]
ByRelation = Annotated[
    bool, typer.Option("--by-relation", help="Promise the coverage for each relation and side.")
]

Adaptive = Annotated[
    bool, typer.Option("--adaptive", help="Answer sets that are smaller where the model is sure.")
]


def check_coverage_flags(coverage: float | None, by_relation: bool, adaptive: bool) -> None:
    """Refuse what only makes sense of answer sets, without them."""
    from kgflow.errors import KgflowError

    for flag, given in (("--by-relation", by_relation), ("--adaptive", adaptive)):
        if given and coverage is None:
            raise KgflowError(f"{flag} says how --coverage is promised: give both")


def check_writable(path: Path) -> None:
    """Refuse an output file that cannot be written, before any work is done for it."""
    from kgflow.errors import KgflowError

    if not path.absolute().parent.is_dir():
        raise KgflowError(f"{path} cannot be written: {path.absolute().parent} does not exist")
    if path.is_dir():
        raise KgflowError(f"{path} cannot be written: it is a directory")


PICTURES = (".png", ".svg", ".pdf")


def check_picture(path: Path) -> None:
    """Refuse a file that is no picture by its name, or that cannot be written."""
    from kgflow.errors import KgflowError

    if path.suffix.lower() not in PICTURES:
        raise KgflowError(f"{path} is no picture: let it end in {', '.join(PICTURES)}")
    check_writable(path)


def say(text: str) -> None:
    """A remark for people; it goes to stderr, so that stdout stays the answer."""
    print(text, file=sys.stderr)


def show_json(value: dict[str, Any]) -> None:
    """The one JSON object; numbers that are not finite become null."""
    print(json.dumps(_plain(value), ensure_ascii=False, indent=2))


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A table; numbers stand right, words left."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    rows = [list(row) for row in rows]
    grid = Table(title=title, box=SIMPLE_HEAD, title_justify="left", title_style="bold")
    for place, name in enumerate(columns):
        number = all(isinstance(row[place], int | float) or row[place] is None for row in rows)
        grid.add_column(name, justify="right" if number else "left")
    for row in rows:
        grid.add_row(*(_cell(value) for value in row))
    console = Console()
    # Piped into a file or a pager, a table is as wide as it needs to be.
    console.width = console.width if console.is_terminal else 200
    console.print(grid)


def frame_rows(frame: "pl.DataFrame", names: Sequence[str]) -> list[list[Any]]:
    """Some columns of a frame, row by row."""
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
