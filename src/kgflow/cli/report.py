"""kgflow report."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgflow.cli.output import Device, Json, check_writable, show_json
from kgflow.errors import KgflowError

if TYPE_CHECKING:
    from kgflow.analysis.report import Report


def report(
    runs: Annotated[list[Path], typer.Argument(help="Run directories.", metavar="RUN...")],
    out: Annotated[Path, typer.Option(help="Write the page here, an HTML file.")],
    entity: Annotated[
        list[str] | None,
        typer.Option(help="Show this entity, by name or label (repeatable, at most six)."),
    ] = None,
    split: Annotated[str, typer.Option(help="train, valid or test.")] = "test",
    device: Device = "cpu",
    json: Json = False,
) -> None:
    """One HTML file on a run, or on several of the same data side by side.

    The file needs no other and no network; its pictures are also written as PNG, into a folder
    beside it that ends in _files. Further runs are compared with the first.

    Example: kgflow report runs/world --out world.html --entity France
    """
    from kgflow.cli.progress import progress_bar

    _check(out)
    from kgflow.analysis.report import write_report
    from kgflow.runs.run import Run

    opened = [Run.open(run, device) for run in runs]
    with progress_bar("report") as progress:
        written = write_report(opened, out, split, entity or (), progress)
    if json:
        show_json(_numbers(written))
    else:
        beside = f" and {len(written.pictures)} pictures in {written.pictures[0].parent}"
        print(f"report written to {out}{beside if written.pictures else ''}")


def _check(out: Path) -> None:
    check_writable(out)
    from kgflow.analysis.report.page import folder

    beside = folder(out)
    if beside.exists() and not beside.is_dir():
        raise KgflowError(f"{beside} is no directory: pictures go there, so choose another --out")


def _numbers(written: "Report") -> dict[str, Any]:
    subject = written.subject
    names = subject.names
    return {
        "report": written.page,
        "bytes": written.page.stat().st_size,
        "pictures": list(written.pictures),
        "sections": list(written.sections),
        "split": subject.split,
        "runs": [
            {"name": name, "run": run.directory, "model": run.config.model.name, **e["realistic"]}
            for name, run, e in zip(names, subject.runs, subject.evaluations, strict=True)
        ],
        "comparisons": [
            {
                "first": names[0],
                "second": name,
                "difference": found.difference.mean,
                "low": found.difference.low,
                "high": found.difference.high,
                "wins": found.wins,
                "ties": found.ties,
                "losses": found.losses,
            }
            for name, found in zip(names[1:], subject.comparisons, strict=True)
        ],
    }
