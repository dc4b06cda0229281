"""Runs of the benchmarks, combined."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from kgflow.errors import KgflowError
from kgflow.reproduction import Plan, Result
from kgflow.runs.store import read_metrics
from kgflow.studies.benchmarks import BenchmarksStudy, training
from kgflow.studies.combination_file import CombinationFile
from kgflow.studies.study import Shown, Study
from kgflow.training import read_history

HEAD = (
    "graph", "combination", "runs", "MRR", "best alone", "H@1", "H@10", "valid MRR",
    "best alone, valid", "min",
)  # fmt: skip


@dataclass(frozen=True)
class Combination:
    """A row: the combination, and the runs that it is of."""

    file: CombinationFile
    whole: Result
    parts: tuple[Result, ...]

    def to_dict(self) -> dict[str, Any]:
        """The row as JSON has it."""
        assert self.whole.place is not None
        places = [part.place for part in self.parts if part.place is not None]
        valid = [_mrr(place, "valid") for place in places]
        histories = [read_history(place / "history.jsonl") for place in places]
        return {
            "graph": self.file.graph,
            "description": self.file.description,
            "runs": [part.plan.name for part in self.parts],
            "mrr": self.whole.mrr,
            "hits1": self.whole.hits1,
            "hits10": self.whole.hits10,
            "valid": _mrr(self.whole.place, "valid"),
            # Of the run that is best on validation, as one would choose it.
            "alone": _mrr(places[valid.index(max(valid))], "test"),
            "alone_valid": max(valid),
            "minutes": sum(r["seconds"] for history in histories for r in history) / 60,
        }

    def cells(self) -> list[str]:
        """The row as text."""
        found = self.to_dict()
        names = ("mrr", "alone", "hits1", "hits10", "valid", "alone_valid")
        numbers = [f"{found[name]:.3f}" for name in names]
        said = found["description"].replace("|", "\\|")
        cells = [found["graph"], said, str(len(found["runs"])), *numbers]
        return [*cells, f"{found['minutes']:.0f}"]


class CombinationsStudy(Study):
    """Every file of ``experiments/combinations/<graph>/``."""

    name, title, keeps = "combinations", "Several runs as one", True
    about = (
        "each row is the mean of some runs of `kgflow reproduce benchmarks`, made by"
        " `kgflow ensemble`. MRR and hits are of the test facts, filtered, both sides, ties"
        " realistic. best alone is the MRR of that of its runs which has the best validation MRR."
        " Minutes are those of training all runs."
    )
    experiments: ClassVar[Path] = Path("experiments/combinations")

    def files(self) -> list[CombinationFile]:
        """All combinations, in the order of graphs and names."""
        if not self.experiments.is_dir():
            raise KgflowError(f"{self.experiments} is not here: run this in a checkout of kgflow")
        runs = BenchmarksStudy.experiments
        return [CombinationFile(path, runs) for path in sorted(self.experiments.glob("*/*.toml"))]

    def plans(self, models: Sequence[str], data: Sequence[str]) -> list[Plan]:
        """The trainings, each once, and then what is made of them."""
        if models:
            raise KgflowError("combinations are of several models: leave --model out")
        found = [file for file in self.files() if file.graph in (data or [file.graph])]
        if not found:
            raise KgflowError(f"{self.experiments} has no combination on these graphs")
        whole = [self.whole(file) for file in found]
        return [*dict.fromkeys(part for plan in whole for part in plan.needs), *whole]

    def whole(self, file: CombinationFile) -> Plan:
        """What makes one run of several."""
        needs = tuple(training(experiment, seed) for experiment, seed in file.runs)
        name = f"{file.graph}-{file.path.stem}"
        places = [str(plan.run(self.directory)) for plan in needs]
        words = ("ensemble", *places, "--out", str(self.directory / name))
        return Plan(file.runs[0][0].experiment.data, "mean", words, name=name, needs=needs)

    def show(self, results: Sequence[Result]) -> Shown:
        """A table of all that were made, and why the others were not."""
        by_plan, rows, missing = {result.plan: result for result in results}, [], []
        for file in self.files():
            plan = self.whole(file)
            if plan not in by_plan:
                continue
            row = Combination(file, by_plan[plan], tuple(by_plan[part] for part in plan.needs))
            reasons = [r.skipped for r in (*row.parts, row.whole) if r.skipped]
            if reasons:
                missing.append(f"- {file.description} (`{file.path}`): {reasons[0]}.")
            else:
                rows.append(row)
        lines = ["| " + " | ".join(HEAD) + " |", "| --- | --- |" + " ---: |" * (len(HEAD) - 2)]
        lines += ["| " + " | ".join(row.cells()) + " |" for row in rows]
        parts = ["\n".join(lines), *(["\n".join(["Not made:", "", *missing])] if missing else [])]
        return Shown("\n\n".join(parts), {"rows": [row.to_dict() for row in rows]})


def _mrr(place: Path, split: str) -> float:
    return float(read_metrics(place)[split]["realistic"]["mrr"])
