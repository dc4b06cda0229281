"""Many experiments, one table: run what is missing, go on with what was begun, show all."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from kgflow.data import load
from kgflow.errors import KgflowError
from kgflow.models import MODELS, model_class
from kgflow.run import Run
from kgflow.store import read_metrics

SMALL = ("umls", "nations", "countries-s1")
UNCERTAIN = {
    "world": "",
    "umls": "",
    "codex-s": "--dim 64 --epochs 20",
    "fb15k-237": "--dim 64 --epochs 8 --batch-size 512 --lr 0.006 --decay 0.92 --margin 2"
    " --dropout 0",
}
"""Graphs on which uncertainty is studied, and how training is kept to minutes."""


@dataclass(frozen=True)
class Plan:
    """One experiment: what is trained on what, and the command that does it."""

    data: str
    model: str
    words: tuple[str, ...]

    @property
    def command(self) -> str:
        """As a user types it."""
        return " ".join(("kgflow", *self.words))

    def directory(self, under: Path) -> Path:
        """Where its run is."""
        return under / f"{Path(self.data).name}-{self.model}"


@dataclass(frozen=True)
class Result:
    """An experiment's outcome: the metrics of its test split, or why there are none."""

    plan: Plan
    dim: int | None = None
    mrr: float | None = None
    hits1: float | None = None
    hits10: float | None = None
    epochs: int | None = None
    seconds: float | None = None
    skipped: str | None = None


def small(models: Sequence[str] = (), data: Sequence[str] = ()) -> list[Plan]:
    """Every model on every small graph, with the settings that a user gets who gives none.

    Example:
        >>> small(["nfe-1"], ["umls"])[0].command
        'kgflow train umls --model nfe-1'
    """
    for name in models:
        model_class(name)  # refuses an unknown one before anything is run
    return [
        Plan(graph, name, ("train", graph, "--model", name))
        for graph in data or SMALL
        for name in models or sorted(MODELS)
    ]


FIGURES = {
    "world": "",
    "wn18rr": "--dim 64 --epochs 15 --batch-size 256 --lr 0.01 --decay 0.92 --margin 5 --dropout 0",
    "fb15k-237": (
        "--dim 64 --epochs 8 --batch-size 512 --lr 0.006 --decay 0.92 --margin 2 --dropout 0"
    ),
}
"""Graphs whose rules are drawn, and settings that are small but enough to see them."""


def figures(data: Sequence[str] = ()) -> list[Plan]:
    """NFE-1 on the graphs of the paper's Figures 3 to 6, and on `world`.

    Example:
        >>> figures(["world"])[0].command
        'kgflow train world --model nfe-1'
    """
    for name in data:
        if name not in FIGURES:
            raise KgflowError(f"no figure is of '{name}'; known are {', '.join(FIGURES)}")
    return [
        Plan(graph, "nfe-1", ("train", graph, "--model", "nfe-1", *FIGURES[graph].split()))
        for graph in data or FIGURES
    ]


def uncertain(models: Sequence[str] = (), data: Sequence[str] = ()) -> list[Plan]:
    """Flows whose uncertainty is studied: small graphs as they come, larger ones in minutes.

    Example:
        >>> [plan.command for plan in uncertain(["nfe-1"], ["codex-s"])]
        ['kgflow train codex-s --model nfe-1 --dim 64 --epochs 20']
    """
    for name in models:
        model_class(name)
    return [
        Plan(graph, name, ("train", graph, "--model", name, *UNCERTAIN.get(graph, "").split()))
        for graph in data or UNCERTAIN
        for name in models or (("nfe-1",) if UNCERTAIN.get(graph) else ("nfe-1", "nfe-2"))
    ]


def reproduce(
    plans: Sequence[Plan],
    directory: Path,
    jobs: int = 1,
    tell: Callable[[str], None] = lambda line: None,
) -> Iterator[Result]:
    """Run the experiments, each in a process of its own; finished ones are not run again.

    Args:
        plans: what to run.
        directory: where each has its run directory.
        jobs: processes at a time, with one thread each if there are several.
        tell: told of what begins.
    """
    directory.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(lambda plan: _result(plan, directory, jobs, tell), plans)


def _result(plan: Plan, directory: Path, jobs: int, tell: Callable[[str], None]) -> Result:
    run = plan.directory(directory)
    try:
        load(plan.data)
        if not finished(run):
            tell(plan.command)
            begun = ("train", "--resume", str(run))
            _call(begun if run.exists() else (*plan.words, "--out", str(run)), jobs)
        return _measured(plan, Run.open(run))
    except KgflowError as error:
        return Result(plan, skipped=str(error))


def finished(directory: Path) -> bool:
    """Whether a run has come to its end."""
    return "test" in read_metrics(directory)


def _call(words: Sequence[str], jobs: int) -> None:
    threads = {"OMP_NUM_THREADS": "1"} if jobs > 1 else {}
    done = subprocess.run(
        [sys.executable, "-m", "kgflow", *words],
        capture_output=True,
        text=True,
        env=os.environ | threads,
    )
    if done.returncode:
        raise KgflowError((done.stderr.strip().splitlines() or ["no message"])[-1])


def _measured(plan: Plan, run: Run) -> Result:
    found, history = run.metrics["test"]["realistic"], run.history
    return Result(
        plan,
        run.config.model.dim,
        found["mrr"],
        found["hits@1"],
        found["hits@10"],
        len(history),
        sum(record["seconds"] for record in history),
    )


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
