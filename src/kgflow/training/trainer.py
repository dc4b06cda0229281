"""The training loop."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kgflow.config import TrainingSettings
from kgflow.errors import KgflowError
from kgflow.models import Model
from kgflow.training.batches import Batch, epoch_batches
from kgflow.training.callbacks import Callback
from kgflow.training.checkpoint import Progress, TrainingState, save_model
from kgflow.training.ema import MovingAverage
from kgflow.training.losses.base import Loss
from kgflow.training.optimizers import LrScheduleSettings, OptimizerSettings

LOSS_EVERY = 8
"""Batches between computations of the loss; its gradient is computed in every batch."""
SMALL = 2**20
"""Scores of a batch up to which the loss is cheap and always computed."""


class Interrupted(KgflowError):  # noqa: N818
    """Training was interrupted and has saved its state."""

    exit_code = 130


class Diverged(KgflowError):  # noqa: N818
    """The loss or a parameter became infinite or not a number."""

    exit_code = 1


class Trainer:
    """Trains a model with an optimizer over batches of facts, and keeps the best epoch.

    After every epoch the whole state is written to ``checkpoint/last.safetensors`` and, if the
    validation improved, the model to ``model.safetensors``; an interrupted training resumes from
    there to bit-identical results. The order of an epoch depends on the seed and the epoch only,
    and random draws of a batch on the seed, the epoch and the batch.

    Args:
        model: Model to train.
        loss: Loss of the model on batches of its training queries.
        settings: Training settings.
        seed: Random seed.
        validate: Function that returns the model's metrics, ``mrr`` among them, or None to keep
            the last epoch.
        directory: Directory of the two files.
        stop: Function called after every batch; True interrupts the training with its state saved.
    """

    def __init__(
        self,
        model: Model,
        loss: Loss,
        settings: TrainingSettings,
        seed: int,
        validate: Callable[[], dict[str, float]] | None,
        directory: Path,
        stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self.model, self.loss, self.settings, self.seed = model, loss, settings, seed
        self.validate, self.directory, self.stop = validate, directory, stop
        self.callbacks: Sequence[Callback] = ()
        self.deadline: float | None = None
        """Time of `time.monotonic` at which training ends, within an epoch if need be."""
        chosen = settings.optimizer
        assert isinstance(chosen, OptimizerSettings)
        assert isinstance(settings.lr_schedule, LrScheduleSettings)
        self.lr, self.lr_schedule = chosen.lr, settings.lr_schedule
        self.optimizer = chosen.build(model.parameters())
        self.row_update = chosen.row_update(self.optimizer, model.entity.weight)
        self.average = MovingAverage(model, settings.ema_decay)
        self.state = TrainingState(
            model, self.optimizer, chosen.initial_state, self.average, Progress()
        )

    @property
    def progress(self) -> Progress:
        """Finished epochs and batches."""
        return self.state.progress

    @property
    def best_file(self) -> Path:
        """File of the model of the best epoch."""
        return self.directory / "model.safetensors"

    @property
    def last_file(self) -> Path:
        """File of the state after the last epoch."""
        return self.directory / "checkpoint" / "last.safetensors"

    def resume(self) -> None:
        """Load the last checkpoint."""
        self.state.load(self.last_file)

    def save(self) -> None:
        """Write a checkpoint."""
        self._check_finite()
        self.last_file.parent.mkdir(exist_ok=True)
        self.state.save(self.last_file)

    def fit(self) -> Progress:
        """Train to the end; `Interrupted` and `Diverged` leave the last good state saved.

        At the deadline the epoch ends with the batches it has, at least one, and is validated.
        """
        while not self.finished:
            self._epoch()
            if self._late:
                break
        return self.progress

    @property
    def finished(self) -> bool:
        """Whether no epoch is left, or the validation stopped to improve."""
        return self.progress.done or self.progress.epoch >= self.settings.epochs

    @property
    def _late(self) -> bool:
        return self.deadline is not None and time.monotonic() >= self.deadline

    def _epoch(self) -> None:
        progress = self.progress
        order = self.order()
        for callback in self.callbacks:
            callback.on_start(progress.epoch + 1, len(order))
        self.model.train()
        # Resumed after the last batch, the epoch still ends with that batch's learning rate.
        self._set_lr(max(0, progress.batch - 1), len(order))
        for facts in order[progress.batch :]:
            self._set_lr(progress.batch, len(order))
            self.step(Batch.of_facts(self.loss.index, facts))
            if self.stop():
                self.save()
                raise Interrupted(
                    f"interrupted and saved: resume with kgflow train --resume {self.directory}"
                )
            if self._late:
                break
        self._end_epoch()

    def order(self) -> list[NDArray[np.int64]]:
        """Return the facts of each batch of the current epoch."""
        settings, index = self.settings, self.loss.index
        size, epoch = settings.batch_size, self.progress.epoch
        return epoch_batches(settings.batches, index, size, self.seed, epoch)

    def _set_lr(self, batch: int, batches: int) -> None:
        # At the middle of the batch, so that the last batch has a learning rate above 0.
        epoch = self.progress.epoch + (batch + 0.5) / batches
        factor = self.lr_schedule.factor(epoch, self.settings.epochs)
        for group in self.optimizer.param_groups:
            group["lr"] = self.lr * factor

    def step(self, batch: Batch) -> None:
        """Train on a batch."""
        began = time.perf_counter()
        progress = self.progress
        self.optimizer.zero_grad()
        torch.manual_seed(batch_seed(self.seed, progress.epoch, progress.batch))
        cheap = len(batch.h) * self.loss.index.entities <= SMALL
        wanted = cheap or progress.batch % LOSS_EVERY == 0
        value = self.loss.backward(batch, wanted, self.row_update)
        if value is not None and not np.isfinite(value):
            raise Diverged(self._diverged("the loss"))
        self.optimizer.step()
        progress.batch += 1
        if value is not None:
            progress.loss += value * len(batch)
            progress.triples += len(batch)
        progress.seconds += time.perf_counter() - began
        for callback in self.callbacks:
            callback.on_batch(progress.epoch + 1, progress.batch, value)

    def _end_epoch(self) -> None:
        progress = self.progress
        record = {
            "epoch": progress.epoch + 1,
            "loss": progress.loss / max(1, progress.triples),
            "lr": self.optimizer.param_groups[0]["lr"],
            "seconds": progress.seconds,
            "facts_per_second": len(self.loss.index.tails) / max(1e-9, progress.seconds),
        }
        self._check_finite()
        self.average.update(progress.epoch)
        progress.epoch += 1
        progress.batch, progress.loss, progress.triples, progress.seconds = 0, 0.0, 0, 0.0
        with self.average.applied():
            record |= self._validate()
        # Callbacks come before the checkpoint: if the process dies in between, the epoch is
        # repeated and its line in the history is replaced, not lost.
        for callback in self.callbacks:
            callback.on_epoch(record)
        self.save()

    def _validate(self) -> dict[str, float]:
        progress, settings = self.progress, self.settings
        if self.validate is None:
            progress.best_epoch = progress.epoch
            save_model(self.best_file, self.model)
            return {}
        last = progress.epoch >= settings.epochs or self._late
        if progress.epoch % settings.validate_every and not last:
            return {}
        found = self.validate()
        if found["mrr"] > progress.best:
            progress.best, progress.best_epoch, progress.stale = found["mrr"], progress.epoch, 0
            save_model(self.best_file, self.model)
        else:
            progress.stale += 1
            progress.done = progress.stale >= settings.patience
        return found

    def _check_finite(self) -> None:
        if not all(finite(p) for p in self.model.parameters()):
            raise Diverged(self._diverged("a parameter"))

    def _diverged(self, what: str) -> str:
        at = f"epoch {self.progress.epoch + 1}, batch {self.progress.batch + 1}"
        kept = self.progress.best_epoch
        state = f"the run keeps epoch {kept}" if kept else "no epoch was finished"
        return f"training diverged in {at}: {what} is not finite; {state}; try a smaller --lr"


def finite(tensor: Tensor) -> bool:
    """Return whether all numbers are finite.

    Example:
        >>> finite(torch.tensor([1.0, float("nan")]))
        False
    """
    return not tensor.numel() or all(bool(torch.isfinite(x)) for x in torch.aminmax(tensor))


def batch_seed(seed: int, epoch: int, batch: int) -> int:
    """Return a random seed of 64 bits that depends on the seed, the epoch and the batch only.

    Example:
        >>> batch_seed(0, 1, 2) == batch_seed(0, 1, 2), batch_seed(0, 1, 2) == batch_seed(0, 2, 1)
        (True, False)
    """
    return int(np.random.SeedSequence((seed, epoch, batch)).generate_state(1, np.uint64)[0])
