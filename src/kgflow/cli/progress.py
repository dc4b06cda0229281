"""Progress bars, shown on a terminal only, and stop signals."""

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from kgflow.cli.output import clock
from kgflow.training import Callback, Record


class ProgressBar(Callback):
    """A training callback that shows the epoch, the validation MRR and the time left."""

    def __init__(self) -> None:
        console = Console(stderr=True)
        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[note]}"))
        self.bar = Progress(*columns, console=console, disable=not console.is_terminal)
        self.task = self.bar.add_task("training", total=1, note="")
        self.name, self.epochs = "", 1
        self.limit: float | None = None
        self.batches, self.began, self.first, self.mrr = 1, 0.0, 0, ""

    def __enter__(self) -> "ProgressBar":
        self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()

    def on_training(self, name: str, epochs: int, seconds: float | None) -> None:
        """Begin a line for a training."""
        self.name, self.epochs, self.limit = name, epochs, seconds
        self.began, self.mrr = 0.0, ""
        self.bar.update(self.task, description=name, total=epochs, completed=0, note="")

    def on_start(self, epoch: int, batches: int) -> None:
        """Show the number of a new epoch."""
        if not self.began:
            self.began, self.first = time.monotonic(), epoch - 1
        self.batches = batches
        words = f"{self.name}: epoch {epoch}/{self.epochs}"
        self.bar.update(self.task, description=words, completed=epoch - 1)

    def on_batch(self, epoch: int, batch: int, loss: float | None) -> None:
        """Show the time left after a batch."""
        done = epoch - 1 + batch / self.batches
        spent = time.monotonic() - self.began
        left = spent / max(1e-9, done - self.first) * (self.epochs - done)
        if self.limit is not None:
            left = max(0.0, self.limit - spent)
        self.bar.update(self.task, completed=done, note=f"{self.mrr}{clock(left)} left")

    def on_epoch(self, record: Record) -> None:
        """Show the validation MRR of an epoch."""
        if "mrr" in record:
            self.mrr = f"validation MRR {record['mrr']:.3f}  "


@contextmanager
def progress_bar(description: str) -> Iterator[Callable[[float], None]]:
    """Show a progress bar with the time left.

    Yields:
        The progress callback, called with the completed fraction.
    """
    console = Console(stderr=True)
    with Progress(
        TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn(),
        console=console, disable=not console.is_terminal, transient=True,
    ) as bar:  # fmt: skip
        task = bar.add_task(description, total=1.0)
        yield lambda fraction: bar.update(task, completed=fraction)


@contextmanager
def stop_signals() -> Iterator[list[bool]]:
    """Stop after the current batch at Ctrl-C or SIGTERM; a second Ctrl-C stops at once.

    Yields:
        A list that is not empty after a stop was requested.
    """
    requested: list[bool] = []

    def request(number: int, _: FrameType | None) -> None:
        if requested and number == signal.SIGINT:
            raise KeyboardInterrupt
        requested.append(True)
        print("kgflow: stopping after this batch …", file=sys.stderr)

    previous = {s: signal.signal(s, request) for s in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield requested
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
