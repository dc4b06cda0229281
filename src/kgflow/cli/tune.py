"""kgflow tune."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from kgflow.cli.options import Device, Json, Source, open_data, option, option_groups
from kgflow.cli.output import check_writable, print_note, show_json, table
from kgflow.errors import KgflowError, suggest

if TYPE_CHECKING:
    from kgflow.data import Dataset
    from kgflow.tuning import TrialResult

SHOWN_TRIALS = 10
"""Number of trials in the printed table."""


@dataclass(frozen=True)
class TrialOptions:
    """Settings that all trials share."""

    panel: ClassVar[str] = "Trials"

    model: str = option("nfe-1", "Name of the model.")
    dim: int | None = option(None, "Dimension n of the model.")
    epochs: int | None = option(None, "Number of epochs of each trial.", min=1)
    seed: int = option(0, "Random seed of each trial.", min=0)

    def experiment(self, data: str) -> dict[str, Any]:
        """Return the keys of the experiment that are not searched."""
        model = {"name": self.model} | ({} if self.dim is None else {"dim": self.dim})
        training = {} if self.epochs is None else {"epochs": self.epochs}
        return {"data": data, "seed": self.seed, "model": model, "training": training}


@dataclass(frozen=True)
class SearchOptions:
    """Method and length of the search."""

    panel: ClassVar[str] = "Search"

    protocol: str = option(
        "paper",
        "Tuning protocol: paper (grids, one hyperparameter after the other), tpe or hyperband.",
    )
    trials: int | None = option(
        None, "Number of trials; 26 for paper, 30 for tpe, 60 for hyperband by default.", min=1
    )
    storage: Path | None = option(
        None, "SQLite file of the study, to continue it or to share it between processes."
    )
    jobs: int = option(1, "Number of parallel processes.", min=1)
    reduce: float = option(1.0, "Search on a k-core with this fraction of the triples.")


def _reduced(graph: "Dataset", share: float) -> "Dataset":
    from kgflow.data import k_core

    if share == 1:
        return graph
    core = k_core(graph, share)
    kept = len(core.train) / len(graph.train)
    print_note(f"note: searching on a k-core with {kept:.1%} of the triples: {core}")
    return core


@option_groups
def tune(
    data: Source,
    trial: TrialOptions,
    search: SearchOptions,
    out: Annotated[
        Path, typer.Option(help="File to write the best experiment to, for train --config.")
    ] = Path("tuned.toml"),
    device: Device = "cpu",
    json: Json = False,
) -> None:
    """Search hyperparameters by validation MRR, and write the best experiment.

    Example: kgflow tune umls --model nfe-1 --protocol tpe --trials 20 --storage umls.sqlite
    """
    check_writable(out)
    from kgflow.cli.progress import progress_bar
    from kgflow.config import dump
    from kgflow.io import write_atomic
    from kgflow.tuning import PROTOCOLS, HyperparameterSearch, best_experiment
    from kgflow.tuning import tune as run_search

    if search.protocol not in PROTOCOLS:
        known = f": use one of {', '.join(PROTOCOLS)}"
        hint = suggest(search.protocol, PROTOCOLS) or known
        raise KgflowError(f"unknown protocol '{search.protocol}'{hint}")
    protocol, graph = PROTOCOLS[search.protocol], _reduced(open_data(data), search.reduce)
    task = HyperparameterSearch(graph, trial.experiment(data), protocol, search.storage, device)
    count = protocol.default_trials if search.trials is None else search.trials
    with progress_bar("tuning") as progress:
        results = run_search(task, count, search.jobs, lambda done: progress(done / count))
    best = best_experiment(task, results)
    write_atomic(out, dump(best))
    if json:
        show_json({"out": out, "best": best.model_dump(), "trials": [asdict(t) for t in results]})
        return
    _print_trials(results)
    print(f"the best experiment is in {out}: kgflow train --config {out}")


def _print_trials(results: list["TrialResult"]) -> None:
    names = list(dict.fromkeys(name for trial in results for name in trial.settings))
    rows = [
        [t.number, t.state, t.mrr, *(t.settings.get(name) for name in names)]
        for t in results[:SHOWN_TRIALS]
    ]
    table(f"best of {len(results)} trials", ["trial", "state", "mrr", *names], rows)
