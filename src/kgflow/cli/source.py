"""Command-line options for data sets."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgflow.cli.output import print_note

if TYPE_CHECKING:
    from kgflow.data import Dataset

DATA_HELP = "Name of a data set, directory of train/valid/test files, or one file to split."
Source = Annotated[str, typer.Argument(metavar="DATA", help=DATA_HELP)]
ColumnsText = Annotated[
    str | None,
    typer.Option(
        "--columns",
        help="Columns of head, relation, tail and perhaps weight: names or numbers from 0.",
    ),
]
Labels = Annotated[Path | None, typer.Option(help="File of entity labels: name TAB label.")]
Types = Annotated[Path | None, typer.Option("--types", help="File of entity types: name TAB type.")]
Strict = Annotated[
    bool, typer.Option("--strict", help="Fail if a name occurs only in the valid or test split.")
]


def open_data(
    source: str,
    columns: str | None = None,
    labels: Path | None = None,
    types: Path | None = None,
    strict: bool = False,
) -> "Dataset":
    """Load a data set, and print notes on unusual properties."""
    from kgflow.data import Columns, load

    chosen = None if columns is None else Columns.parse(columns)
    data = load(source, columns=chosen, labels=labels, types=types, strict=strict)
    for notice in data.notices:
        print_note(f"note: {notice}")
    return data
