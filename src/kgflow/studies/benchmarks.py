"""Experiments of our own on the benchmark graphs."""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from kgflow.analysis.plots import Course, course_picture
from kgflow.errors import KgflowError
from kgflow.reproduction import NOT_RUN, Plan, Result
from kgflow.studies.benchmark import Benchmark, table
from kgflow.studies.effect import pairs
from kgflow.studies.experiment_file import ExperimentFile
from kgflow.studies.printed import BEST
from kgflow.studies.study import Shown, Study

DRAWN = 8
"""Learning curves in a picture: more cannot be told apart."""


class BenchmarksStudy(Study):
    """Every file of ``experiments/benchmarks/<graph>/``, with some seeds.

    What was tried, in words, may stand in ``experiments/benchmarks/notes.md``.
    """

    name, title = "benchmarks", "Benchmark graphs"
    varies, keeps = ("seeds",), True
    about = (
        "each row is an experiment file, its first comment what the row is. MRR and hits are of"
        " the test facts, filtered, both sides, ties realistic, at the epoch that is best on"
        " validation, whose MRR is that of all validation facts. Where there are several seeds,"
        " numbers are means ± standard deviations. paper is the MRR that the paper prints for the"
        " model (its n is 1024, or 512), diff ours less that; epochs, the best of them, and"
        " minutes of training, which are without validation, are means."
    )
    experiments: ClassVar[Path] = Path("experiments/benchmarks")

    def files(self) -> list[ExperimentFile]:
        """All experiments, in the order of graphs and names."""
        if not self.experiments.is_dir():
            raise KgflowError(f"{self.experiments} is not here: run this in a checkout of kgflow")
        return [ExperimentFile(path) for path in sorted(self.experiments.glob("*/*.toml"))]

    def plans(self, models: Sequence[str], data: Sequence[str]) -> list[Plan]:
        """Files times seeds."""
        found = [
            file
            for file in self.files()
            if file.experiment.model.name in (models or [file.experiment.model.name])
            and file.experiment.data in (data or [file.experiment.data])
        ]
        if not found:
            raise KgflowError(f"{self.experiments} has no experiment of these models and graphs")
        return [plan for file in found for plan in self.seeds(file)]

    def seeds(self, file: ExperimentFile) -> list[Plan]:
        """The trainings behind a row."""
        return [training(file, seed) for seed in range(self.options.seeds)]

    def show(self, results: Sequence[Result]) -> Shown:
        """For each graph its table and learning curves; then what uncertainty does, and notes."""
        notes = self._notes()
        by_plan, rows = {result.plan: result for result in results}, []
        for file in self.files():
            plans = self.seeds(file)
            if plans[0] in by_plan:
                rows.append(Benchmark(file, tuple(by_plan[plan] for plan in plans)))
        graphs = list(dict.fromkeys(row.graph for row in rows))
        parts = [self._graph([row for row in rows if row.graph == graph]) for graph in graphs]
        found = pairs(rows)
        if found:
            lines = [f"- {pair.sentence()}" for pair in found]
            parts.append("\n".join(["## Uncertainty's effect", "", *lines]))
        if notes:
            parts.append(f"## What was tried\n\n{notes}")
        told = {"rows": [r.to_dict() for r in rows], "effects": [p.to_dict() for p in found]}
        return Shown("\n\n".join(parts), told)

    def _notes(self) -> str:
        path = self.experiments / "notes.md"
        try:
            return path.read_text(encoding="utf-8").strip() if path.is_file() else ""
        except UnicodeDecodeError as error:
            raise KgflowError(f"{path} is not UTF-8: {error}") from None

    def _graph(self, rows: Sequence[Benchmark]) -> str:
        graph, done = rows[0].graph, [row for row in rows if row.done]
        parts = [f"## {graph}"]
        if done:
            parts.append(table(done))
        if graph in BEST:
            mrr, whose = BEST[graph]
            parts.append(f"The best published embedding has MRR {mrr:.3f} ({whose}).")
        if any(any(row.courses()) for row in done):
            parts.append(self._picture(graph, done))
        missing = [line for row in rows for line in _missing(row)]
        return "\n\n".join([*parts, *(["\n".join(missing)] if missing else [])])

    def _picture(self, graph: str, rows: Sequence[Benchmark]) -> str:
        shown = best(rows, DRAWN)
        courses = [Course(row.file.description, row.courses()) for row in shown]
        marks = {f"paper's {row.model}, test": row.paper[0] for row in shown if row.paper}
        drawn = course_picture(courses, marks, graph, self.pictures / f"{graph}.png")
        said = "Validation MRR against minutes of training"
        said += f", the {len(shown)} best rows" if len(shown) < len(rows) else ""
        return f"![{said}]({self.pictures.name}/{drawn.name})"


def best(rows: Sequence[Benchmark], count: int) -> list[Benchmark]:
    """So many rows of the highest validation MRR, in their order."""
    heights = {
        row.file.path: max((mrr for points in row.courses() for _, mrr in points), default=0.0)
        for row in rows
    }
    chosen = sorted(heights, key=lambda path: heights[path])[-count:]
    return [row for row in rows if row.file.path in chosen]


def training(file: ExperimentFile, seed: int) -> Plan:
    """An experiment file with a seed."""
    said, name = file.experiment, f"{file.path.parent.name}-{file.path.stem}-{seed}"
    words = ("train", "--config", str(file.path), "--seed", str(seed))
    return Plan(said.data, said.model.name, words, name=name, settings=file.settled(seed))


def _missing(row: Benchmark) -> list[str]:
    """Why a row, or a seed of it, has no numbers; seeds that were not run matter only if all."""
    reasons = [r.skipped for r in row.results if r.skipped and r.skipped != NOT_RUN]
    if reasons or not row.done:
        why = "; ".join(dict.fromkeys(reasons))
        said = f"{'Not run' if not reasons else 'Not shown'}: {row.file.description}"
        return [f"- {said} (`{row.file.path}`){f': {why}' if why else ''}."]
    return []
