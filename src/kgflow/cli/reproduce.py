"""kgflow reproduce."""

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from kgflow.cli.output import Json, check_writable, print_note, show_json
from kgflow.errors import KgflowError, suggest


def reproduce(
    what: Annotated[
        str,
        typer.Argument(
            help="small: all models on umls, nations, countries. figures: the rules NFE-1 learns."
            " uncertainty: whether it helps. confidence: what that of facts brings."
            " table1, table2, table5: the paper's, beside its numbers."
            " benchmarks: the files of experiments/benchmarks. combinations: means of their runs."
        ),
    ],
    model: Annotated[list[str], typer.Option(help="Only this model; may be repeated.")] = [],  # noqa: B006
    data: Annotated[list[str], typer.Option(help="Only this graph; may be repeated.")] = [],  # noqa: B006
    scale: Annotated[
        str, typer.Option(help="The paper's n, or half or quarter of it; the paper's tables only.")
    ] = "paper",
    seeds: Annotated[int, typer.Option(min=1, help="How many; tables and benchmarks only.")] = 1,
    out: Annotated[Path, typer.Option(help="Where the runs go.")] = Path("runs/reproduce"),
    keep: Annotated[
        Path | None,
        typer.Option(
            help="Keep settings, epochs and metrics of finished runs here, without weights; what"
            " is kept is not run again."
        ),
    ] = None,
    no_train: Annotated[
        bool, typer.Option("--no-train", help="Show what is finished or kept, run nothing.")
    ] = False,
    page: Annotated[Path | None, typer.Option(help="A file for the page, as Markdown.")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Processes at a time.")] = 1,
    json: Json = False,
) -> None:
    """Train many models and show them on one page; what is finished is not run again.

    Pictures go into a folder of the study's name, beside the page or the runs.

    Example: kgflow reproduce small --model nfe-1 --data nations

    Example: kgflow reproduce benchmarks --keep docs/results/runs --no-train
    """
    from kgflow.io import write_atomic
    from kgflow.reproduction import collect
    from kgflow.reproduction import reproduce as run_all
    from kgflow.studies import STUDIES, Options

    if what not in STUDIES:
        known = suggest(what, STUDIES) or f"; known are {', '.join(STUDIES)}"
        raise KgflowError(f"unknown study '{what}'{known}")
    if page is not None:
        check_writable(page)
    pictures = (page.parent if page is not None else out) / what
    study = STUDIES[what](out, pictures, Options(scale, seeds))
    if keep is not None and not study.keeps:
        raise KgflowError(f"{what} measures the models themselves: leave --keep out")
    plans = study.plans(model, data)
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
    found = collect(plans, out, keep) if no_train else run_all(plans, out, jobs, print_note, keep)
    results = list(found)
    for result in results:
        if result.skipped:
            plan = result.plan
            print_note(f"{plan.name or f'{plan.data}, {plan.model}'} skipped: {result.skipped}")
    shown = study.show(results)
    if page is not None:
        words = [f" --model {quote(name)}" for name in model]
        words += [f" --data {quote(name)}" for name in data]
        chosen = "".join(words)
        write_atomic(page, study.page(shown, results, chosen).encode())
    if json:
        show_json(shown.found)
    else:
        print(shown.text)
