"""Trackers: callbacks that log a training to TensorBoard, MLflow or Weights & Biases."""

import os
import time
import weakref
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from kgflow.errors import KgflowError, require, suggest
from kgflow.training.callbacks import Callback, Record

TRACKERS: dict[str, type["Tracker"]] = {}
"""Trackers by name."""

MLFLOW_PARAMS = 100
"""Largest number of parameters in one request to MLflow."""


class Tracker(Callback):
    """Base class of trackers; `place` is a directory, an address or a project, by tracker.

    Where several trainings compete for a time limit, metrics of all but the first have the name of
    the training before their own.
    """

    name: ClassVar[str]
    first = prefix = ""

    def __init_subclass__(cls, register: bool = True) -> None:
        super().__init_subclass__()
        if register:
            TRACKERS[cls.name] = cls

    def __init__(self, place: str | Path | None = None) -> None:
        self.place = None if place is None else str(place)

    def on_training(self, name: str, epochs: int, seconds: float | None) -> None:
        self.first = self.first or name
        self.prefix = "" if name == self.first else f"{name}/"

    def on_epoch(self, record: Record) -> None:
        metrics = {f"{self.prefix}{k}": v for k, v in record.items() if k != "epoch"}
        self.log(metrics, int(record["epoch"]))

    @abstractmethod
    def log(self, metrics: Mapping[str, float], epoch: int) -> None:
        """Log the metrics of an epoch."""


def make_tracker(text: str) -> Tracker:
    """Return the tracker of NAME or NAME=PLACE.

    Example:
        >>> make_tracker("tensorbord")
        Traceback (most recent call last):
        kgflow.errors.KgflowError: unknown tracker 'tensorbord'; did you mean tensorboard?: use one
        of mlflow, tensorboard, wandb, with =PLACE if it is not the usual one
    """
    name, _, place = text.partition("=")
    if name not in TRACKERS:
        raise KgflowError(
            f"unknown tracker '{name}'{suggest(name, TRACKERS)}: use one of "
            f"{', '.join(sorted(TRACKERS))}, with =PLACE if it is not the usual one"
        )
    return TRACKERS[name](place or None)


class TensorBoard(Tracker):
    """Writes the metrics of every epoch as scalars to event files.

    Args:
        place: directory of the event files, by default runs/tensorboard.
    """

    name = "tensorboard"

    def __init__(self, place: str | Path | None = None) -> None:
        super().__init__(place or Path("runs", "tensorboard"))
        require("tensorboard", "tracking", "tensorboard")
        from torch.utils.tensorboard.writer import SummaryWriter

        self.writer = SummaryWriter(self.place)

    def log(self, metrics: Mapping[str, float], epoch: int) -> None:
        for name, value in metrics.items():
            self.writer.add_scalar(name, value, epoch)
        self.writer.flush()


class MLflow(Tracker):
    """Logs epochs, settings and the metrics of splits as a run of the experiment "kgflow".

    A training that does not finish leaves its run with the status KILLED.

    Args:
        place: directory or tracking URI, by default $MLFLOW_TRACKING_URI or runs/mlflow.
    """

    name = "mlflow"
    experiment = "kgflow"

    def __init__(self, place: str | Path | None = None) -> None:
        place = str(place or os.environ.get("MLFLOW_TRACKING_URI") or Path("runs", "mlflow"))
        super().__init__(place if ":" in place else Path(place).absolute().as_uri())
        self._mlflow = require("mlflow", "tracking", "mlflow")
        if str(self.place).startswith("file:"):
            # Newer versions refuse directories, the only local store of mlflow-skinny, without it.
            os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")
        try:
            self._client: Any = self._mlflow.MlflowClient(tracking_uri=self.place)
            self._run: str = self._client.create_run(self._experiment()).info.run_id
        except self._mlflow.MlflowException as error:
            reason = str(error).strip().split(". ")[0].splitlines()[0]
            raise KgflowError(
                f"MLflow cannot log to {self.place} ({reason}): give a directory or a server"
            ) from None
        # Also at the end of the program, so that no run seems to go on for ever.
        self._killed = weakref.finalize(self, self._client.set_terminated, self._run, "KILLED")

    def on_end(self, name: str, settings: Mapping[str, Any], metrics: Mapping[str, Any]) -> None:
        params = [self._mlflow.entities.Param(k, str(v)[:6000]) for k, v in flatten(settings)]
        for i in range(0, len(params), MLFLOW_PARAMS):
            self._client.log_batch(self._run, params=params[i : i + MLFLOW_PARAMS])
        self.log(numbers(metrics), 0)
        self._client.update_run(self._run, name=name)
        if self._killed.detach():
            self._client.set_terminated(self._run, "FINISHED")

    def _experiment(self) -> str:
        found = self._client.get_experiment_by_name(self.experiment)
        number = found.experiment_id if found else self._client.create_experiment(self.experiment)
        return str(number)

    def log(self, metrics: Mapping[str, float], epoch: int) -> None:
        now, metric = int(time.time() * 1000), self._mlflow.entities.Metric
        # MLflow allows no @ in names: hits@10 is hits_at_10.
        self._client.log_batch(
            self._run,
            metrics=[
                metric(name.replace("@", "_at_"), v, now, epoch) for name, v in metrics.items()
            ],
        )


class WeightsAndBiases(Tracker):
    """Logs epochs, settings and the metrics of splits as a run of a Weights & Biases project.

    Where it is logged, online or offline, is chosen by $WANDB_MODE and others of its own.

    Args:
        place: name of the project, by default kgflow.
    """

    name = "wandb"

    def __init__(self, place: str | Path | None = None) -> None:
        super().__init__(place or "kgflow")
        wandb = require("wandb", "tracking", "wandb")
        self._run: Any = wandb.init(project=self.place, reinit="create_new")
        self._run.define_metric("*", step_metric="epoch")

    def log(self, metrics: Mapping[str, float], epoch: int) -> None:
        # Its own steps must ascend, which epochs of several trainings do not.
        self._run.log({**metrics, "epoch": epoch})

    def on_end(self, name: str, settings: Mapping[str, Any], metrics: Mapping[str, Any]) -> None:
        self._run.name = name
        self._run.config.update(dict(settings))
        self._run.summary.update(numbers(metrics))
        self._run.finish()


def numbers(metrics: Mapping[str, Any]) -> dict[str, float]:
    """Return the numbers in nested metrics by dotted names.

    Example:
        >>> numbers({"test": {"split": "test", "realistic": {"mrr": 0.5}}})
        {'test.realistic.mrr': 0.5}
    """
    kinds = (int, float)
    return {name: float(v) for name, v in flatten(metrics) if type(v) in kinds}


def flatten(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the values of nested mappings under dotted names.

    Example:
        >>> dict(flatten({"a": {"b": 1, "c": {}}, "d": [2]}))
        {'a.b': 1, 'd': [2]}
    """
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from flatten(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
