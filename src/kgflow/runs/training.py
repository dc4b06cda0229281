"""Trains experiments and resumes interrupted ones."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from kgflow.config import Experiment, expand
from kgflow.data import Dataset, load, split_validation
from kgflow.errors import KgflowError
from kgflow.evaluation import rank
from kgflow.models import Model
from kgflow.runs.build import complete, make_loss, make_model
from kgflow.runs.run import Run
from kgflow.runs.store import new_run, read_run, run_config, write_metrics
from kgflow.runs.update_log import read_updates
from kgflow.training import Callback, History, Trainer, save_model


def train(
    data: Dataset | str | Path,
    model: str | None = None,
    dim: int | None = None,
    *,
    epochs: int | None = None,
    batch_size: int | None = None,
    lr: float | None = None,
    loss: str | None = None,
    seed: int | None = None,
    settings: Mapping[str, Any] | None = None,
    out: str | Path | None = None,
    force: bool = False,
    device: str = "cpu",
    callbacks: Sequence[Callback] = (),
) -> Run:
    """Train a model, keep its best epoch, evaluate it and calibrate it.

    Args:
        data: Data set, or what `kgflow.load` takes.
        model: Model name.
        dim: Embedding dimension, the paper's n.
        epochs: Number of training epochs.
        batch_size: Triples per batch.
        lr: Learning rate.
        loss: Name of the loss.
        seed: Random seed.
        settings: Further settings by key, nested or dotted: ``{"training.loss.margin": 2.0}``;
            `kgflow settings` lists all.
        out: Run directory; ``runs/<data>-<model>-<date>`` if not given.
        force: Replace an existing run.
        device: Torch device: "cpu", "cuda", …
        callbacks: Callbacks for batches and epochs.
    """
    dataset = data if isinstance(data, Dataset) else load(data)
    arguments = {
        "model.name": model,
        "model.dim": dim,
        "training.epochs": epochs,
        "training.batch_size": batch_size,
        "training.optimizer.lr": lr,
        "training.loss.name": loss,
        "seed": seed,
    }
    given = {k: v for k, v in arguments.items() if v is not None}
    given["data"] = data.name if isinstance(data, Dataset) else str(data)
    values = expand({**(settings or {}), **given})
    return run_experiment(complete(values, "train"), dataset, out, force, device, callbacks)


def run_experiment(
    experiment: Experiment,
    data: Dataset,
    out: str | Path | None = None,
    force: bool = False,
    device: str = "cpu",
    callbacks: Sequence[Callback] = (),
    stop: Callable[[], bool] = lambda: False,
) -> Run:
    """Train an experiment from the beginning."""
    _check_trainable(experiment, f"'{experiment.model.name}'")
    if not len(data.train):
        raise KgflowError(f"{data.name} has no training facts")
    directory = Path(out) if out is not None else _default_directory(experiment)
    config, model = run_config(experiment, data), _initial_model(experiment, data, device)
    with new_run(directory, config, data, force) as draft:
        trainer = _trainer(draft, experiment, data, model, stop)
        # The initial state is a checkpoint too, so that a run can be resumed from any moment.
        trainer.save()
        save_model(trainer.best_file, model)
    trainer.directory = directory
    return _finish(Run(directory, config, data, model), trainer, callbacks)


def best_validation(
    experiment: Experiment,
    data: Dataset,
    device: str = "cpu",
    callbacks: Sequence[Callback] = (),
) -> float:
    """Return the best validation MRR of an experiment without keeping a run."""
    _check_trainable(experiment, f"'{experiment.model.name}'")
    model = _initial_model(experiment, data, device)
    with TemporaryDirectory() as directory:
        trainer = _trainer(Path(directory), experiment, data, model)
        trainer.callbacks = callbacks
        return trainer.fit().best


def resume(
    directory: str | Path,
    device: str = "cpu",
    callbacks: Sequence[Callback] = (),
    stop: Callable[[], bool] = lambda: False,
) -> Run:
    """Resume a run from its last checkpoint, to the results of an uninterrupted training."""
    directory = Path(directory)
    config, data = read_run(directory)
    _check_trainable(config, str(directory))
    if read_updates(directory).updates:
        raise KgflowError(f"{directory} was updated after its training: train its facts anew")
    run = Run(directory, config, data, make_model(config, data, device))
    trainer = _trainer(directory, config, data, run.model, stop)
    trainer.resume()
    return _finish(run, trainer, callbacks)


def _finish(run: Run, trainer: Trainer, callbacks: Sequence[Callback]) -> Run:
    history = History(run.directory / "history.jsonl", trainer.progress.epoch)
    trainer.callbacks = (history, *callbacks)
    trainer.fit()
    run.load_best()
    return evaluate_and_calibrate(run)


def evaluate_and_calibrate(run: Run) -> Run:
    """Write the metrics of the validation and test splits and the calibration of a run."""
    evaluate(run)
    if len(run.data.valid):
        run.calibrate()
    return run


def evaluate(run: Run) -> None:
    """Write the metrics of the validation and test splits of a run."""
    for split in ("valid", "test"):
        if len(run.data.split(split)):
            write_metrics(run.directory, split, run.evaluate(split).to_dict())


def _check_trainable(experiment: Experiment, what: str) -> None:
    if experiment.model.members:
        raise KgflowError(f"{what} is an ensemble and cannot be trained: train its runs")


def _initial_model(experiment: Experiment, data: Dataset, device: str) -> Model:
    torch.manual_seed(experiment.seed)
    model = make_model(experiment, data, device)
    tables = (model.trained.entity, model.trained.relation)
    with torch.no_grad():
        for parameter in (p for table in tables for p in table.parameters()):
            parameter.mul_(experiment.training.init_scale)
    return model


def _trainer(
    directory: Path,
    experiment: Experiment,
    data: Dataset,
    model: Model,
    stop: Callable[[], bool] = lambda: False,
) -> Trainer:
    training, seed = experiment.training, experiment.seed
    loss = make_loss(training, model, data.queries("train"))
    selection, _ = split_validation(data.valid, training.conformal_fraction, seed)
    known, queries = data.queries(), data.index(selection)

    def validate() -> dict[str, float]:
        return rank(model, queries, known).metrics()["realistic"].to_dict()

    validator = validate if len(queries) else None
    return Trainer(model, loss, training, seed, validator, directory, stop)


def _default_directory(experiment: Experiment) -> Path:
    data = Path(experiment.data).name.split(".")[0]
    now = datetime.now().strftime("%Y%m%d-%H%M%S")
    return Path("runs") / f"{data}-{experiment.model.name}-{now}"
