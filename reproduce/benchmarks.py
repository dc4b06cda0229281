"""Our own experiments on benchmark graphs."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Any

from kgflow.config import read_toml
from reproduce.experiments import Row
from reproduce.paper import published, spread
from reproduce.plots import Curve, learning_curve_figure
from reproduce.results import Record
from reproduce.running import NOT_RUN, Result
from reproduce.study import Shown, Study, table
from reproduce.uncertainty_effect import pairs

DRAWN = 8
"""Number of learning curves in a picture: more cannot be told apart."""

HEAD = (
    "row", "model", "n", "seeds", "MRR", "paper", "diff", "H@1", "H@10", "valid MRR", "epochs",
    "best", "min",
)  # fmt: skip


@dataclass(frozen=True)
class Benchmark:
    """A row of the table, with one result per seed."""

    row: Row
    results: tuple[Result, ...]

    @property
    def records(self) -> list[Record]:
        """The finished runs."""
        return [result.record for result in self.results if result.record is not None]

    @property
    def paper(self) -> tuple[float, ...] | None:
        """MRR, Hits@1 and Hits@10 of this model and graph in the paper."""
        return published(self.row)

    @cached_property
    def dim(self) -> int:
        """The paper's n."""
        return int(self.row.settings()["model"]["dim"])

    def metrics(self) -> dict[str, list[float]]:
        """Return every number of the row for each seed: metrics, epochs and minutes."""
        records = self.records
        return {
            "mrr": [r.metric("mrr") for r in records],
            "hits1": [r.metric("hits@1") for r in records],
            "hits10": [r.metric("hits@10") for r in records],
            "valid": [r.metric("mrr", "valid") for r in records if "valid" in r.metrics],
            "epochs": [len(r.history) for r in records],
            "best": [r.best_epoch for r in records],
            "minutes": [r.seconds / 60 for r in records],
        }

    def curves(self) -> list[list[tuple[float, float]]]:
        """Return validation MRR against minutes of training, without validation, per seed."""
        found = []
        for record in self.records:
            minutes, points = 0.0, []
            for epoch in record.history:
                minutes += epoch["seconds"] / 60
                points += [(minutes, epoch["mrr"])] if "mrr" in epoch else []
            found.append(points)
        return found

    def cells(self) -> list[str]:
        """Return the row as text."""
        metrics = self.metrics()
        paper, diff = "–", "–"
        if self.paper:
            paper, diff = f"{self.paper[0]:.3f}", f"{fmean(metrics['mrr']) - self.paper[0]:+.3f}"
        title = self.row.title.replace("|", "\\|")
        cells = [title, f"`{self.row.model_label}`", str(self.dim), str(len(self.records))]
        cells += [spread(metrics["mrr"]), paper, diff]
        cells += [spread(metrics[key]) for key in ("hits1", "hits10", "valid")]
        return [*cells, *(rounded(metrics[key]) for key in ("epochs", "best", "minutes"))]

    def to_dict(self) -> dict[str, Any]:
        """Return the row as values for JSON."""
        return {
            "row": self.row.id,
            "title": self.row.title,
            "graph": self.row.data,
            "model": self.row.model,
            "dim": self.dim,
            "seeds": len(self.records),
            "paper": self.paper,
            "command": self.results[0].plan.command,
            "skipped": [result.skipped for result in self.results],
            **self.metrics(),
        }


class BenchmarksStudy(Study):
    """Every row of benchmarks.toml, with some seeds."""

    name, title = "benchmarks", "Benchmark graphs"
    varies, storable = ("seeds",), True
    about = (
        "MRR and hits are of the test triples, filtered, both sides, ties realistic, at the epoch"
        " with the highest validation MRR; valid MRR is of all validation triples. With several"
        " seeds, numbers are means ± standard deviations. paper is the MRR that the paper prints"
        " for the model (its n is 1024 or 512), diff ours minus the paper's; epochs, the best of"
        " them, and minutes of training, without validation, are means."
        " [Trials that led to these settings](notes.md) are on a page of their own."
    )

    def show(self, results: Sequence[Result]) -> Shown:
        """Return for each graph a table and learning curves; then the effect of uncertainty."""
        by_plan, rows = {result.plan: result for result in results}, []
        for row in self.rows():
            mine = tuple(by_plan[plan] for plan in self.seeds(row) if plan in by_plan)
            rows += [Benchmark(row, mine)] if mine else []
        graphs = list(dict.fromkeys(x.row.data for x in rows))
        parts = [self._graph([x for x in rows if x.row.data == graph]) for graph in graphs]
        found = pairs(rows)
        if found:
            lines = [f"- {pair.sentence()}" for pair in found]
            parts.append("\n".join(["## Effect of uncertainty", "", *lines]))
        values = {"rows": [x.to_dict() for x in rows], "effects": [x.to_dict() for x in found]}
        return Shown("\n\n".join(parts), values)

    def _graph(self, rows: Sequence[Benchmark]) -> str:
        graph, done = rows[0].row.data, [x for x in rows if x.records]
        parts = [f"## {graph}"]
        if done:
            parts.append(table(HEAD, [x.cells() for x in done], words=2))
        best = read_toml(self.file).get("best", {}).get(graph)
        if best:
            source = f"MRR {best['mrr']:.3f} ({best['source']})"
            parts.append(f"The best published embedding has {source}.")
        if any(any(x.curves()) for x in done):
            parts.append(self._picture(graph, done))
        missing = [line for x in rows for line in _missing(x)]
        return "\n\n".join([*parts, *(["\n".join(missing)] if missing else [])])

    def _picture(self, graph: str, rows: Sequence[Benchmark]) -> str:
        shown = highest(rows, DRAWN)
        curves = [Curve(x.row.title, x.curves()) for x in shown]
        marks = {f"paper's {x.row.model_label}, test": x.paper[0] for x in shown if x.paper}
        drawn = learning_curve_figure(curves, marks, graph, self.pictures / f"{graph}.png")
        text = "Validation MRR against minutes of training"
        text += f", the {len(shown)} best rows" if len(shown) < len(rows) else ""
        return f"![{text}]({self.pictures.name}/{drawn.name})"


def highest(rows: Sequence[Benchmark], count: int) -> list[Benchmark]:
    """Return the rows with the highest validation MRR, in their order."""
    heights = {
        x.row.id: max((mrr for points in x.curves() for _, mrr in points), default=0.0)
        for x in rows
    }
    chosen = sorted(heights, key=lambda name: heights[name])[-count:]
    return [x for x in rows if x.row.id in chosen]


def rounded(values: Sequence[float]) -> str:
    """Return a mean, with a decimal if it is small.

    Example:
        >>> rounded([49, 50]), rounded([2.25]), rounded([7])
        ('50', '2.2', '7')
    """
    mean = fmean(values)
    return f"{mean:.1f}" if mean < 10 and mean != int(mean) else f"{mean:.0f}"


def _missing(x: Benchmark) -> list[str]:
    """Return why a row or a seed of it has no numbers; seeds not run count only if all are."""
    reasons = [r.skipped for r in x.results if r.skipped and r.skipped != NOT_RUN]
    if not reasons and x.records:
        return []
    word, why = (
        ("Not shown", f": {'; '.join(dict.fromkeys(reasons))}") if reasons else ("Not run", "")
    )
    return [f"- {word}: {x.row.title} (`{x.row.id}`){why}."]
