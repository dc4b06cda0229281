"""kgflow discover."""

from pathlib import Path
from typing import Annotated

import typer

from kgflow.cli.output import Device, Json, RunPath, frame_rows, print_note, show_json, table

SHOWN = ("rank", "head_label", "relation", "tail_label", "score", "probability", "uncertainty")
TITLES = tuple(name.removesuffix("_label") for name in SHOWN)


def discover(
    run: RunPath,
    k: Annotated[int, typer.Option("-k", help="How many facts.")] = 100,
    relation: Annotated[str | None, typer.Option(help="Of this relation only.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write them here, TSV.")] = None,
    device: Device = "cpu",
    json: Json = False,
) -> None:
    """The most likely facts of the whole graph that it does not hold yet.

    A probability is that of a graph which lacks as many facts as validation has.

    Example: kgflow discover runs/world -k 20 --relation borders
    """
    from kgflow.runs.run import Run

    found = Run.open(run, device).discover(k, relation)
    if out is not None:
        from kgflow.io import write_atomic

        write_atomic(out, found.write_csv(separator="\t").encode())
    if json:
        show_json({"facts": found.to_dicts()})
    elif out is None:
        table("facts the graph does not hold", TITLES, frame_rows(found, SHOWN))
        if not len(found):
            print_note("note: every fact is known, or of a name that training never saw")
