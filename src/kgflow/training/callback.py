"""Who wants to know how a training goes."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

Record = Mapping[str, float]
"""One epoch: epoch, loss (of every eighth batch), lr, seconds, queries per second, metrics."""


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
        path.write_text("".join(json.dumps(record) + "\n" for record in kept))

    def on_start(self, epoch: int, batches: int) -> None:
        """Nothing to note."""

    def on_batch(self, epoch: int, batch: int, loss: float | None) -> None:
        """Nothing to note."""

    def on_epoch(self, record: Record) -> None:
        """Add a line."""
        with self.path.open("a") as out:
            out.write(json.dumps(dict(record)) + "\n")


def read_history(path: Path) -> list[dict[str, float]]:
    """The epochs noted in a file; a last line cut short by a crash is passed over."""
    records = []
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            records.append(json.loads(line))
        except json.JSONDecodeError:
            break
    return records
