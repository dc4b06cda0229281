"""Sections on ranking metrics, overall and by relation, and on the comparison of runs."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgflow.analysis.comparison import LEVEL, RESAMPLES, Comparison, Difference, RelationDifference
from kgflow.analysis.plots.evaluation import dot_plot, interval_plot, rank_heatmap
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
from kgflow.evaluation import POLICIES, Evaluation, Ranking

METRICS = {
    "mrr": "MRR",
    "mr": "mean rank",
    "hits@1": "Hits@1",
    "hits@3": "Hits@3",
    "hits@10": "Hits@10",
    "amr": "AMR",
    "amri": "AMRI",
}
"""Names of the metrics in tables."""

MAX_RELATIONS = 30
"""Largest number of relations in the plot; the others are one row."""

MAX_DIFFERENCES = 12
"""Largest number of relations in the comparison of two runs."""

INTERVAL = f"{LEVEL:.0%} interval"

Rows = list[list[Any]]
Names = tuple[str, str]


@register
class RankingMetrics(Section):
    """Filtered ranking metrics."""

    id, title, order = "metrics", "Ranking metrics", 30

    def contents(self, context: ReportContext) -> Iterator[Content]:
        first = context.evaluations[0]
        yield Paragraph(
            f"Each {context.split} fact gives two queries, one for its tail and one for its head. "
            "All entities are ranked; other known answers are filtered out. "
            f"{first.untrained:,} of {len(first.ranking):,} queries contain an entity that is not "
            "in the training data; they are included."
        )
        metrics = METRICS.values()
        yield Table(
            "Metrics for three policies on tied scores: the best rank (optimistic), the mean rank "
            "(realistic) and the worst rank (pessimistic). AMR is the mean rank relative to random "
            "scores (1); AMRI is 0 for random scores and 1 at best.",
            context.columns("ties", *metrics),
            _rows(context, lambda e: [[p, *_metrics(e.ranking, p)] for p in POLICIES]),
        )
        yield Table(
            "Metrics by predicted side (realistic ties).",
            context.columns("side", "queries", *metrics),
            _rows(context, lambda e: _groups(e.ranking, e.ranking.side)),
        )
        yield Table(
            "Metrics by category of the relation in training: 1-N relations have many tails per "
            "head, N-1 relations many heads per tail.",
            context.columns("category", "queries", *metrics),
            _rows(context, lambda e: _groups(e.ranking, context.relation_categories(e))),
        )


@register
class RelationMetrics(Section):
    """Ranking metrics by relation."""

    id, title, order = "relations", "Metrics by relation", 40

    def contents(self, context: ReportContext) -> Iterator[Content]:
        groups = [e.ranking.by(context.relation_names(e)) for e in context.evaluations]
        order = sorted(groups[0], key=lambda name: (-len(groups[0][name]), name))
        yield _relation_plot(context, order, groups)
        for name, group in zip(context.names, groups, strict=True):
            rows = [[r, len(group[r]), *_metrics(group[r])] for r in order]
            run = f" of {name}" if context.several else ""
            caption = f"All {len(rows):,} relations{run}, most frequent first (realistic ties)"
            columns = ("relation", "queries", *METRICS.values())
            yield Table(caption, columns, rows, collapsed=True)


def _metrics(ranking: Ranking, policy: str = "realistic") -> list[float]:
    values = ranking.metrics()[policy].to_dict()
    return [values[name] for name in METRICS]


def _rows(context: ReportContext, make: Callable[[Evaluation], Rows]) -> Rows:
    results = zip(context.names, context.evaluations, strict=True)
    return [context.row(name, cells) for name, result in results for cells in make(result)]


def _groups(ranking: Ranking, by: NDArray[np.str_]) -> Rows:
    return [[name, len(part), *_metrics(part)] for name, part in ranking.by(by).items()]


def _relation_plot(
    context: ReportContext, order: list[str], groups: list[dict[str, Ranking]]
) -> Plot:
    top, rest = order[:MAX_RELATIONS], order[MAX_RELATIONS:]
    rows = [f"{shorten(name, 30)} ({len(groups[0][name]):,})" for name in top]
    mrrs = [[_mrr([group[name]]) for name in top] for group in groups]
    if rest:
        count = sum(len(groups[0][name]) for name in rest)
        rows.append(f"{len(rest):,} others ({count:,})")
        for mrr, group in zip(mrrs, groups, strict=True):
            mrr.append(_mrr([group[name] for name in rest]))

    return Plot.draw(
        "relations",
        f"Dot plot of the MRR of {len(rows)} relations, from 0 to 1.",
        f"MRR by relation, most frequent first, with the number of {context.split} queries for "
        "heads and tails in brackets. The MRR of a relation with few queries is uncertain.",
        lambda figure: dot_plot(figure.subplots(), rows, mrrs, context.names),
        (5.6, 0.9 + 0.22 * len(rows) + 0.3 * (len(groups) > 1)),
    )


def _mrr(rankings: list[Ranking]) -> float:
    return float(np.concatenate([1 / r.rank("realistic") for r in rankings]).mean())


@register
class RunComparison(Section):
    """Paired comparison of the other runs with the first."""

    id, title, order = "comparison", "Comparison of runs", 20

    def applies_to(self, context: ReportContext) -> bool:
        return context.several

    def contents(self, context: ReportContext) -> Iterator[Content]:
        first, *others = context.names
        yield _difference_table(context)
        for i, (other, comparison) in enumerate(zip(others, context.comparisons, strict=True), 1):
            yield Heading(f"{other} compared with {first}")
            yield Paragraph(_conclusion(first, other, comparison))
            rows = [row for row in comparison.by_relation(MAX_DIFFERENCES) if row.contribution]
            if not rows:
                continue
            names = (first, other)
            plots = (
                _rank_plot(i, names, comparison),
                _relation_difference_plot(i, context, names, rows),
            )
            yield SideBySide(plots)
            yield _relation_table(context, names, rows)


def _difference_table(context: ReportContext) -> Table:
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


def _relation_difference_plot(
    i: int, context: ReportContext, names: Names, rows: list[RelationDifference]
) -> Plot:
    relations = context.data.relations
    titles = [f"{shorten(relations[row.relation], 26)} ({row.answers:,})" for row in rows]
    bounds = [(d.mean, d.low, d.high) for d in (row.difference for row in rows)]

    label = f"MRR of {names[1]} minus {names[0]}"
    return Plot.draw(
        f"relation-differences-{i}",
        f"Differences in MRR by relation with intervals, {len(rows)} relations.",
        "Relations with the largest contributions to the difference, with their numbers of "
        f"queries and {LEVEL:.0%} intervals; hollow markers are not significant.",
        lambda figure: interval_plot(figure.subplots(), titles, bounds, label),
        (5.6, 1.2 + 0.27 * len(rows)),
    )


def _relation_table(context: ReportContext, names: Names, rows: list[RelationDifference]) -> Table:
    cells = [
        [
            *(context.data.relations[row.relation], row.answers, row.first, row.second),
            *(*_cells(row.difference), format_signed(row.contribution)),
        ]
        for row in rows
    ]
    caption = (
        "MRR by relation, largest contributions first. The contributions of all relations add up "
        "to the difference in MRR."
    )
    columns = ("relation", "queries", *names, "difference", INTERVAL, "contribution")
    return Table(caption, columns, cells)
