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
from kgflow.run import Run
from kgflow.store import read_metrics


@dataclass(frozen=True)
class Plan:
    """One experiment: what is trained on what, the command that does it, and what sets it apart."""

    data: str
    model: str
    words: tuple[str, ...]
    variant: str = ""

    @property
    def command(self) -> str:
        """As a user types it."""
        return " ".join(("kgflow", *self.words))

    def run(self, directory: Path) -> Path:
        """Its run directory among those of others."""
        parts = Path(self.data).name, self.model, self.variant
        return directory / "-".join(part for part in parts if part)


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
    run = plan.run(directory)
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
