"""Many trainings, each with other settings, noted in a study that many may share."""

from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgflow.config import Experiment
from kgflow.data import Dataset
from kgflow.errors import KgflowError
from kgflow.models import variant
from kgflow.runs.training import best_validation, settle
from kgflow.training import Diverged, Record
from kgflow.tuning.protocol import Protocol

if TYPE_CHECKING:
    import optuna


@dataclass(frozen=True)
class Search:
    """What is searched.

    Args:
        data: the graph, reduced if it shall be.
        base: the keys of an experiment: all that is fixed, and settings before their turn.
        protocol: how.
        storage: an SQLite file that keeps the study, or None to forget it.
        device: where to train.
    """

    data: Dataset
    base: Mapping[str, Any]
    protocol: type[Protocol]
    storage: Path | None = None
    device: str = "cpu"

    def experiment(self, settings: Mapping[str, Any]) -> Experiment:
        """The experiment with these training settings."""
        training = {**self.protocol.fixed, **self.base.get("training", {}), **settings}
        return settle({**self.base, "training": training}, "tune")

    def make_protocol(self) -> Protocol:
        """The protocol, for this search's model."""
        experiment = self.experiment({})
        model = experiment.model
        matrix = not variant(model.name, model.options).card.pairwise
        return self.protocol(matrix, experiment.training.epochs)


@dataclass(frozen=True)
class Tried:
    """A trial: its number, what became of it, its settings and its best validation MRR."""

    number: int
    state: str
    settings: dict[str, Any]
    mrr: float | None


def tune(
    search: Search,
    trials: int | None = None,
    jobs: int = 1,
    progress: Callable[[int], None] = lambda done: None,
) -> list[Tried]:
    """Search, and give all trials of the study, the best first.

    Args:
        search: what is searched.
        trials: how many there shall be, those of earlier calls included; None: to the end.
        jobs: processes at a time.
        progress: told how many are done.
    """
    if jobs > 1 and search.storage is None:
        raise KgflowError("several processes share a study in a file: give --storage")
    if not len(search.data.valid):
        raise KgflowError(f"{search.data.name} has no valid facts to judge settings by")
    search.experiment({})  # refused before anything is run
    study = _open(search, seed=0)
    if jobs == 1:
        _work(study, search, trials, progress)
    else:
        with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
            list(pool.map(_join, [search] * jobs, [trials] * jobs, range(jobs)))
    return sorted(map(_tried, study.trials), key=_order)


def best_experiment(search: Search, found: list[Tried]) -> Experiment:
    """The experiment of the best trial."""
    if not found or found[0].state != "complete":
        raise KgflowError("no trial came to an end: there is nothing to choose from")
    return search.experiment(found[0].settings)


def _open(search: Search, seed: int) -> "optuna.Study":
    try:
        import optuna
    except ImportError:
        raise KgflowError("install optuna first: pip install 'kgflow[tune]'") from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    protocol = search.make_protocol()
    study = optuna.create_study(
        storage=_storage(search.storage),
        sampler=protocol.sampler(seed),
        pruner=protocol.pruner(),
        study_name="kgflow",
        direction="maximize",
        load_if_exists=True,
    )
    about = {**search.base, "protocol": search.protocol.__name__, "facts": search.data.digest()}
    if study.user_attrs.get("search", about) != about:
        raise KgflowError(f"{search.storage} holds a search for something else: take another file")
    study.set_user_attr("search", about)
    # A search that goes on must not draw again what it drew at its beginning.
    study.sampler = protocol.sampler(seed + 1000 * len(study.trials))
    return study


def _storage(path: Path | None) -> "optuna.storages.RDBStorage | None":
    if path is None:
        return None
    import optuna
    from sqlalchemy.exc import DatabaseError

    if not path.absolute().parent.is_dir():
        raise KgflowError(f"{path} cannot be written: {path.absolute().parent} does not exist")
    try:
        # Others may hold the file for a moment: that is waited for.
        wait = {"connect_args": {"timeout": 60}}
        return optuna.storages.RDBStorage(f"sqlite:///{path.absolute()}", engine_kwargs=wait)
    except DatabaseError:
        raise KgflowError(f"{path} is no study of kgflow: take another file") from None


def _join(search: Search, trials: int | None, seed: int) -> None:
    """Work on a study that others work on, too."""
    import torch

    torch.set_num_threads(1)
    _work(_open(search, seed), search, trials, lambda done: None)


def _work(
    study: "optuna.Study", search: Search, trials: int | None, progress: Callable[[int], None]
) -> None:
    protocol = search.make_protocol()
    progress(_finished(study))
    while (trials is None or _finished(study) < trials) and protocol.prepare(study):
        _try(study, search, protocol)
        progress(_finished(study))


def _try(study: "optuna.Study", search: Search, protocol: Protocol) -> None:
    import optuna

    trial = study.ask()
    try:
        experiment = search.experiment(protocol.settings(trial))
        study.tell(trial, best_validation(experiment, search.data, search.device, [Report(trial)]))
    except Diverged:
        study.tell(trial, 0.0)
    except optuna.TrialPruned:
        study.tell(trial, state=optuna.trial.TrialState.PRUNED)
    except BaseException:
        study.tell(trial, state=optuna.trial.TrialState.FAIL)
        raise


class Report:
    """A training callback: tells a trial of every validation, and ends it if it falls behind."""

    def __init__(self, trial: "optuna.Trial") -> None:
        self.trial = trial

    def on_start(self, epoch: int, batches: int) -> None:
        """Nothing to tell."""

    def on_batch(self, epoch: int, batch: int, loss: float | None) -> None:
        """Nothing to tell."""

    def on_epoch(self, record: Record) -> None:
        """Tell of the validation."""
        import optuna

        if "mrr" in record:
            self.trial.report(record["mrr"], step=int(record["epoch"]))
            if self.trial.should_prune():
                raise optuna.TrialPruned


def _finished(study: "optuna.Study") -> int:
    return sum(t.state.name in ("COMPLETE", "PRUNED") for t in study.trials)


def _tried(trial: "optuna.trial.FrozenTrial") -> Tried:
    return Tried(trial.number, trial.state.name.lower(), dict(trial.params), trial.value)


def _order(tried: Tried) -> tuple[bool, float, int]:
    """Whole trials first, and the best of them."""
    return tried.state != "complete", -(tried.mrr or 0.0), tried.number
