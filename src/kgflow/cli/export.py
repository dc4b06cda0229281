"""kgflow export."""

from pathlib import Path
from typing import Annotated

import typer

from kgflow.cli.output import Device, Json, RunPath, show_json

FORMATS_HELP = (
    "parquet, npz, word2vec, projector, ntriples, ntriples-reified or faiss; "
    "parquet, projector and faiss are directories."
)


def export(
    run: RunPath,
    to: Annotated[str, typer.Option(help=FORMATS_HELP)],
    out: Annotated[Path, typer.Option(help="The file or directory to write.")],
    k: Annotated[
        int | None, typer.Option("-k", help="How many facts, for ntriples; else 1,000.")
    ] = None,
    device: Device = "cpu",
    json: Json = False,
) -> None:
    """Write vectors or predicted facts for other programs.

    Example: kgflow export runs/world --to projector --out world-vectors
    """
    from kgflow.export import FORMATS
    from kgflow.export import export as write
    from kgflow.runs.run import Run

    path = write(Run.open(run, device), to, out, k)
    if json:
        show_json({"format": to, "path": path})
    else:
        print(f"written to {path}: {FORMATS[to].about}")
