"""kgflow tune."""

from collections.abc import Collection
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgflow.cli.output import Device, Json, check_writable, say, show_json, table
from kgflow.cli.source import Source, open_data
from kgflow.errors import KgflowError, suggest

if TYPE_CHECKING:
    from kgflow.data import Dataset
    from kgflow.tuning import Tried

SHOWN = 10
"""Trials in the table."""


def tune(
    data: Source,
    model: Annotated[str, typer.Option(help="The model.")] = "nfe-1",
    dim: Annotated[int | None, typer.Option(help="The paper's n, for all trials.")] = None,
    trials: Annotated[
        int | None,
        typer.Option(min=1, help="How many in all [paper: 26, its end; tpe: 30; hyperband: 60]."),
    ] = None,
    protocol: Annotated[
        str,
        typer.Option(help="paper: margin, then rate, decay, batch size; tpe; or hyperband."),
    ] = "paper",
    epochs: Annotated[int | None, typer.Option(min=1, help="Of each trial.")] = None,
    reduce: Annotated[
        float, typer.Option(help="Search on a smaller graph with this share of the facts.")
    ] = 1.0,
    reduce_by: Annotated[
        str | None,
        typer.Option(help="core: the k-core; or sample: facts between random entities [core]."),
    ] = None,
    storage: Annotated[
        Path | None, typer.Option(help="An SQLite file: keeps the search, may be shared.")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Processes at a time.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Of every training.")] = 0,
    out: Annotated[Path, typer.Option(help="Where the best goes, for train --config.")] = Path(
        "tuned.toml"
    ),
    device: Device = "cpu",
    json: Json = False,
) -> None:
    """Search settings by the validation MRR, and write the best as an experiment.

    Example: kgflow tune umls --model nfe-1 --protocol tpe --trials 20 --storage umls.sqlite
    """
    check_writable(out)
    from kgflow.config import dump
    from kgflow.io import write_atomic
    from kgflow.tuning import PROTOCOLS, Search, best_experiment
    from kgflow.tuning import tune as search_all

    _known("protocol", protocol, PROTOCOLS)
    chosen: dict[str, Any] = {"name": model} | ({} if dim is None else {"dim": dim})
    training = {} if epochs is None else {"epochs": epochs}
    graph = _smaller(open_data(data), reduce, reduce_by)
    search = Search(
        graph,
        {"data": data, "seed": seed, "model": chosen, "training": training},
        PROTOCOLS[protocol],
        storage,
        device,
    )
    count = trials if trials is not None else PROTOCOLS[protocol].usual
    from kgflow.cli.progress import share_bar

    with share_bar("tuning") as progress:
        found = search_all(search, count, jobs, lambda done: progress(done / count))
    best = best_experiment(search, found)
    write_atomic(out, dump(best))
    if json:
        show_json({"out": out, "best": best.model_dump(), "trials": [asdict(t) for t in found]})
        return
    _show(found)
    print(f"the best is in {out}: kgflow train --config {out}")


def _smaller(graph: "Dataset", share: float, by: str | None) -> "Dataset":
    from kgflow.data import REDUCTIONS

    if share == 1:
        if by is not None:
            raise KgflowError("--reduce-by has no use without --reduce, such as 0.2")
        return graph
    by = by or "core"
    _known("reduction", by, REDUCTIONS)
    whole = len(graph.train)
    graph = REDUCTIONS[by](graph, share)
    say(f"note: searching on a {by}, {len(graph.train) / whole:.1%} of the facts: {graph}")
    return graph


def _known(what: str, name: str, names: Collection[str]) -> None:
    if name not in names:
        hint = suggest(name, names) or f"; known are {', '.join(names)}"
        raise KgflowError(f"unknown {what} '{name}'{hint}")


def _show(found: list["Tried"]) -> None:
    names = list(dict.fromkeys(name for trial in found for name in trial.settings))
    rows = [
        [t.number, t.state, t.mrr, *(t.settings.get(name) for name in names)] for t in found[:SHOWN]
    ]
    table(f"the best of {len(found)} trials", ["trial", "state", "mrr", *names], rows)
