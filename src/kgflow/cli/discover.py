"""kgflow discover."""

from pathlib import Path
from typing import Annotated

import typer

from kgflow.cli.output import Device, Json, RunPath, frame_rows, print_note, show_json, table

COLUMNS = ("rank", "head_label", "relation", "tail_label", "score", "probability", "uncertainty")
TITLES = tuple(name.removesuffix("_label") for name in COLUMNS)


def discover(
    run: RunPath,
    k: Annotated[int, typer.Option("-k", help="Number of facts.")] = 100,
    relation: Annotated[str | None, typer.Option(help="Name of the relation of all facts.")] = None,
    out: Annotated[Path | None, typer.Option(help="TSV file to write instead of printing.")] = None,
    device: Device = "cpu",
    json: Json = False,
) -> None:
    """Find the most probable facts of the whole graph that are not known yet.

    The probabilities assume that as many facts are missing as validation has.

    Example: kgflow discover runs/world -k 20 --relation borders
    """
    from kgflow.runs.run import Run

    facts = Run.open(run, device).discover(k, relation)
    if out is not None:
        from kgflow.io import write_atomic

        write_atomic(out, facts.write_csv(separator="\t").encode())
    if json:
        show_json({"facts": facts.to_dicts()})
    elif out is None:
        table("new facts", TITLES, frame_rows(facts, COLUMNS))
        if not len(facts):
            print_note(
                "note: all facts are known, or contain a name that is not in the training data"
            )
