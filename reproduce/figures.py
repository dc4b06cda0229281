"""The rules that NFE-1 learns, as in Figures 3 to 6 of the paper, and on `world`."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kgflow.analysis.plots.rules import deviations_figure, short_name
from kgflow.analysis.rules import Deviation, EvaluatedRule, Rule, RuleEvaluator
from kgflow.analysis.rules.rule import relation_name
from kgflow.errors import KgflowError
from kgflow.runs.run import Run
from reproduce.experiments import Row
from reproduce.running import Result
from reproduce.study import Shown, Study, table

AWARD = "/award/award_category/winners./award/award_honor/award_winner"
NOMINEE = "/award/award_nominee/award_nominations./award/award_nomination/nominated_for"
CATEGORY = "/award/award_category/nominees./award/award_nomination/nominated_for"


@dataclass(frozen=True)
class Figure:
    """A rule about named relations, and the number of its figure in the paper.

    Args:
        data: the graph.
        kind: kind of the rule: symmetric, antisymmetric, inverse or composition.
        relations: one for symmetry and antisymmetry, two for the inverse, three for a composition.
            A name that ends in ⁻¹ is an inverse relation.
        number: number of the figure in the paper, or None.
    """

    data: str
    kind: str
    relations: tuple[str, ...]
    number: int | None = None

    @property
    def title(self) -> str:
        """The rule in words, with the last parts of path-like names."""
        names = [short_name(name) for name in self.relations]
        if self.kind == "composition":
            return f"{names[0]} then {names[1]} gives {names[2]}"
        if self.kind == "inverse":
            return f"{names[1]} is the inverse of {names[0]}"
        return f"{names[0]} is {self.kind}"

    @property
    def file(self) -> str:
        """File name of the picture."""
        return f"{self.data}-{self.kind}-{short_name(self.relations[0]).strip('_')}.png"

    def statistic(self, run: Run) -> Deviation:
        """Return the statistic that is drawn."""
        names = run.data.relations.names
        ids = {relation_name(d, names): d for d in range(2 * len(names))}
        first, *rest = (ids[name] for name in self.relations)
        return Deviation(first, rest[0] if rest else first, *rest[1:])

    def rule(self, run: Run) -> Rule | None:
        """Return the rule to test; None for a rule that is true of every inverse relation."""
        R, statistic = len(run.data.relations), self.statistic(run)
        if statistic.third is not None:
            return Rule((statistic.first, statistic.second), statistic.third, R)
        if statistic.second == statistic.first + R:
            return None
        return Rule((statistic.first + R,), statistic.second, R, self.kind == "antisymmetric")


FIGURES = (
    Figure("wn18rr", "symmetric", ("_similar_to",), 3),
    Figure("wn18rr", "antisymmetric", ("_instance_hypernym",), 4),
    Figure("wn18rr", "inverse", ("_similar_to", "_similar_to⁻¹"), 5),
    Figure("wn18rr", "inverse", ("_instance_hypernym", "_instance_hypernym⁻¹")),
    # The paper prints the first two in the other order, in which FB15k-237 has no path at all.
    Figure("fb15k-237", "composition", (AWARD, NOMINEE, CATEGORY), 6),
    Figure("world", "symmetric", ("borders",)),
    Figure("world", "antisymmetric", ("in_region",)),
    Figure("world", "inverse", ("capital_of", "has_capital")),
    Figure("world", "composition", ("in_subregion", "subregion_in", "in_region")),
)


@dataclass(frozen=True)
class Drawn:
    """A figure that was drawn: its file, the medians of both statistics, and the tested rule.

    `others` are the medians with other relations in place of those of the rule.
    """

    figure: Figure
    path: Path
    medians: tuple[float, float]
    others: tuple[float, float]
    evaluated: EvaluatedRule | None

    def to_dict(self) -> dict[str, object]:
        """Return the figure as values for JSON."""
        return {
            "data": self.figure.data,
            "rule": self.figure.title,
            "file": str(self.path),
            "median_scale": self.medians[0],
            "median_shift": self.medians[1],
            "others_scale": self.others[0],
            "others_shift": self.others[1],
        }


def draw_figures(run: Run, data: str, directory: Path) -> list[Drawn]:
    """Draw all figures of a graph from a run on it."""
    import torch

    evaluator, drawn = RuleEvaluator(run.predictor), []
    for figure in (figure for figure in FIGURES if figure.data == data):
        statistic, rule = figure.statistic(run), figure.rule(run)
        path = deviations_figure(run, [(statistic, figure.title)], directory / figure.file)
        rest = [other.values(run.model) for other in statistic.alternatives(run.model)]
        mine, others = (
            [torch.cat(x).median().item() for x in zip(*gaps, strict=True)]
            for gaps in ([statistic.values(run.model)], rest)
        )
        evaluated = evaluator.evaluate(rule) if rule else None
        drawn.append(Drawn(figure, path, (mine[0], mine[1]), (others[0], others[1]), evaluated))
    return drawn


class FiguresStudy(Study):
    """NFE-1 on the graphs of figures.toml, with histograms of the rules it learns."""

    name, title = "figures", "The rules NFE-1 learns"
    about = """after Figures 3 to 6 of the paper.

