"""Callbacks of a training: their base class and the history file."""

from collections.abc import Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

from kgflow.io import append_json_line, read_json_lines, write_json_lines

Record = Mapping[str, float]
"""Metrics of an epoch: epoch, loss, lr, seconds, queries per second, validation metrics.

On large graphs the loss is the mean over every eighth batch.
"""


class Callback:
    """Base class of trackers and progress bars: called for every batch and every epoch."""

    def on_training(self, name: str, epochs: int, seconds: float | None) -> None:
        """Begin a training of at most so many epochs, and seconds until the time limit, if any."""

    def on_start(self, epoch: int, batches: int) -> None:
        """Begin an epoch of so many batches."""

    def on_batch(self, epoch: int, batch: int, loss: float | None) -> None:
        """End a batch; its loss, if it was computed."""

    def on_epoch(self, record: Record) -> None:
        """End an epoch."""

    def on_end(self, name: str, settings: Mapping[str, Any], metrics: Mapping[str, Any]) -> None:
        """End the training of a run; an interrupted one has no end."""


class History(Callback):
    """Writes one JSON line per epoch to a file, after those of the finished `epochs`."""

    def __init__(self, path: Path, epochs: int = 0) -> None:
        self.path = path
        write_json_lines(path, [r for r in read_history(path) if r["epoch"] <= epochs])

    def on_epoch(self, record: Record) -> None:
        append_json_line(self.path, record)


def read_history(path: Path) -> list[dict[str, float]]:
    """Read the epochs of a history file, up to the first damaged line."""
    return list(takewhile(_is_record, read_json_lines(path)))


def best_epoch(history: Sequence[Record]) -> int:
    """Return the epoch of the saved model: the best validated one, or the last.

    Example:
        >>> best_epoch([{"epoch": 1, "mrr": 0.3}, {"epoch": 2, "mrr": 0.2}])
        1
    """
    validated = [r for r in history if "mrr" in r] or history[-1:]
    best = max(validated, key=lambda r: r.get("mrr", 0.0), default={"epoch": 0})
    return int(best["epoch"])


def _is_record(found: object) -> bool:
    if not isinstance(found, dict) or "epoch" not in found:
        return False
    return all(type(value) in (int, float) for value in found.values())
