"""kgflow reproduce."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from kgflow.cli.output import Json, say, show_json
from kgflow.errors import KgflowError, suggest


def reproduce(
    what: Annotated[
        str,
        typer.Argument(help="small: all models on umls, nations, countries; figures; uncertainty."),
    ],
    model: Annotated[list[str], typer.Option(help="Only this model; may be repeated.")] = [],  # noqa: B006
    data: Annotated[list[str], typer.Option(help="Only this graph; may be repeated.")] = [],  # noqa: B006
    out: Annotated[Path, typer.Option(help="Where the runs go.")] = Path("runs/reproduce"),
    page: Annotated[Path | None, typer.Option(help="A file for the table, as Markdown.")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Processes at a time.")] = 1,
    json: Json = False,
) -> None:
    """Train many models and show them in one table; what is finished is not run again.

    Example: kgflow reproduce small --model nfe-1 --data nations
    """
    from kgflow.cli.output import check_writable
    from kgflow.reproduction import markdown, small, uncertain
    from kgflow.reproduction import reproduce as run_all

    plans = {"small": small, "uncertainty": uncertain}
    known = [*plans, "figures"]
    if what not in known:
        hint = suggest(what, known) or f"; known are {', '.join(known)}"
        raise KgflowError(f"unknown table '{what}'{hint}")
    if what == "figures":
        from kgflow.cli.figures import reproduce_figures

        if model:
            raise KgflowError("the figures are of nfe-1: leave --model out")
        reproduce_figures(data, out, page, jobs, json)
        return
    if page is not None:
        check_writable(page)
    results = list(run_all(plans[what](model, data), out, jobs, say))
    for result in results:
        if result.skipped:
            say(f"{result.plan.data}, {result.plan.model} skipped: {result.skipped}")
    if what == "uncertainty":
        from kgflow.cli.studies import show_studies

        done = [r.plan for r in results if not r.skipped]
        show_studies({plan.command: plan.directory(out) for plan in done}, page, json)
        return
    if page is not None:
        page.write_text(_page(what, markdown(results)), encoding="utf-8")
    if json:
        found = [asdict(r) | {"command": r.plan.command} for r in results]
        show_json({"results": found})
    else:
        print(markdown(results))


def _page(what: str, table: str) -> str:
    from kgflow.provenance import provenance

    return (
        f"# All models, small graphs\n\nPrinted by `kgflow reproduce {what}`: every model with its"
        " default settings, filtered ranks on test, ties realistic; s is seconds of training.\n\n"
        f"{table}\n\n{provenance()}\n"
    )