A relation is the function σ x + μ. For symmetry and antisymmetry the statistics are |σσ - 1| and
|σμ + μ|, for the inverse |σ₂σ₁ - 1| and |σ₂μ₁ + μ₂|, for a composition |σ₂σ₁ - σ₃| and
|σ₂μ₁ + μ₂ - μ₃|, per coordinate; all are 0 for an exact rule. In brackets and dashed: the same with
other relations in place of those of the rule. Figure 6 has the first two relations in the order in
which the graph has paths.

Where scales are below 1 in size, |σσ - 1| is nearer to 1 than to 0 even if a relation is symmetric.
Therefore `kgflow rules`, which computes evaluated, distance, support and confidence, compares a
relation with its inverse relation, which is learned too: distance 0 is the same function, 1 as
different as any two."""

    def rows(self) -> list[Row]:
        """Return the chosen graphs."""
        if self.options.models:
            raise KgflowError("the figures are of nfe-1: leave --model out")
        return super().rows()

    def show(self, results: Sequence[Result]) -> Shown:
        """Return a table of all figures, and the pictures."""
        drawn: list[Drawn] = []
        for plan in (result.plan for result in results if not result.skipped):
            drawn += draw_figures(Run.open(plan.run(self.directory)), plan.row, self.pictures)
        return Shown(figures_page(drawn), {"figures": [found.to_dict() for found in drawn]})


def figures_page(drawn: Sequence[Drawn]) -> str:
    """Return a table of all figures and then the pictures, as Markdown."""
    head = ["graph", "rule", "paper", "median of scales (others)", "median of shifts (others)"]
    head += ["evaluated", "distance", "support", "confidence"]
    pictures = [
        f"![{d.figure.title}, {d.figure.data}]({d.path.parent.name}/{d.path.name})" for d in drawn
    ]
    return "\n\n".join([table(head, [_cells(d) for d in drawn], words=3), *pictures])


def _cells(drawn: Drawn) -> list[str]:
    figure, evaluated = drawn.figure, drawn.evaluated
    medians = [f"{a:.3f} ({b:.3f})" for a, b in zip(drawn.medians, drawn.others, strict=True)]
    measures = ["–"] * 4
    if evaluated is not None:
        shares = (evaluated.model_confidence, evaluated.distance, evaluated.confidence)
        texts = ["–" if x is None else f"{x:.2f}" for x in shares]
        measures = [texts[0], texts[1], f"{evaluated.support:,}", texts[2]]
    number = f"Figure {figure.number}" if figure.number else "–"
    return [figure.data, figure.title, number, *medians, *measures]
