"""Who wants to know how a training goes."""

from collections.abc import Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Protocol

from kgflow.io import append_json_line, read_json_lines, write_json_lines

Record = Mapping[str, float]
"""One epoch: epoch, loss, lr, seconds, queries per second and the validation metrics.

On large graphs the loss is that of every eighth batch.
"""


class Callback(Protocol):
    """Told of every batch and every epoch; trackers and progress bars are callbacks."""

    def on_start(self, epoch: int, batches: int) -> None:
        """An epoch of so many batches begins."""

    def on_batch(self, epoch: int, batch: int, loss: float | None) -> None:
        """A batch is done; its loss, where it was computed."""

    def on_epoch(self, record: Record) -> None:
        """An epoch is done."""


class History:
    """One JSON line per epoch, in a file.

    Args:
        path: the file; lines past `epochs` (of work that was lost and will be done again) go.
        epochs: how many epochs are really done.
    """

    def __init__(self, path: Path, epochs: int = 0) -> None:
        self.path = path
        kept = [r for r in read_history(path) if r["epoch"] <= epochs]
        write_json_lines(path, kept)

    def on_start(self, epoch: int, batches: int) -> None:
        """Nothing to note."""

    def on_batch(self, epoch: int, batch: int, loss: float | None) -> None:
        """Nothing to note."""

    def on_epoch(self, record: Record) -> None:
        """Add a line."""
        append_json_line(self.path, record)


def read_history(path: Path) -> list[dict[str, float]]:
    """The epochs noted in a file, up to the first line that is none (a crash cut it short)."""
    return list(takewhile(_is_record, read_json_lines(path)))


def best_epoch(history: Sequence[Record]) -> int:
    """The epoch whose model is kept: the best validated one, or the last.

    Example:
        >>> best_epoch([{"epoch": 1, "mrr": 0.3}, {"epoch": 2, "mrr": 0.2}])
        1
    """
    judged = [r for r in history if "mrr" in r] or history[-1:]
    best = max(judged, key=lambda r: r.get("mrr", 0.0), default={"epoch": 0})
    return int(best["epoch"])


def _is_record(found: object) -> bool:
    if not isinstance(found, dict) or "epoch" not in found:
        return False
    return all(type(value) in (int, float) for value in found.values())
