"""Many experiments, one table: run what is missing, go on with what was begun, show all."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from kgflow.config import Experiment
from kgflow.data import load
from kgflow.errors import KgflowError
from kgflow.models import MODELS
from kgflow.run import Run, settle
from kgflow.store import read_metrics

SMALL = ("umls", "nations", "countries-s1")


@dataclass(frozen=True)
class Result:
    """One experiment's outcome: the test metrics, or why there are none."""

    data: str
    model: str
    dim: int
    command: str
    mrr: float | None = None
    hits1: float | None = None
    hits10: float | None = None
    epochs: int | None = None
    seconds: float | None = None
    skipped: str | None = None


def small(models: Sequence[str] = (), data: Sequence[str] = ()) -> list[Experiment]:
    """Every model on every small graph, with the settings that a user gets who gives none."""
    names = models or sorted(MODELS)
    return [
        settle({"data": graph, "model": {"name": name}}, "reproduce")
        for graph in data or SMALL
        for name in names
    ]


def reproduce(
    experiments: Sequence[Experiment],
    directory: Path,
    jobs: int = 1,
    tell: Callable[[str], None] = lambda line: None,
) -> Iterator[Result]:
    """Run the experiments, each in a process of its own; finished ones are not run again.

    Args:
        experiments: what to run.
        directory: where each has its run directory.
        jobs: processes at a time, with one thread each if there are several.
        tell: told of what begins.
    """
    directory.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(lambda one: _result(one, directory, jobs, tell), experiments)


def _result(
    experiment: Experiment, directory: Path, jobs: int, tell: Callable[[str], None]
) -> Result:
    data, model = experiment.data, experiment.model
    run = directory / f"{Path(data).name}-{model.name}"
    words = ["train", data, "--model", model.name, "--out", str(run)]
    result = Result(data, model.name, model.dim, f"kgflow {' '.join(words)}")
    try:
        load(data)
        if not finished(run):
            tell(result.command)
            _call(["train", "--resume", str(run)] if run.exists() else words, jobs)
        return _measured(result, Run.open(run))
    except KgflowError as error:
        return Result(data, model.name, model.dim, result.command, skipped=str(error))


def finished(directory: Path) -> bool:
    """Whether a run has come to its end."""
    return "test" in read_metrics(directory)


def _call(words: list[str], jobs: int) -> None:
    threads = {"OMP_NUM_THREADS": "1"} if jobs > 1 else {}
    done = subprocess.run(
        [sys.executable, "-m", "kgflow", *words],
        capture_output=True,
        text=True,
        env=os.environ | threads,
    )
    if done.returncode:
        raise KgflowError((done.stderr.strip().splitlines() or ["no message"])[-1])


def _measured(result: Result, run: Run) -> Result:
    found, history = run.metrics["test"]["realistic"], run.history
    return Result(
        result.data,
        result.model,
        run.config.model.dim,
        result.command,
        found["mrr"],
        found["hits@1"],
        found["hits@10"],
        len(history),
        sum(record["seconds"] for record in history),
    )


def markdown(results: Sequence[Result]) -> str:
    """A row for each model, and for each graph its MRR, Hits@1, Hits@10 and seconds of training."""
    graphs = list(dict.fromkeys(r.data for r in results))
    titles = ("MRR", "H@1", "H@10", "s")
    head = ["model", "n", *(f"{graph} {title}" for graph in graphs for title in titles)]
    lines = ["| " + " | ".join(head) + " |", "| --- |" + " ---: |" * (len(head) - 1)]
    for model in dict.fromkeys(r.model for r in results):
        mine = {r.data: r for r in results if r.model == model}
        cells = [f"`{model}`", str(next(iter(mine.values())).dim)]
        for graph in graphs:
            cells += _cells(mine.get(graph))
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cells(result: Result | None) -> list[str]:
    if result is None or result.mrr is None:
        return ["–"] * 4
    numbers = [f"{x:.3f}" for x in (result.mrr, result.hits1, result.hits10)]
    return [*numbers, f"{result.seconds:.0f}"]
