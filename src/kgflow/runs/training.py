"""Trains experiments and resumes interrupted ones."""

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from kgflow.config import Experiment
from kgflow.data import Dataset, split_validation
from kgflow.errors import KgflowError
from kgflow.evaluation import rank
from kgflow.models import Model
from kgflow.runs.build import make_loss, make_model
from kgflow.runs.run import Run
from kgflow.runs.store import new_run, read_run, run_config, write_metrics
from kgflow.runs.update_log import read_updates
from kgflow.training import Callback, History, Trainer, save_model


class Session:
    """A training in a run directory, which can be done in several parts.

    Args:
        run: Run, whose model is trained.
        trainer: Trainer of the model.
    """

    def __init__(self, run: Run, trainer: Trainer) -> None:
        self.run, self.trainer = run, trainer

    @classmethod
    def new(
        cls,
        experiment: Experiment,
        data: Dataset,
        directory: Path,
        force: bool = False,
        device: str = "cpu",
        preset: str = "",
    ) -> "Session":
        """Create a run directory with the initial state of a training."""
        _check_trainable(experiment, f"'{experiment.model.name}'")
        if not len(data.train):
            raise KgflowError(f"{data.name} has no training facts")
        config = run_config(experiment, data, preset)
        model = initial_model(experiment, data, device)
        with new_run(directory, config, data, force) as draft:
            trainer = make_trainer(draft, experiment, data, model)
            # The initial state is a checkpoint too, so that a run can be resumed from any moment.
            trainer.save()
            save_model(trainer.best_file, model)
        trainer.directory = directory
        return cls(Run(directory, config, data, model), trainer)

    @classmethod
    def reopen(
        cls, directory: Path, device: str = "cpu", experiment: Experiment | None = None
    ) -> "Session":
        """Open a run directory at its last checkpoint; `experiment` has changed settings."""
        config, data = read_run(directory)
        _check_trainable(config, str(directory))
        if read_updates(directory).updates:
            raise KgflowError(f"{directory} was updated after its training: train its facts anew")
        run = Run(directory, config, data, make_model(config, data, device))
        trainer = make_trainer(directory, experiment or config, data, run.model)
        trainer.resume()
        return cls(run, trainer)

    def fit(
        self,
        callbacks: Sequence[Callback] = (),
        stop: Callable[[], bool] = lambda: False,
        deadline: float | None = None,
    ) -> Run:
        """Train to the end or to a deadline, a time of `time.monotonic`; load the best epoch."""
        trainer = self.trainer
        history = History(self.run.directory / "history.jsonl", trainer.progress.epoch)
        trainer.callbacks, trainer.stop = (history, *callbacks), stop
        trainer.deadline = deadline
        trainer.fit()
        self.run.load_best()
        return self.run


def run_experiment(
    experiment: Experiment,
    data: Dataset,
    out: str | Path | None = None,
    force: bool = False,
    device: str = "cpu",
    callbacks: Sequence[Callback] = (),
    stop: Callable[[], bool] = lambda: False,
    preset: str = "",
) -> Run:
    """Train an experiment from the beginning; `preset` is where its settings come from."""
    directory = Path(out) if out is not None else default_directory(experiment)
    session = Session.new(experiment, data, directory, force, device, preset)
    for callback in callbacks:
        callback.on_training(experiment.model.name, experiment.training.epochs, None)
    return evaluate_and_calibrate(session.fit(callbacks, stop), callbacks)


def best_validation(
    experiment: Experiment,
    data: Dataset,
    device: str = "cpu",
    callbacks: Sequence[Callback] = (),
) -> float:
    """Return the best validation MRR of an experiment without keeping a run."""
    _check_trainable(experiment, f"'{experiment.model.name}'")
    model = initial_model(experiment, data, device)
    with TemporaryDirectory() as directory:
        trainer = make_trainer(Path(directory), experiment, data, model)
        trainer.callbacks = callbacks
        return trainer.fit().best


def resume(
    directory: str | Path,
    device: str = "cpu",
    callbacks: Sequence[Callback] = (),
    stop: Callable[[], bool] = lambda: False,
) -> Run:
    """Resume a run from its last checkpoint, to the results of an uninterrupted training."""
    session = Session.reopen(Path(directory), device)
    for callback in callbacks:
        callback.on_training(session.run.config.model.name, session.trainer.settings.epochs, None)
    return evaluate_and_calibrate(session.fit(callbacks, stop), callbacks)


def evaluate_and_calibrate(run: Run, callbacks: Sequence[Callback] = ()) -> Run:
    """Write the metrics of the validation and test splits and the calibration of a run."""
    evaluate(run)
    if len(run.data.valid):
        run.calibrate()
    return end_training(run, callbacks)


def end_training(run: Run, callbacks: Sequence[Callback]) -> Run:
    """Tell callbacks the settings and the metrics of a run."""
    for callback in callbacks:
        callback.on_end(run.directory.name, run.config.model_dump(mode="json"), run.metrics)
    return run


def evaluate(run: Run) -> None:
    """Write the metrics of the validation and test splits of a run."""
    for split in ("valid", "test"):
        if len(run.data.split(split)):
            write_metrics(run.directory, split, run.evaluate(split).to_dict())


def _check_trainable(experiment: Experiment, what: str) -> None:
    if experiment.model.members:
        raise KgflowError(f"{what} is an ensemble and cannot be trained: train its runs")


def initial_model(experiment: Experiment, data: Dataset, device: str = "cpu") -> Model:
    """Create the model of an experiment with its initial parameters."""
    torch.manual_seed(experiment.seed)
    model = make_model(experiment, data, device)
    tables = (model.trained.entity, model.trained.relation)
    with torch.no_grad():
        for parameter in (p for table in tables for p in table.parameters()):
            parameter.mul_(experiment.training.init_scale)
    return model


def make_trainer(directory: Path, experiment: Experiment, data: Dataset, model: Model) -> Trainer:
    """Create the trainer of a model, which validates on the validation triples not held out."""
    training, seed = experiment.training, experiment.seed
    loss = make_loss(training, model, data.queries("train"))
    selection, _ = split_validation(data.valid, training.conformal_fraction, seed)
    known, queries = data.queries(), data.index(selection)

    def validate() -> dict[str, float]:
        return rank(model, queries, known).metrics()["realistic"].to_dict()

    validator = validate if len(queries) else None
    return Trainer(model, loss, training, seed, validator, directory)


def default_directory(experiment: Experiment) -> Path:
    """Return the directory of a run for which none was given."""
    data = Path(experiment.data).name.split(".")[0]
    now = datetime.now().strftime("%Y%m%d-%H%M%S")
    return Path("runs") / f"{data}-{experiment.model.name}-{now}"
