"""Run the experiments of a study that are not finished, each in a process of its own."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from kgflow.config import Experiment, dump, parse
from kgflow.data import load
from kgflow.errors import KgflowError
from kgflow.io import write_atomic
from reproduce.experiments import differing
from reproduce.results import PROVENANCE, Record, Results, provenance, read_record

NOT_RUN = "it was not run"
RECORD = "record.jsonl"
"""File of a run of another program."""


@dataclass(frozen=True)
class Plan:
    """A run to be made: a row of a study and a seed.

    Args:
        study: name of the study.
        row: id of the row.
        seed: random seed.
        scale: scale of the dimension, of tables of the paper.
        values: all settings of the run; a run with other settings is refused. None of an ensemble.
        needs: runs that an ensemble is made of, or that the run starts from.
        words: command after ``python -m``, to which ``--out`` and the run directory are added; None
            for a training of `values`.
        make: function that makes the run in a directory, from the directory of all runs; None for
            a command.
    """

    study: str
    row: str
    seed: int = 0
    scale: str = "paper"
    values: Mapping[str, Any] | None = field(default=None, compare=False, repr=False)
    needs: tuple["Plan", ...] = field(default=(), compare=False, repr=False)
    words: tuple[str, ...] = field(default=(), compare=False, repr=False)
    make: Callable[[Path, Path], None] | None = field(default=None, compare=False, repr=False)

    @property
    def id(self) -> str:
        """Row and scale, as stored results have them."""
        return self.row if self.scale == "paper" else f"{self.row}/{self.scale}"

    @property
    def name(self) -> str:
        """Row, scale and seed, as ensembles name their members."""
        return f"{self.id}:{self.seed}"

    @property
    def command(self) -> str:
        """The command that runs this row."""
        scale = f" --scale {self.scale}" if self.scale != "paper" else ""
        return f"python -m reproduce {self.study} --row {self.row}{scale}"

    def run(self, directory: Path) -> Path:
        """Return the run directory inside the directory of all runs."""
        return directory / self.study / f"{self.id.replace('/', '-')}-{self.seed}"


@dataclass(frozen=True)
class Result:
    """Outcome of a plan: the finished run, or the reason why there is none."""

    plan: Plan
    record: Record | None = None
    skipped: str | None = None


def run_plans(
    plans: Sequence[Plan],
    directory: Path,
    results: Results,
    jobs: int = 1,
    progress: Callable[[str], None] = lambda message: None,
) -> list[Result]:
    """Run what is not finished, resume what was interrupted, and return all results.

    Args:
        plans: runs to make; an ensemble is made after all trainings.
        directory: directory of all runs.
        results: stored results, which are not run again.
        jobs: number of processes at a time; each has one thread if there are several.
        progress: progress callback, called with the name of a run that starts.
    """
    directory.mkdir(parents=True, exist_ok=True)

    def result(plan: Plan) -> Result:
        found = _find(plan, directory, results)
        if found.skipped != NOT_RUN:
            return found
        try:
            _make(plan, directory, jobs, progress)
        except KgflowError as error:
            return Result(plan, skipped=str(error))
        return _find(plan, directory, results)

    found: dict[Plan, Result] = {}
    with ThreadPoolExecutor(jobs) as pool:
        for ensembles in (False, True):
            chosen = [plan for plan in plans if bool(plan.needs) == ensembles]
            found |= zip(chosen, pool.map(result, chosen), strict=True)
    return [found[plan] for plan in plans]


def collect(plans: Sequence[Plan], directory: Path, results: Results) -> Iterator[Result]:
    """Return what is finished or stored; nothing is run, and neither data nor weights are read."""
    for plan in plans:
        yield _find(plan, directory, results)


def _find(plan: Plan, directory: Path, results: Results) -> Result:
    problems = []
    for stored in (True, False):
        try:
            record = _stored(plan, results) if stored else _read(plan, directory)
            if record is not None:
                _check(plan, record)
                return Result(plan, record)
        except KgflowError as error:
            problems.append(str(error))
    return Result(plan, skipped=problems[0] if problems else NOT_RUN)


def _stored(plan: Plan, results: Results) -> Record | None:
    return results.get(plan.study, plan.id, plan.seed)


def _read(plan: Plan, directory: Path) -> Record | None:
    run = plan.run(directory)
    if (run / RECORD).is_file() and (run / PROVENANCE).is_file():
        found = Record.from_line((run / RECORD).read_text(encoding="utf-8"), str(run))
        return replace(found, provenance=json.loads((run / PROVENANCE).read_text()))
    return read_record(run, plan.study, plan.id, plan.seed)


def _make(plan: Plan, directory: Path, jobs: int, progress: Callable[[str], None]) -> None:
    run = plan.run(directory)
    run.parent.mkdir(parents=True, exist_ok=True)
    if plan.make is not None:
        progress(f"{plan.study} {plan.name}")
        plan.make(run, directory)
        write_atomic(run / PROVENANCE, json.dumps(provenance()).encode())
        return
    if plan.words:
        # The whole command is measured, so what was interrupted begins again.
        words = [*plan.words, "--out", str(run), *(["--force"] if run.exists() else [])]
    elif plan.needs:
        members = [need.run(directory) for need in plan.needs]
        for member, need in zip(members, plan.needs, strict=True):
            if _read(need, directory) is None:
                raise KgflowError(f"{member} is a member of it and is not trained")
        words = ["kgflow", "ensemble", *map(str, members), "--out", str(run), "--force"]
    else:
        assert plan.values is not None
        load(plan.values["data"])
        words = ["kgflow", "train", "--resume", str(run)]
        if not run.exists():
            config = run.parent / f"{run.name}.toml"
            write_atomic(config, dump(parse(Experiment, dict(plan.values), plan.name)))
            words = ["kgflow", "train", "--config", str(config), "--out", str(run)]
    progress(f"{plan.study} {plan.name}")
    spent = _call(words, jobs)
    write_atomic(run / PROVENANCE, json.dumps(provenance() | spent).encode())


def _call(words: Sequence[str], jobs: int) -> dict[str, str]:
    """Run a module, and return the seconds of the clock and of the processors."""
    threads = {"OMP_NUM_THREADS": "1"} if jobs > 1 else {}
    began = time.monotonic()
    with TemporaryFile() as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", *words],
            stdout=subprocess.DEVNULL,
            stderr=errors,
            env=os.environ | threads,
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        said = errors.read().decode("utf-8", "replace").strip().splitlines()
    if process.returncode:
        raise KgflowError((said or ["no message"])[-1])
    spent = {"wall": time.monotonic() - began, "cpu": usage.ru_utime + usage.ru_stime}
    return {name: f"{seconds:.1f}" for name, seconds in spent.items()}


def _check(plan: Plan, record: Record) -> None:
    """Refuse a run whose numbers are damaged or whose settings are not those of the plan."""
    source = record.source
    config = parse(Experiment, dict(record.config), source)
    if plan.values is not None:
        differ = differing(config.model_dump(), plan.values)
        for name, (found, wanted) in differ.items():
            raise KgflowError(
                f"{source} was trained with {name} = {found!r}, but the row now has {wanted!r}"
                f"{' and more differs' * (len(differ) > 1)}: remove it to train again"
            )
    if plan.needs and plan.make is None:
        members = [member.model_dump(exclude={"run"}) for member in config.model.members]
        needs = [need.values or {} for need in plan.needs]
        if members != [{k: v for k, v in values.items() if k != "data"} for values in needs]:
            raise KgflowError(f"{source} has other members than its row has now: remove it")
    try:
        record.check()
        if not record.history and not plan.needs and not plan.words:
            raise ValueError("an empty history")
    except (KeyError, TypeError, ValueError):
        raise KgflowError(f"{source} is damaged: remove it to train again") from None
