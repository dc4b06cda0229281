"""Many experiments, one table: run what is missing, go on with what was begun, show all."""

import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kgflow.config import RunConfig, read
from kgflow.data import load
from kgflow.errors import KgflowError
from kgflow.kept import keep, note
from kgflow.runs.store import CONFIG, read_metrics
from kgflow.training import read_history


@dataclass(frozen=True)
class Plan:
    """One experiment: what is trained on what, the command that does it, and what sets it apart.

    Where `settings` are known, a run with others is not taken for this experiment's. What it
    `needs` is run before it; a plan that needs others trains nothing itself.
    """

    data: str
    model: str
    words: tuple[str, ...]
    variant: str = ""
    name: str = ""
    settings: Mapping[str, Any] | None = field(default=None, compare=False, repr=False)
    needs: tuple["Plan", ...] = field(default=(), compare=False, repr=False)

    @property
    def command(self) -> str:
        """As a user types it."""
        return " ".join(("kgflow", *self.words))

    def run(self, directory: Path) -> Path:
        """Its run directory among those of others: of its name, if it has one."""
        parts = Path(self.data).name, self.model, self.variant
        return directory / (self.name or "-".join(part for part in parts if part))


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
    place: Path | None = None


NOT_RUN = "it was not run"


def reproduce(
    plans: Sequence[Plan],
    directory: Path,
    jobs: int = 1,
    progress: Callable[[str], None] = lambda line: None,
    kept: Path | None = None,
) -> Iterator[Result]:
    """Run the experiments, each in a process of its own; finished ones are not run again.

    Args:
        plans: what to run.
        directory: where each has its run directory.
        jobs: processes at a time, with one thread each if there are several.
        progress: told of what begins.
        kept: where small files of finished runs are kept; what is there is not run again.
    """
    directory.mkdir(parents=True, exist_ok=True)

    def result(plan: Plan) -> Result:
        found = _found(plan, directory, kept)
        run = plan.run(directory)
        if found.skipped == NOT_RUN:
            found = (
                _made(plan, directory, jobs, progress)
                if plan.needs
                else _trained(plan, run, jobs, progress)
            )
        return _keep(found, kept)

    # Each pass ends before the next one begins.
    passes = [[p for p in plans if bool(p.needs) == needing] for needing in (False, True)]
    with ThreadPoolExecutor(jobs) as pool:
        found = {p: r for each in passes for p, r in zip(each, pool.map(result, each), strict=True)}
    yield from (found[plan] for plan in plans)


def collect(plans: Sequence[Plan], directory: Path, kept: Path | None = None) -> Iterator[Result]:
    """What is finished of the experiments; nothing is run, neither data nor weights are needed.

    Args:
        plans: what to look for.
        directory: where each may have its run directory.
        kept: where small files of finished runs are kept.
    """
    for plan in plans:
        yield _keep(_found(plan, directory, kept), kept)


def finished(directory: Path) -> bool:
    """Whether a run has come to its end."""
    return "test" in read_metrics(directory)


def _found(plan: Plan, directory: Path, kept: Path | None) -> Result:
    places = [plan.run(place) for place in (kept, directory) if place is not None]
    found = [_measured(plan, place) for place in places if finished(place)]
    whole = [result for result in found if not result.skipped]
    return (whole or found or [Result(plan, skipped=NOT_RUN)])[0]


def _keep(result: Result, kept: Path | None) -> Result:
    if kept is None or result.place is None:
        return result
    place = result.plan.run(kept)
    if place != result.place:
        keep(result.place, place)
    return replace(result, place=place)


def _trained(plan: Plan, run: Path, jobs: int, progress: Callable[[str], None]) -> Result:
    try:
        load(plan.data)
        if run.exists():
            _check(plan, run)
        progress(plan.command)
        begun = ("train", "--resume", str(run))
        _call(begun if run.exists() else (*plan.words, "--out", str(run)), jobs)
    except KgflowError as error:
        return Result(plan, skipped=str(error))
    note(run)
    return _measured(plan, run)


def _made(plan: Plan, directory: Path, jobs: int, progress: Callable[[str], None]) -> Result:
    run = plan.run(directory)
    try:
        for need in plan.needs:
            if not finished(need.run(directory)):
                raise KgflowError(f"{need.run(directory)} is needed for it, and is not trained")
        progress(plan.command)
        _call((*plan.words, "--force"), jobs)
    except KgflowError as error:
        return Result(plan, skipped=str(error))
    note(run)
    return _measured(plan, run)


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


def _measured(plan: Plan, run: Path) -> Result:
    try:
        config, history = _check(plan, run), read_history(run / "history.jsonl")
        mrr, hits1, hits10 = _numbers(read_metrics(run))
        seconds = float(sum(record["seconds"] for record in history))
        if not history and not plan.needs:
            raise ValueError("an empty history")
    except KgflowError as error:
        return Result(plan, skipped=str(error))
    except (KeyError, TypeError, ValueError):
        return Result(plan, skipped=f"{run} is damaged: remove it to train again")
    numbers = config.model.dim, mrr, hits1, hits10, len(history), seconds
    return Result(plan, *numbers, place=run)


def _numbers(metrics: dict[str, Any]) -> list[float]:
    """MRR, Hits@1 and Hits@10 of test; what is told of valid must be numbers, too."""
    names = ("mrr", "hits@1", "hits@10")
    found = {
        split: [float(metrics[split]["realistic"][name]) for name in names]
        for split in ("test", "valid")
        if split in metrics
    }
    if not all(math.isfinite(x) for numbers in found.values() for x in numbers):
        raise ValueError("a metric is no number")
    return found["test"]


def _check(plan: Plan, run: Path) -> RunConfig:
    """The configuration of a run, which is refused if it is not the plan's."""
    config = read(RunConfig, run / CONFIG)
    if plan.settings is not None:
        odd = differing(config.model_dump(exclude={"run"}), plan.settings)
        for name, (found, wanted) in odd.items():
            raise KgflowError(
                f"{run} was trained with {name} = {found!r} where the experiment now has"
                f" {wanted!r}{' and more' * (len(odd) > 1)}: remove it to train again"
            )
    if plan.needs:
        made = [part.model_dump(include={"model", "training"}) for part in config.model.parts]
        if made != [_learned(need.settings) for need in plan.needs]:
            raise KgflowError(f"{run} is of other runs than its file has now: remove it")
    return config


def _learned(settings: Mapping[str, Any] | None) -> dict[str, Any]:
    """What a run says of itself where it is a part of another."""
    assert settings is not None
    return {"model": settings["model"], "training": settings["training"]}


def differing(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Where two settings differ, and how.

    Example:
        >>> differing({"data": "umls", "model": {"dim": 8}}, {"data": "umls", "model": {"dim": 4}})
        {'model.dim': (8, 4)}
    """
    a, b = _flat(one), _flat(other)
    return {key: (a.get(key), b.get(key)) for key in a | b if a.get(key) != b.get(key)}


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in values.items():
        inner = isinstance(value, Mapping)
        flat |= _flat(value, f"{prefix}{key}.") if inner else {prefix + key: value}
    return flat
