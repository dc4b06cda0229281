"""All models on small graphs."""

from collections.abc import Sequence

from kgflow.models import MODELS, model_class
from kgflow.reproduction import Plan, Result
from kgflow.studies.study import Shown, Study, rows

GRAPHS = ("umls", "nations", "countries-s1")
FLAGS = {
    "codex-s": (
        *("--loss", "sampled-softmax", "--negatives", "512", "--batch-size", "512"),
        *("--optimizer", "adagrad", "--lr", "0.1", "--decay", "1", "--average", "0.7"),
        *("--epochs", "40", "--eval-every", "5", "--patience", "3"),
    )
}
"""What a graph that is not so small asks for: the defaults would take hours on it."""


class SmallStudy(Study):
    """Every model on every small graph, with the settings that a user gets who gives none.

    On CoDEx-S, which is asked for by its name, with one recipe for all (`FLAGS`).

    Example:
        >>> from pathlib import Path
        >>> SmallStudy(Path(), Path()).plans(["nfe-1"], ["umls"])[0].command
        'kgflow train umls --model nfe-1'
    """

    name, title, keeps = "small", "All models, small graphs", True
    about = (
        "every model with its default settings (on codex-s with one recipe for all, below),"
        " filtered ranks on test, ties realistic; s is seconds of training."
    )

    def plans(self, models: Sequence[str], data: Sequence[str]) -> list[Plan]:
        """Models times graphs."""
        for name in models:
            model_class(name)  # refuses an unknown one before anything is run
        return [
            Plan(graph, name, ("train", graph, "--model", name, *FLAGS.get(graph, ())))
            for graph in data or GRAPHS
            for name in models or sorted(MODELS)
        ]

    def show(self, results: Sequence[Result]) -> Shown:
        """A row for each model, and for each graph its metrics and seconds of training."""
        return Shown(markdown(results), {"results": rows(results)})


def markdown(results: Sequence[Result]) -> str:
    """A row for each model, and for each graph its MRR, Hits@1, Hits@10 and seconds of training."""
    graphs = list(dict.fromkeys(r.plan.data for r in results))
    titles = ("MRR", "H@1", "H@10", "s")
    head = ["model", "n", *(f"{graph} {title}" for graph in graphs for title in titles)]
    lines = ["| " + " | ".join(head) + " |", "| --- |" + " ---: |" * (len(head) - 1)]
    for model in dict.fromkeys(r.plan.model for r in results):
        mine = {r.plan.data: r for r in results if r.plan.model == model}
        dims = [str(r.dim) for r in mine.values() if r.dim is not None]
        cells = [f"`{model}`", *(dims[:1] or ["–"])]
        for graph in graphs:
            cells += _cells(mine.get(graph))
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cells(result: Result | None) -> list[str]:
    if result is None or result.mrr is None:
        return ["–"] * 4
    numbers = [f"{x:.3f}" for x in (result.mrr, result.hits1, result.hits10)]
    return [*numbers, f"{result.seconds:.0f}"]
