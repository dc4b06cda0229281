"""Whether uncertainty helps."""

from collections.abc import Sequence

from kgflow.analysis import study, study_page
from kgflow.analysis.plots import rejections
from kgflow.models import model_class
from kgflow.reproduction import Plan, Result
from kgflow.runs.run import Run
from kgflow.studies.study import Shown, Study

GRAPHS = {
    "world": "",
    "umls": "",
    "codex-s": "--dim 64 --epochs 20",
    "fb15k-237": "--dim 64 --epochs 8 --batch-size 512 --lr 0.006 --decay 0.92 --margin 2"
    " --dropout 0",
}
"""Graphs on which uncertainty is studied, and how training is kept to minutes."""


class UncertaintyStudy(Study):
    """Flows whose uncertainty is held against simpler signals.

    Example:
        >>> from pathlib import Path
        >>> UncertaintyStudy(Path(), Path()).plans(["nfe-1"], ["codex-s"])[0].command
        'kgflow train codex-s --model nfe-1 --dim 64 --epochs 20'
    """

    name, title = "uncertainty", "Does uncertainty help?"
    about = "each run measured as `kgflow uncertainty RUN --study` does."

    def plans(self, models: Sequence[str], data: Sequence[str]) -> list[Plan]:
        """Small graphs as they come, larger ones in minutes."""
        for name in models:
            model_class(name)
        return [
            Plan(graph, name, ("train", graph, "--model", name, *GRAPHS.get(graph, "").split()))
            for graph in data or GRAPHS
            for name in models or (("nfe-1",) if GRAPHS.get(graph) else ("nfe-1", "nfe-2"))
        ]

    def show(self, results: Sequence[Result]) -> Shown:
        """Tables, what came out in words, and rejection curves."""
        plans = [result.plan for result in results if not result.skipped]
        found = [study(Run.open(plan.run(self.directory))) for plan in plans]
        if not found:
            return Shown("Nothing was studied.", {"studies": []})
        drawn = rejections(found, self.pictures / "rejection.png")
        link = f"![MRR of the surest answers, by each signal]({self.pictures.name}/{drawn.name})"
        told = [
            s.to_dict() | {"command": plan.command} for plan, s in zip(plans, found, strict=True)
        ]
        return Shown(f"{study_page(found)}\n\n{link}", {"studies": told})
