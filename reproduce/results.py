"""Stored results: one JSON-lines file per study, one line per run."""

import json
import math
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kgflow.analysis.report.sections.settings import machine
from kgflow.config import RunConfig, read
from kgflow.errors import KgflowError
from kgflow.io import write_atomic
from kgflow.runs.store import CONFIG, read_metrics
from kgflow.training import best_epoch, read_history

PROVENANCE = "provenance.json"
METRICS = ("mrr", "hits@1", "hits@10")


@dataclass(frozen=True)
class Record:
    """A finished run: settings, metrics, epochs and provenance, without weights and data.

    Args:
        study: name of the study.
        row: id of the row.
        seed: random seed.
        config: settings with the keys of a config file: `data`, `seed`, `model`,
            `training`.
        metrics: metrics by split, then by how ties are ranked, as in a run's metrics.json.
        history: one mapping per epoch, as in a run's history.jsonl.
        provenance: date, commit and machine.
        source: where it was read, for messages.
    """

    study: str
    row: str
    seed: int
    config: Mapping[str, Any]
    metrics: Mapping[str, Any]
    history: list[dict[str, float]]
    provenance: Mapping[str, str]
    source: str = ""

    def metric(self, name: str, split: str = "test") -> float:
        """Return a metric, filtered, ties realistic."""
        return float(self.metrics[split]["realistic"][name])

    @property
    def dim(self) -> int:
        """The paper's n."""
        return int(self.config["model"]["dim"])

    @property
    def best_epoch(self) -> int:
        """The epoch with the highest validation MRR."""
        return best_epoch(self.history)

    @property
    def seconds(self) -> float:
        """Seconds of training, without validation."""
        return float(sum(record["seconds"] for record in self.history))

    def check(self) -> None:
        """Raise ValueError, TypeError or KeyError if metrics or epochs are damaged."""
        splits = [split for split in ("test", "valid") if split in self.metrics]
        values = [self.metric(name, split) for split in splits for name in METRICS]
        if "test" not in splits or not all(map(math.isfinite, [*values, self.seconds])):
            raise ValueError("a metric is not a number")

    def to_line(self) -> str:
        """Return the record as a line of JSON; the history becomes one list per key."""
        keys = dict.fromkeys(key for epoch in self.history for key in epoch)
        columns = {key: [epoch.get(key) for epoch in self.history] for key in keys}
        values = {k: v for k, v in vars(self).items() if k != "source"} | {"history": columns}
        return json.dumps(values, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_line(cls, line: str, source: str) -> "Record":
        """Read a line of JSON."""
        values = json.loads(line)
        columns = values["history"]
        epochs = zip(*columns.values(), strict=True)
        history = [
            {k: v for k, v in zip(columns, epoch, strict=True) if v is not None} for epoch in epochs
        ]
        return cls(**values | {"history": history}, source=source)


class Results:
    """Stored results of all studies in a directory, ``<study>.jsonl``."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._records: dict[str, dict[tuple[str, int], Record]] = {}

    def get(self, study: str, row: str, seed: int) -> Record | None:
        """Return a stored run, or None."""
        return self._read(study).get((row, seed))

    def add(self, record: Record) -> Record:
        """Store a run; one that is stored already with the same content stays as it is.

        A run without provenance is stored with the date, commit and machine of now.
        """
        records, key = self._read(record.study), (record.row, record.seed)
        old = records.get(key)
        if old and all(_same(old, record, k) for k in ("config", "metrics", "history")):
            return old
        source = f"{self._path(record.study)}, {record.row}:{record.seed}"
        known = record.provenance or {"stored": provenance()["date"]} | provenance()
        values = vars(record) | {"provenance": known, "source": source}
        records[key] = Record(**values)
        text = "".join(found.to_line() + "\n" for found in records.values())
        self.directory.mkdir(parents=True, exist_ok=True)
        write_atomic(self._path(record.study), text.encode())
        return records[key]

    def _path(self, study: str) -> Path:
        return self.directory / f"{study}.jsonl"

    def _read(self, study: str) -> dict[tuple[str, int], Record]:
        if study not in self._records:
            path, found = self._path(study), {}
            lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
            for number, line in enumerate(lines, 1):
                try:
                    record = Record.from_line(line, f"{path}:{number}")
                except (ValueError, TypeError, KeyError, AttributeError):
                    raise KgflowError(f"{path}:{number} is damaged: remove the line") from None
                found[record.row, record.seed] = record
            self._records[study] = found
        return self._records[study]


def _same(one: Record, other: Record, name: str) -> bool:
    # NaN differs from itself, so text is compared.
    return json.dumps(getattr(one, name)) == json.dumps(getattr(other, name))


def read_record(run: Path, study: str, row: str, seed: int) -> Record | None:
    """Read a finished run from its directory; None if it is not finished."""
    metrics = read_metrics(run)
    if "test" not in metrics:
        return None
    config = read(RunConfig, run / CONFIG).model_dump(exclude={"run"})
    try:
        known = json.loads((run / PROVENANCE).read_text(encoding="utf-8", errors="replace"))
    except (FileNotFoundError, ValueError):
        known = {}
    history = read_history(run / "history.jsonl")
    return Record(study, row, seed, config, metrics, history, known, str(run))


def provenance() -> dict[str, str]:
    """Return date, commit and machine; the commit is left out outside a repository."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    ).stdout.strip()
    date = datetime.now(UTC).date().isoformat()
    return {"date": date, **({"commit": commit} if commit else {}), "machine": machine()}


def provenance_text(known: Mapping[str, str]) -> str:
    """Return date, commit and machine in one line.

    Example:
        >>> provenance_text({"date": "2026-01-01", "commit": "1f2ee04", "machine": "2 x Z80"})
        '2026-01-01, commit 1f2ee04, 2 x Z80'
    """
    date = f"stored {known['stored']}" if "stored" in known else known.get("date", "date unknown")
    commit = [f"commit {known['commit']}"] if "commit" in known else []
    return ", ".join([date, *commit, *([known["machine"]] if "machine" in known else [])])
