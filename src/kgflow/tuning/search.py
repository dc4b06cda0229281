"""Hyperparameter search in an optuna study, which several processes may share."""

from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import optuna

from kgflow.config import Experiment, expand, merge
from kgflow.data import Dataset
from kgflow.errors import KgflowError
from kgflow.models import variant
from kgflow.runs.build import complete
from kgflow.runs.training import best_validation
from kgflow.training import Callback, Diverged, Record
from kgflow.tuning.protocol import TuningProtocol


@dataclass(frozen=True)
class HyperparameterSearch:
    """A search for the training settings with the best validation MRR.

    Args:
        data: graph to train on, possibly a reduced one.
        base: keys of the experiment that are not searched.
        protocol: class of the tuning protocol.
        storage: SQLite file of the study, or None to keep it in memory.
        device: device to train on.
    """

    data: Dataset
    base: Mapping[str, Any]
    protocol: type[TuningProtocol]
    storage: Path | None = None
    device: str = "cpu"

    def experiment(self, settings: Mapping[str, Any]) -> Experiment:
        """Return the experiment with these training settings."""
        values = merge(expand(self.protocol.fixed_settings), self.base)
        return complete(merge(values, expand(settings)), "tune")

    def make_protocol(self) -> TuningProtocol:
        """Return the protocol for the model of this search."""
        experiment = self.experiment({})
        model = experiment.model
        inner_product = not variant(model.name, model.options).card.pairwise
        return self.protocol(inner_product, experiment.training.epochs)


@dataclass(frozen=True)
class TrialResult:
    """A trial: its number, final state, settings and best validation MRR."""

    number: int
    state: str
    settings: dict[str, Any]
    mrr: float | None


def tune(
    search: HyperparameterSearch,
    trials: int | None = None,
    jobs: int = 1,
    progress: Callable[[int], None] = lambda done: None,
) -> list[TrialResult]:
    """Run a hyperparameter search and return all trials of the study, the best first.

    Args:
        search: search to run.
        trials: number of trials including those of earlier calls, or None for all of the protocol.
        jobs: number of parallel processes.
        progress: progress callback, called with the number of finished trials.
    """
    if jobs > 1 and search.storage is None:
        raise KgflowError("several processes share a study through a file: give --storage")
    if not len(search.data.valid):
        raise KgflowError(f"{search.data.name} has no validation triples to compare settings with")
    search.experiment({})  # invalid settings fail before the first trial
    study = _open_study(search, seed=0)
    if jobs == 1:
        _run_trials(study, search, trials, progress)
    else:
        with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
            list(pool.map(_run_worker, [search] * jobs, [trials] * jobs, range(jobs)))
    return sorted(map(_result, study.trials), key=_order)


def best_experiment(search: HyperparameterSearch, results: list[TrialResult]) -> Experiment:
    """Return the experiment of the best trial."""
    if not results or results[0].state != "complete":
        raise KgflowError("no trial was completed: run more trials")
    return search.experiment(results[0].settings)


def _open_study(search: HyperparameterSearch, seed: int) -> optuna.Study:
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
    identity = {**search.base, "protocol": search.protocol.__name__, "digest": search.data.digest()}
    if study.user_attrs.get("search", identity) != identity:
        raise KgflowError(f"{search.storage} contains a different search: choose another file")
    study.set_user_attr("search", identity)
    # A continued search must not repeat the samples of its beginning.
    study.sampler = protocol.sampler(seed + 1000 * len(study.trials))
    return study


def _storage(path: Path | None) -> optuna.storages.RDBStorage | None:
    if path is None:
        return None
    from sqlalchemy.exc import DatabaseError

    if not path.absolute().parent.is_dir():
        raise KgflowError(f"{path} cannot be written: {path.absolute().parent} does not exist")
    try:
        # Another process may lock the file for a moment.
        wait = {"connect_args": {"timeout": 60}}
        return optuna.storages.RDBStorage(f"sqlite:///{path.absolute()}", engine_kwargs=wait)
    except DatabaseError:
        raise KgflowError(f"{path} is not a kgflow study: choose another file") from None


def _run_worker(search: HyperparameterSearch, trials: int | None, seed: int) -> None:
    """Run trials of a study that other processes work on, too."""
    import torch

    torch.set_num_threads(1)
    _run_trials(_open_study(search, seed), search, trials, lambda done: None)


def _run_trials(
    study: optuna.Study,
    search: HyperparameterSearch,
    trials: int | None,
    progress: Callable[[int], None],
) -> None:
    protocol = search.make_protocol()
    progress(_finished(study))
    while (trials is None or _finished(study) < trials) and protocol.enqueue_next(study):
        _run_trial(study, search, protocol)
        progress(_finished(study))


def _run_trial(study: optuna.Study, search: HyperparameterSearch, protocol: TuningProtocol) -> None:
    trial = study.ask()
    try:
        experiment = search.experiment(protocol.suggest_settings(trial))
        callbacks = [PruningCallback(trial)]
        study.tell(trial, best_validation(experiment, search.data, search.device, callbacks))
    except Diverged:
        study.tell(trial, 0.0)
    except optuna.TrialPruned:
        study.tell(trial, state=optuna.trial.TrialState.PRUNED)
    except BaseException:
        study.tell(trial, state=optuna.trial.TrialState.FAIL)
        raise


class PruningCallback(Callback):
    """A training callback that reports each validation MRR and stops a pruned trial."""

    def __init__(self, trial: optuna.Trial) -> None:
        self.trial = trial

    def on_epoch(self, record: Record) -> None:
        """Report the validation MRR, if the epoch has one."""
        if "mrr" in record:
            self.trial.report(record["mrr"], step=int(record["epoch"]))
            if self.trial.should_prune():
                raise optuna.TrialPruned


def _finished(study: optuna.Study) -> int:
    return sum(t.state.name in ("COMPLETE", "PRUNED") for t in study.trials)


def _result(trial: optuna.trial.FrozenTrial) -> TrialResult:
    return TrialResult(trial.number, trial.state.name.lower(), dict(trial.params), trial.value)


def _order(trial: TrialResult) -> tuple[bool, float, int]:
    """Return a sort key: completed trials first, by descending MRR."""
    return trial.state != "complete", -(trial.mrr or 0.0), trial.number
