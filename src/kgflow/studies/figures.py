"""The rules NFE-1 learns, as in the paper's Figures 3 to 6."""

from collections.abc import Sequence

from kgflow.analysis.figures import Drawn, draw_figures, figures_page
from kgflow.errors import KgflowError
from kgflow.reproduction import Plan, Result
from kgflow.runs.run import Run
from kgflow.studies.study import Shown, Study

GRAPHS = {
    "world": "",
    "wn18rr": (
        "--dim 64 --epochs 10 --batch-size 512 --lr 0.01 --decay 0.9 --dropout 0"
        " --loss softmax --regularizer dura --penalty 0.03"
    ),
    "fb15k-237": (
        "--dim 64 --epochs 8 --batch-size 512 --lr 0.006 --decay 0.92 --margin 2 --dropout 0"
    ),
}
"""Graphs whose rules are drawn, and settings that are small but enough to see them."""


class FiguresStudy(Study):
    """Histograms of how near the relations of a model come to rules.

    Example:
        >>> from pathlib import Path
        >>> FiguresStudy(Path(), Path()).plans([], ["world"])[0].command
        'kgflow train world --model nfe-1'
    """

    name, title = "figures", "The rules NFE-1 learns"
    about = """after Figures 3 to 6 of the paper.

A relation is the function σ x + μ. For symmetry and antisymmetry the statistics are |σσ - 1| and
|σμ + μ|, for the inverse |σ₂σ₁ - 1| and |σ₂μ₁ + μ₂|, for a composition |σ₂σ₁ - σ₃| and
|σ₂μ₁ + μ₂ - μ₃|, of each coordinate; all would be 0 for an exact rule. In brackets and dashed: the
same with other relations in the rule's place. Figure 6 has the first two relations in the order in
which the graph has paths.

Where scales are below 1 in size, |σσ - 1| is nearer to 1 than to 0 even if a relation is symmetric.
So `kgflow rules`, of which belief, distance, support and confidence are, compares a relation with
its reciprocal, which the model learns too: 0 is the same function, 1 as different as any two."""

    def plans(self, models: Sequence[str], data: Sequence[str]) -> list[Plan]:
        """NFE-1 on the paper's graphs and on `world`."""
        if models:
            raise KgflowError("the figures are of nfe-1: leave --model out")
        for name in data:
            if name not in GRAPHS:
                raise KgflowError(f"no figure is of '{name}'; known are {', '.join(GRAPHS)}")
        return [
            Plan(graph, "nfe-1", ("train", graph, "--model", "nfe-1", *GRAPHS[graph].split()))
            for graph in data or GRAPHS
        ]

    def show(self, results: Sequence[Result]) -> Shown:
        """A table of all figures, and the pictures."""
        drawn: list[Drawn] = []
        for plan in (result.plan for result in results if not result.skipped):
            drawn += draw_figures(Run.open(plan.run(self.directory)), plan.data, self.pictures)
        return Shown(figures_page(drawn), {"figures": [found.to_dict() for found in drawn]})
