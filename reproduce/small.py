"""All models on small graphs."""

from collections.abc import Sequence
from dataclasses import replace

from kgflow.config import merge, read_toml
from reproduce.experiments import Row, model_label, read_rows
from reproduce.running import Result
from reproduce.study import Shown, Study, table

ON_DEMAND = ("codex-s",)
"""Graphs that are run only if they are named."""


class SmallStudy(Study):
    """Every model of small.toml on every graph of it.

    Example:
        >>> from pathlib import Path
        >>> from reproduce.study import Options
        >>> study = SmallStudy(Path(), Path(), Options(("nfe-1",), ("umls",)))
        >>> study.plans()[0].command
        'python -m reproduce small --row umls/nfe-1'
    """

    name, title, storable = "small", "All models, small graphs", True
    about = (
        "every model with its default settings (CoDEx-S has other settings, the same for all"
        " models), filtered ranks on test, ties realistic; s is seconds of training."
    )

    def all_rows(self) -> list[Row]:
        """Return models times graphs; CoDEx-S only if it or a row of it is named."""
        models = read_toml(self.file).get("models", {})
        named = {*self.options.data, *(row.split("/")[0] for row in self.options.rows)}
        graphs = [g for g in read_rows(self.file) if g.id not in ON_DEMAND or g.id in named]
        return [
            replace(
                graph,
                id=f"{graph.id}/{model}",
                values=merge(graph.values, {"model": {"name": model} | own}),
            )
            for graph in graphs
            for model, own in models.items()
        ]

    def show(self, results: Sequence[Result]) -> Shown:
        """Return a line per model, with the metrics and seconds of training on each graph."""
        return Shown(markdown(results), {"results": [to_dict(result) for result in results]})


def markdown(results: Sequence[Result]) -> str:
    """Return a table: a line per model, and per graph MRR, Hits@1, Hits@10 and seconds."""
    names = [result.plan.row.split("/", 1) for result in results]
    graphs, models = (list(dict.fromkeys(column)) for column in zip(*names, strict=True))
    by_name = {tuple(name): result for name, result in zip(names, results, strict=True)}
    lines = []
    for model in models:
        mine = [by_name.get((graph, model)) for graph in graphs]
        done = [r.record for r in mine if r is not None and r.record is not None]
        named = next(r.plan.values["model"] for r in mine if r is not None and r.plan.values)
        start = [f"`{model_label(named)}`", str(done[0].dim) if done else "–"]
        lines.append([*start, *(c for r in mine for c in _cells(r))])
    titles = [f"{graph} {title}" for graph in graphs for title in ("MRR", "H@1", "H@10", "s")]
    return table(["model", "n", *titles], lines)


def _cells(result: Result | None) -> list[str]:
    if result is None or result.record is None:
        return ["–"] * 4
    metrics = [f"{result.record.metric(name):.3f}" for name in ("mrr", "hits@1", "hits@10")]
    return [*metrics, f"{result.record.seconds:.0f}"]


def to_dict(result: Result) -> dict[str, object]:
    """Return a result as values for JSON."""
    plan, record = result.plan, result.record
    found = {"row": plan.row, "seed": plan.seed, "command": plan.command, "skipped": result.skipped}
    if record is None:
        return found
    names = {"mrr": "mrr", "hits1": "hits@1", "hits10": "hits@10"}
    metrics = {key: record.metric(name) for key, name in names.items()}
    epochs = {"dim": record.dim, "epochs": len(record.history), "seconds": record.seconds}
    return found | metrics | epochs
