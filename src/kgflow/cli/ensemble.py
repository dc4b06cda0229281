"""kgflow ensemble."""

from pathlib import Path
from typing import Annotated

import typer

from kgflow.cli.output import Device, Json, show_json


def ensemble(
    runs: Annotated[
        list[Path], typer.Argument(help="Two or more run directories.", metavar="RUN RUN…")
    ],
    out: Annotated[Path, typer.Option(help="Directory of the new run.")],
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing run.")] = False,
    device: Device = "cpu",
    json: Json = False,
) -> None:
    """Build an ensemble: a run whose scores are the means of the scores of other runs.

    The runs must have been trained on the same data; models, dimensions and seeds may differ. The
    ensemble is evaluated and calibrated, and works without the other runs. It has no entropies and
    cannot be trained further.

    Example: kgflow ensemble runs/umls-0 runs/umls-1 --out runs/umls-ensemble
    """
    from kgflow.cli.evaluate import show
    from kgflow.runs.ensemble import ensemble as build
    from kgflow.runs.store import check_free

    check_free(out, force)
    run = build(runs, out, force, device)
    names = [part.model.name for part in run.config.model.members]
    if json:
        show_json({"run": run.directory, "models": names} | run.metrics)
        return
    show(run.metrics)
    print(f"ensemble of {', '.join(names)} saved in {run.directory}")
