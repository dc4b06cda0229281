"""The options by which commands take data."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgflow.cli.output import say

if TYPE_CHECKING:
    from kgflow.data import Dataset

DATA_HELP = "A catalogue name, a directory with train/valid/test files, or one file to be split."
Source = Annotated[str, typer.Argument(metavar="DATA", help=DATA_HELP)]
ColumnsText = Annotated[
    str | None,
    typer.Option(
        "--columns", help="Columns of head, relation, tail[, weight]: names or positions from 0."
    ),
]
Labels = Annotated[Path | None, typer.Option(help="File of entity labels: id TAB label.")]
Types = Annotated[Path | None, typer.Option("--types", help="File of entity types: id TAB type.")]
Strict = Annotated[
    bool, typer.Option("--strict", help="Names that occur only in valid or test are an error.")
]


def open_data(
    source: str,
    columns: str | None = None,
    labels: Path | None = None,
    types: Path | None = None,
    strict: bool = False,
) -> "Dataset":
    """Load a data set, and say what is odd about it."""
    from kgflow.data import Columns, load

    chosen = None if columns is None else Columns.parse(columns)
    data = load(source, columns=chosen, labels=labels, types=types, strict=strict)
    for notice in data.notices:
        say(f"note: {notice}")
    return data
