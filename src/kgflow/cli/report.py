"""kgflow report."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgflow.cli.options import Device, Json, Split
from kgflow.cli.output import check_writable, show_json
from kgflow.errors import KgflowError

if TYPE_CHECKING:
    from kgflow.analysis.report import Report


def report(
    runs: Annotated[
        list[Path], typer.Argument(help="One or more run directories.", metavar="RUN...")
    ],
    out: Annotated[Path, typer.Option(help="HTML file to write.")],
    entity: Annotated[
        list[str] | None,
        typer.Option(help="Name or label of an entity to show (repeatable, at most six)."),
    ] = None,
    split: Split = "test",
    device: Device = "cpu",
    json: Json = False,
) -> None:
    """Write an HTML report on a run, or on several runs on the same data.

    The page is self-contained. Its plots are also written as PNG into a folder beside it, whose
    name ends in _files. Other runs are compared with the first.

    Example: kgflow report runs/world --out world.html --entity France
    """
    from kgflow.cli.progress import progress_bar

    _check_out(out)
    from kgflow.analysis.report import write_report
    from kgflow.runs.run import Run

    opened = [Run.open(run, device) for run in runs]
    with progress_bar("report") as progress:
        written = write_report(opened, out, split, entity or (), progress)
    if json:
        show_json(_to_dict(written))
    else:
        plots = f" and {len(written.plots)} plots to {written.plots[0].parent}"
        print(f"report written to {out}{plots if written.plots else ''}")


def _check_out(out: Path) -> None:
    check_writable(out)
    from kgflow.analysis.report.page import plot_folder

    folder = plot_folder(out)
    if folder.exists() and not folder.is_dir():
        raise KgflowError(f"{folder} is not a directory: plots go there, so choose another --out")


def _to_dict(written: "Report") -> dict[str, Any]:
    context = written.context
    names = context.names
    return {
        "report": written.page,
        "bytes": written.page.stat().st_size,
        "plots": list(written.plots),
        "sections": list(written.sections),
        "split": context.split,
        "runs": [
            {"name": name, "run": run.directory, "model": run.config.model.name, **e["realistic"]}
            for name, run, e in zip(names, context.runs, context.evaluations, strict=True)
        ],
        "comparisons": [
            {"first": names[0], "second": name, "difference": c.difference.mean}
            | {"low": c.difference.low, "high": c.difference.high}
            | {"wins": c.wins, "ties": c.ties, "losses": c.losses}
            for name, c in zip(names[1:], context.comparisons, strict=True)
        ],
    }
