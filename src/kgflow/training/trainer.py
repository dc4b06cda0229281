"""The training loop."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kgflow.errors import KgflowError
from kgflow.models import Model
from kgflow.training.average import Average
from kgflow.training.base import Loss
from kgflow.training.batches import batches
from kgflow.training.callback import Callback
from kgflow.training.checkpoint import Progress, load_checkpoint, save_checkpoint, save_model
from kgflow.training.optimizers import OPTIMIZERS, row_update
from kgflow.training.rate import Rate

REPORT = 8
"""Every so many batches the loss is computed, not only its gradient."""
SMALL = 2**20
"""Scores of a batch up to which the loss costs nothing to speak of, and is always computed."""


class Interrupted(KgflowError):  # noqa: N818
    """Training was asked to stop, and has saved its state."""

    exit_code = 130


class Diverged(KgflowError):  # noqa: N818
    """Training ran into numbers that are none."""

    exit_code = 1


@dataclass(frozen=True)
class Schedule:
    """How long and how fast to train."""

    epochs: int
    batch_size: int
    lr: float
    rate: Rate
    seed: int
    average: float
    patience: int
    eval_every: int
    optimizer: str = "adam"


class Trainer:
    """An optimizer over batches of queries, weights averaged over epochs, the best epoch kept.

    After every epoch the whole state goes to ``checkpoint/last.safetensors`` and, where the
    validation improved, the model to ``model.safetensors``; a training that was interrupted goes
    on from there to the very same numbers. Each epoch's order depends on the seed and its number
    only, and what a batch draws at random on the seed, its epoch and its number.

    Args:
        model: what is trained.
        loss: takes the model and rows of its index.
        schedule: how long and how fast.
        validate: the model's metrics by name, ``mrr`` among them, or None to keep the last epoch.
        directory: where the two files go.
        callbacks: who is told.
        stop: asked after every batch; True ends the training with its state saved.
    """

    def __init__(
        self,
        model: Model,
        loss: Loss,
        schedule: Schedule,
        validate: Callable[[], dict[str, float]] | None,
        directory: Path,
        callbacks: Sequence[Callback] = (),
        stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self.model, self.loss, self.schedule, self.validate = model, loss, schedule, validate
        self.callbacks, self.stop = callbacks, stop
        self.directory = directory
        self.optimizer = OPTIMIZERS[schedule.optimizer](model.parameters(), schedule.lr)
        self.rows = row_update(self.optimizer, model.entity.weight)
        self.average = Average(model, schedule.average)
        self.progress = Progress()

    @property
    def best_file(self) -> Path:
        """The model of the best epoch."""
        return self.directory / "model.safetensors"

    @property
    def last_file(self) -> Path:
        """The whole state after the last epoch."""
        return self.directory / "checkpoint" / "last.safetensors"

    def resume(self) -> None:
        """Take up the state that the directory holds."""
        self.progress = load_checkpoint(self.last_file, self.model, self.optimizer, self.average)

    def save(self) -> None:
        """Write the state down."""
        self._guard()
        self.last_file.parent.mkdir(exist_ok=True)
        save_checkpoint(self.last_file, self.model, self.optimizer, self.average, self.progress)

    def fit(self) -> Progress:
        """Train to the end, or raise `Interrupted` or `Diverged` with the last good state saved."""
        while not self.progress.done and self.progress.epoch < self.schedule.epochs:
            self._epoch()
        return self.progress

    def _epoch(self) -> None:
        progress, schedule = self.progress, self.schedule
        order = batches(self.loss.index, schedule.batch_size, schedule.seed, progress.epoch)
        for callback in self.callbacks:
            callback.on_start(progress.epoch + 1, len(order))
        self.model.train()
        # Resumed behind the last batch, the epoch still ends with that batch's rate.
        self._set_rate(max(0, progress.batch - 1), len(order))
        for rows in order[progress.batch :]:
            self._set_rate(progress.batch, len(order))
            self._step(rows)
            if self.stop():
                self.save()
                raise Interrupted(
                    f"stopped and saved: kgflow train --resume {self.directory} goes on"
                )
        self._close()

    def _set_rate(self, batch: int, batches: int) -> None:
        # Of the middle of the batch: at its beginning, a warm-up's first one would be for nothing.
        epoch = self.progress.epoch + (batch + 0.5) / batches
        factor = self.schedule.rate(epoch, self.progress.drops)
        for group in self.optimizer.param_groups:
            group["lr"] = self.schedule.lr * factor

    def _step(self, rows: NDArray[np.int64]) -> None:
        began = time.perf_counter()
        progress = self.progress
        self.optimizer.zero_grad()
        torch.manual_seed(mixed(self.schedule.seed, progress.epoch, progress.batch))
        cheap = len(rows) * self.loss.index.entities <= SMALL
        wanted = cheap or progress.batch % REPORT == 0
        value = self.loss.backward(rows, wanted, self.rows)
        if value is not None and not np.isfinite(value):
            raise Diverged(self._diverged("the loss"))
        self.optimizer.step()
        progress.batch += 1
        if value is not None:
            triples = int(self.loss.index.counts[rows].sum())
            progress.loss += value * triples
            progress.triples += triples
        progress.seconds += time.perf_counter() - began
        for callback in self.callbacks:
            callback.on_batch(progress.epoch + 1, progress.batch, value)

    def _close(self) -> None:
        progress = self.progress
        record = {
            "epoch": progress.epoch + 1,
            "loss": progress.loss / max(1, progress.triples),
            "lr": self.optimizer.param_groups[0]["lr"],
            "seconds": progress.seconds,
            "queries_per_second": len(self.loss.index) / max(1e-9, progress.seconds),
        }
        self._guard()
        self.average.update(progress.epoch)
        progress.epoch += 1
        progress.batch, progress.loss, progress.triples, progress.seconds = 0, 0.0, 0, 0.0
        with self.average.applied():
            record |= self._judge()
        # Told before it is saved: should the process die in between, the epoch is done again and
        # its line in the history is replaced, not lost.
        for callback in self.callbacks:
            callback.on_epoch(record)
        self.save()

    def _judge(self) -> dict[str, float]:
        progress, schedule = self.progress, self.schedule
        if self.validate is None:
            progress.best_epoch = progress.epoch
            save_model(self.best_file, self.model)
            return {}
        if progress.epoch % schedule.eval_every and progress.epoch < schedule.epochs:
            return {}
        found = self.validate()
        if found["mrr"] > progress.best:
            progress.best, progress.best_epoch, progress.stale = found["mrr"], progress.epoch, 0
            save_model(self.best_file, self.model)
        else:
            progress.stale += 1
            progress.drops += 1
            progress.done = progress.stale >= schedule.patience
        return found

    def _guard(self) -> None:
        if not all(finite(p) for p in self.model.parameters()):
            raise Diverged(self._diverged("a parameter"))

    def _diverged(self, what: str) -> str:
        at = f"epoch {self.progress.epoch + 1}, batch {self.progress.batch + 1}"
        kept = self.progress.best_epoch
        state = f"the run keeps epoch {kept}" if kept else "no epoch was finished"
        return f"training diverged in {at}: {what} is not finite; {state}; try a smaller --lr"


def mixed(*numbers: int) -> int:
    """One seed of 64 bits from several numbers of 0 or more.

    Example:
        >>> mixed(0, 1, 2) == mixed(0, 1, 2), mixed(0, 1, 2) == mixed(0, 2, 1)
        (True, False)
    """
    return int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0])


def finite(tensor: Tensor) -> bool:
    """Whether all numbers are finite.

    Example:
        >>> finite(torch.tensor([1.0, float("nan")]))
        False
    """
    return not tensor.numel() or all(bool(torch.isfinite(x)) for x in torch.aminmax(tensor))
