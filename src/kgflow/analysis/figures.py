"""The paper's Figures 3 to 6, on its own relations and on `world`."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kgflow.analysis.plots.rules import deviations_figure, short_name
from kgflow.analysis.rules import Deviation, EvaluatedRule, Rule, RuleEvaluator
from kgflow.analysis.rules.rule import relation_name
from kgflow.runs.run import Run

AWARD = "/award/award_category/winners./award/award_honor/award_winner"
NOMINEE = "/award/award_nominee/award_nominations./award/award_nomination/nominated_for"
CATEGORY = "/award/award_category/nominees./award/award_nomination/nominated_for"


@dataclass(frozen=True)
class Figure:
    """A rule about named relations, and the paper's number of its picture.

    Args:
        data: the graph.
        kind: of the rule.
        relations: one for symmetry and antisymmetry, two for the inverse, three for a composition.
            A name that ends in ⁻¹ is a reciprocal.
        number: in the paper, None where it is not there.
    """

    data: str
    kind: str
    relations: tuple[str, ...]
    number: int | None = None

    @property
    def title(self) -> str:
        """The rule in words, paths cut to their ends."""
        names = [short_name(name) for name in self.relations]
        if self.kind == "composition":
            return f"{names[0]} then {names[1]} gives {names[2]}"
        if self.kind == "inverse":
            return f"{names[1]} is the inverse of {names[0]}"
        return f"{names[0]} is {self.kind}"

    @property
    def file(self) -> str:
        """The picture's name."""
        return f"{self.data}-{self.kind}-{short_name(self.relations[0]).strip('_')}.png"

    def statistic(self, run: Run) -> Deviation:
        """What is drawn."""
        names = run.data.relations.names
        ids = {relation_name(d, names): d for d in range(2 * len(names))}
        first, *rest = (ids[name] for name in self.relations)
        return Deviation(first, rest[0] if rest else first, *rest[1:])

    def rule(self, run: Run) -> Rule | None:
        """What model and graph are asked about; None for what holds of any reciprocal."""
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
    """A figure that was drawn: its file, the medians of both statistics, and the judgement.

    `others` are the medians with other relations in the rule's place.
    """

    figure: Figure
    path: Path
    medians: tuple[float, float]
    others: tuple[float, float]
    belief: EvaluatedRule | None

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
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
    """All figures of a graph, from a run on it."""
    import torch

    judge, drawn = RuleEvaluator(run.predictor), []
    for figure in (figure for figure in FIGURES if figure.data == data):
        statistic, rule = figure.statistic(run), figure.rule(run)
        path = deviations_figure(run, [(statistic, figure.title)], directory / figure.file)
        rest = [other.values(run.model) for other in statistic.alternatives(run.model)]
        mine, others = (
            [torch.cat(x).median().item() for x in zip(*gaps, strict=True)]
            for gaps in ([statistic.values(run.model)], rest)
        )
        belief = judge.evaluate(rule) if rule else None
        drawn.append(Drawn(figure, path, (mine[0], mine[1]), (others[0], others[1]), belief))
    return drawn


def figures_page(drawn: Sequence[Drawn]) -> str:
    """A table of all figures, then the pictures, as Markdown; their folder is beside the page."""
    head = (
        "| graph | rule | paper | median of scales (others) | median of shifts (others) | belief |"
        " distance | support | confidence |\n| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |"
        " ---: |"
    )
    pictures = [
        f"![{d.figure.title}, {d.figure.data}]({d.path.parent.name}/{d.path.name})" for d in drawn
    ]
    return "\n".join([head, *map(_row, drawn), "", *(line + "\n" for line in pictures)]).strip()


def _row(drawn: Drawn) -> str:
    figure, belief = drawn.figure, drawn.belief
    medians = [f"{a:.3f} ({b:.3f})" for a, b in zip(drawn.medians, drawn.others, strict=True)]
    judged = ["–"] * 4
    if belief is not None:
        shares = (belief.model_confidence, belief.distance, belief.confidence)
        told = ["–" if x is None else f"{x:.2f}" for x in shares]
        judged = [told[0], told[1], f"{belief.support:,}", told[2]]
    number = f"Figure {figure.number}" if figure.number else "–"
    return "| " + " | ".join([figure.data, figure.title, number, *medians, *judged]) + " |"
