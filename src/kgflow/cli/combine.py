"""kgflow combine."""

from pathlib import Path
from typing import Annotated

import typer

from kgflow.cli.output import Device, Json, show_json


def combine(
    runs: Annotated[list[Path], typer.Argument(help="Run directories.", metavar="RUN RUN…")],
    out: Annotated[Path, typer.Option(help="The new run directory.")],
    force: Annotated[bool, typer.Option("--force", help="Replace a run that is there.")] = False,
    device: Device = "cpu",
    json: Json = False,
) -> None:
    """Make one run of several: its scores are the means of theirs.

    Runs of other seeds or models, trained on the same data, are often better together than each of
    them. The new run needs the others no more; it knows no uncertainty and is not trained.

    Example: kgflow combine runs/umls-0 runs/umls-1 --out runs/umls-both
    """
    from kgflow.cli.evaluate import show
    from kgflow.runs.ensemble import combine as make
    from kgflow.runs.store import check_free

    check_free(out, force)
    run = make(runs, out, force, device)
    names = [part.model.name for part in run.config.model.members]
    if json:
        show_json({"run": run.directory, "models": names} | run.metrics)
        return
    show(run.metrics)
    print(f"mean of {', '.join(names)} saved in {run.directory}")
