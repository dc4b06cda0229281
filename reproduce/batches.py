"""Whole queries, pieces of them, or single facts as batches: quality by epochs and by time."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from kgflow.config import merge
from reproduce.experiments import Row
from reproduce.plots import Curve, epochs_and_time_figure
from reproduce.results import Record
from reproduce.running import Plan, Result
from reproduce.study import Shown, Study, table

QUALITY = 0.95
"""Fraction of the highest validation MRR of a graph and a loss to which the time is told."""


class Kind(NamedTuple):
    """A kind of batches: a name for ids, a title, and the settings."""

    id: str
    title: str
    batches: str
    divisor: int = 1
    sampled: bool = False


KINDS = (
    Kind("queries", "whole queries", "queries"),
    Kind("queries-quarter", "whole queries, a quarter of the batch size", "queries", 4),
    Kind("pieces", "pieces of queries", "pieces"),
    Kind("facts", "single facts", "facts"),
    Kind("queries-sampled", "whole queries, sampled gradient", "queries", sampled=True),
    Kind("facts-sampled", "single facts, sampled gradient", "facts", sampled=True),
)


def of_kind(row: Row, kind: Kind) -> Row:
    """Return the row of a graph and a loss with one kind of batches."""
    size = row.settings()["training"]["batch_size"] // kind.divisor
    chosen: dict[str, Any] = {"training": {"batches": kind.batches, "batch_size": size}}
    if kind.sampled:
        chosen["training"]["loss"] = {"gradient": "sampled"}
    return replace(row, id=f"{row.id}/{kind.id}", values=merge(row.values, chosen))


@dataclass(frozen=True)
class Trained:
    """A kind of batches with its finished run."""

    kind: Kind
    record: Record

    @property
    def curve(self) -> list[tuple[int, float, float]]:
        """Epoch, minutes of training and validation MRR of every epoch."""
        minutes, found = 0.0, []
        for epoch in self.record.history:
            minutes += epoch["seconds"] / 60
            found.append((int(epoch["epoch"]), minutes, float(epoch["mrr"])))
        return found

    @property
    def best(self) -> float:
        """The highest validation MRR."""
        return max(mrr for _, _, mrr in self.curve)

    def reached(self, mrr: float) -> tuple[int, float] | None:
        """Return the epoch and the minutes at which the validation MRR was reached, or None."""
        return next(((epoch, at) for epoch, at, found in self.curve if found >= mrr), None)

    def cells(self, wanted: float) -> list[str]:
        """Return a line of the table."""
        at = self.reached(wanted)
        minutes = self.record.seconds / 60
        found = [self.kind.title, str(self.record.config["training"]["batch_size"])]
        found += [f"{60 * minutes / len(self.record.history):.1f}", f"{self.best:.3f}"]
        found += [f"{self.record.metric('mrr'):.3f}"]
        return [*found, *(("–", "–") if at is None else (str(at[0]), f"{at[1]:.1f}"))]


class BatchesStudy(Study):
    """Every row of batches.toml with every kind of batches."""

    name, title, storable = "batches", "What batches are made of", True
    about = (
        "NFE-1, n = 32, trained with the same settings on whole queries (h, r) with all their"
        " tails, on pieces of queries, and on single facts, the paper's way. s/epoch is seconds of"
        " training by one thread; epochs and minutes are those until the validation MRR is"
        f" {QUALITY:.0%} of the highest of the table."
    )

    def all_rows(self) -> list[Row]:
        """Return rows times kinds; only 1-vs-all has a sampled gradient."""
        return [
            of_kind(row, kind)
            for row in super().all_rows()
            for kind in KINDS
            if not kind.sampled or "one-vs-all" in row.id
        ]

    def seeds(self, row: Row) -> list[Plan]:
        """Return the run of a row."""
        return [Plan(self.name, row.id, values=row.settings())]

    def show(self, results: Sequence[Result]) -> Shown:
        """Return a table and a picture for each graph and loss."""
        kinds = {kind.id: kind for kind in KINDS}
        groups: dict[str, list[Trained]] = {}
        for result in results:
            if result.record is not None:
                name, kind = result.plan.row.rsplit("/", 1)
                groups.setdefault(name, []).append(Trained(kinds[kind], result.record))
        titles = {row.id: f"{row.data}, {row.title}" for row in super().all_rows()}
        parts = [self._group(titles[name], name, found) for name, found in groups.items()]
        values = [
            {
                "row": f"{name}/{x.kind.id}",
                "valid": x.best,
                "test": x.record.metric("mrr"),
                "seconds": x.record.seconds,
                "curve": x.curve,
            }
            for name, found in groups.items()
            for x in found
        ]
        return Shown("\n\n".join(parts), {"rows": values})

    def _group(self, title: str, name: str, found: Sequence[Trained]) -> str:
        wanted = QUALITY * max(x.best for x in found)
        head = ["batches", "batch size", "s/epoch", "valid MRR", "test MRR"]
        head += [f"epochs to {wanted:.3f}", f"minutes to {wanted:.3f}"]
        lines = table(head, [x.cells(wanted) for x in found])
        curves = [
            (
                Curve(x.kind.title, [[(epoch, mrr) for epoch, _, mrr in x.curve]]),
                Curve(x.kind.title, [[(at, mrr) for _, at, mrr in x.curve]]),
            )
            for x in found
        ]
        path = self.pictures / f"{name.replace('/', '-')}.png"
        drawn = epochs_and_time_figure(curves, title, path)
        text = "Validation MRR against epochs and against minutes of training"
        return f"## {title}\n\n{lines}\n\n![{text}]({self.pictures.name}/{drawn.name})"
