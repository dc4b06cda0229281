"""Section on the comparison of runs."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kgflow.analysis.comparison import (
    LEVEL,
    RESAMPLES,
    Comparison,
    Difference,
    RelationDifference,
)
from kgflow.analysis.plots.evaluation import interval_plot, rank_heatmap
from kgflow.analysis.report.content import (
    Content,
    Heading,
    Paragraph,
    Plot,
    SideBySide,
    Table,
    format_signed,
    shorten,
)
from kgflow.analysis.report.section import ReportContext, Section, register

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_RELATIONS = 12
"""Largest number of relations shown."""

INTERVAL = f"{LEVEL:.0%} interval"

Names = tuple[str, str]


@register
class RunComparison(Section):
    """Paired comparison of the other runs with the first."""

    id, title, order = "comparison", "Comparison of runs", 20

    def applies_to(self, context: ReportContext) -> bool:
        """Return whether there are several runs."""
        return context.several

    def contents(self, context: ReportContext) -> Iterator[Content]:
        """Yield the differences in MRR, joint ranks, and differences by relation."""
        first, *others = context.names
        yield _table(context)
        for i, (other, comparison) in enumerate(zip(others, context.comparisons, strict=True), 1):
            yield Heading(f"{other} compared with {first}")
            yield Paragraph(_conclusion(first, other, comparison))
            rows = [row for row in comparison.by_relation(MAX_RELATIONS) if row.contribution]
            if not rows:
                continue
            names = (first, other)
            plots = _rank_plot(i, names, comparison), _relation_plot(i, context, names, rows)
            yield SideBySide(plots)
            yield _relation_table(context, names, rows)


def _table(context: ReportContext) -> Table:
    first, *others = context.names
    rows = [
        [other, *_cells(c.difference), c.wins, c.ties, c.losses]
        for other, c in zip(others, context.comparisons, strict=True)
    ]
    caption = (
        f"MRR of each run minus that of {first} on the same {context.split} queries, with a "
        f"{LEVEL:.0%} confidence interval from {RESAMPLES:,} bootstrap samples of facts. Better, "
        "equal and worse are numbers of queries by rank."
    )
    columns = ("run", "difference", INTERVAL, "better", "equal", "worse")
    return Table(caption, columns, rows)


def _cells(difference: Difference) -> tuple[str, str]:
    low, high = format_signed(difference.low), format_signed(difference.high)
    return format_signed(difference.mean), f"{low} to {high}"


def _conclusion(first: str, other: str, comparison: Comparison) -> str:
    difference = comparison.difference
    if comparison.ties == comparison.gain.size:
        return f"{other} and {first} have the same rank for every query."
    if not difference.significant:
        return f"The difference between {other} and {first} is not significant."
    word = "higher" if difference.mean > 0 else "lower"
    return f"The MRR of {other} is significantly {word} than that of {first}."


def _rank_plot(i: int, names: Names, comparison: Comparison) -> Plot:
    first, second = comparison.rank
    return Plot.draw(
        f"ranks-{i}",
        f"Heat map of counts: ranks by {names[0]} (x axis) and by {names[1]} (y axis).",
        "Number of queries by the rank of the answer in both runs. On the framed diagonal the "
        f"ranks are similar; above it {names[1]} is better, below it {names[0]}.",
        lambda figure: rank_heatmap(figure.subplots(), first, second, names),
        (5.2, 4.4),
    )


def _relation_plot(
    i: int, context: ReportContext, names: Names, rows: list[RelationDifference]
) -> Plot:
    relations = context.data.relations
    titles = [f"{shorten(relations[row.relation], 26)} ({row.answers:,})" for row in rows]
    bounds = [(d.mean, d.low, d.high) for d in (row.difference for row in rows)]

    def draw(figure: "Figure") -> None:
        axes = figure.subplots()
        interval_plot(axes, titles, bounds)
        axes.set_xlabel(f"MRR of {names[1]} minus {names[0]}")

    return Plot.draw(
        f"relation-differences-{i}",
        f"Differences in MRR by relation with intervals, {len(rows)} relations.",
        "Relations with the largest contributions to the difference, with their numbers of "
        f"queries and {LEVEL:.0%} intervals; hollow markers are not significant.",
        draw,
        (5.6, 1.2 + 0.27 * len(rows)),
    )


def _relation_table(context: ReportContext, names: Names, rows: list[RelationDifference]) -> Table:
    cells = [
        [
            context.data.relations[row.relation],
            row.answers,
            row.first,
            row.second,
            *_cells(row.difference),
            format_signed(row.contribution),
        ]
        for row in rows
    ]
    caption = (
        "MRR by relation, largest contributions first. The contributions of all relations add up "
        "to the difference in MRR."
    )
    columns = ("relation", "queries", *names, "difference", INTERVAL, "contribution")
    return Table(caption, columns, cells)
