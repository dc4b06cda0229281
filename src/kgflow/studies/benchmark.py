"""One experiment file, run with some seeds."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from kgflow.reproduction import Result
from kgflow.runs.store import read_metrics
from kgflow.studies.experiment_file import ExperimentFile
from kgflow.studies.printed import Numbers, printed
from kgflow.training import best_epoch, read_history

HEAD = (
    "row", "model", "n", "seeds", "MRR", "paper", "diff", "H@1", "H@10", "valid MRR", "epochs",
    "best", "min",
)  # fmt: skip


@dataclass(frozen=True)
class Benchmark:
    """A row of the table: its experiment file, and one result per seed."""

    file: ExperimentFile
    results: tuple[Result, ...]

    @property
    def done(self) -> list[Result]:
        """The results that have numbers."""
        return [result for result in self.results if result.place is not None]

    @property
    def places(self) -> list[Path]:
        """Where the files of these are."""
        return [result.place for result in self.results if result.place is not None]

    @property
    def graph(self) -> str:
        """The name of its data."""
        return Path(self.file.experiment.data).name

    @property
    def model(self) -> str:
        """The name of its model."""
        return self.file.experiment.model.name

    @property
    def paper(self) -> Numbers | None:
        """What the paper prints of this model, if it is as the paper has it, on this graph."""
        said = self.file.experiment.model
        changed = said.options or said.bias or said.bidirectional or not said.inverse_relations
        return None if changed else printed(self.model, self.graph)

    def numbers(self) -> dict[str, list[float]]:
        """Every number of the row for each seed that has it: metrics, epochs and minutes."""
        histories = [read_history(place / "history.jsonl") for place in self.places]
        metrics = [read_metrics(place) for place in self.places]
        found = {
            name: [m["test"]["realistic"][key] for m in metrics]
            for name, key in (("mrr", "mrr"), ("hits1", "hits@1"), ("hits10", "hits@10"))
        }
        found["valid"] = [m["valid"]["realistic"]["mrr"] for m in metrics if "valid" in m]
        found["epochs"] = [len(history) for history in histories]
        found["best"] = [best_epoch(history) for history in histories]
        found["minutes"] = [sum(r["seconds"] for r in history) / 60 for history in histories]
        return found

    def courses(self) -> list[list[tuple[float, float]]]:
        """For each seed, validation MRR against minutes of training, without that of validation."""
        found = []
        for place in self.places:
            spent, points = 0.0, []
            for record in read_history(place / "history.jsonl"):
                spent += record["seconds"] / 60
                points += [(spent, record["mrr"])] if "mrr" in record else []
            found.append(points)
        return found

    def cells(self) -> list[str]:
        """The row as text."""
        numbers = {name: spread(values) for name, values in self.numbers().items()}
        paper, diff = "–", "–"
        if self.paper:
            paper = f"{self.paper[0]:.3f}"
            diff = f"{fmean(self.numbers()['mrr']) - self.paper[0]:+.3f}"
        name = self.file.description.replace("|", "\\|")
        cells = [name, f"`{self.model}`", str(self.file.experiment.model.dim), str(len(self.done))]
        cells += [numbers["mrr"], paper, diff, *(numbers[k] for k in ("hits1", "hits10", "valid"))]
        return [*cells, *(rounded(self.numbers()[k]) for k in ("epochs", "best", "minutes"))]

    def to_dict(self) -> dict[str, Any]:
        """The row as JSON has it."""
        return {
            "graph": self.graph,
            "description": self.file.description,
            "file": str(self.file.path),
            "model": self.model,
            "dim": self.file.experiment.model.dim,
            "seeds": len(self.done),
            "paper": self.paper,
            "commands": [result.plan.command for result in self.results],
            "skipped": [result.skipped for result in self.results],
            **self.numbers(),
        }


def table(rows: Sequence[Benchmark]) -> str:
    """Those rows that have numbers."""
    lines = ["| " + " | ".join(HEAD) + " |", "| --- | --- |" + " ---: |" * (len(HEAD) - 2)]
    return "\n".join(lines + ["| " + " | ".join(row.cells()) + " |" for row in rows if row.done])


def spread(values: Sequence[float]) -> str:
    """A mean, with the standard deviation where there are several values.

    Example:
        >>> spread([0.5]), spread([0.5, 0.54]), spread([])
        ('0.500', '0.520 ± 0.028', '–')
    """
    if not values:
        return "–"
    return f"{fmean(values):.3f}" + (f" ± {stdev(values):.3f}" if len(values) > 1 else "")


def rounded(values: Sequence[float]) -> str:
    """A mean, of which small ones have a decimal.

    Example:
        >>> rounded([49, 50]), rounded([2.25]), rounded([7])
        ('50', '2.2', '7')
    """
    mean = fmean(values)
    return f"{mean:.1f}" if mean < 10 and mean != int(mean) else f"{mean:.0f}"
