"""Sections on ranking metrics: summary, overall metrics, and metrics by relation."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from kgflow.analysis.plots.evaluation import dot_plot
from kgflow.analysis.report.content import (
    Content,
    DescriptionList,
    Heading,
    Paragraph,
    Plot,
    Table,
    shorten,
)
from kgflow.analysis.report.section import ReportContext, Section, register
from kgflow.evaluation import POLICIES, Ranking

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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

Rows = list[list[Any]]


@register
class Summary(Section):
    """Main metrics of every run."""

    id, title, order = "summary", "Summary", 10

    def contents(self, context: ReportContext) -> Iterator[Content]:
        """Yield the main metrics of each run."""
        for name, evaluation in zip(context.names, context.evaluations, strict=True):
            metrics = evaluation["realistic"]
            if context.several:
                yield Heading(name)
            shown = ("mrr", "hits@1", "hits@10", "mr")
            items: list[tuple[str, Any]] = [(METRICS[key], metrics[key]) for key in shown]
            items.append((f"{context.split} queries", len(evaluation.ranking)))
            items.append(("entities", len(context.data.entities)))
            yield DescriptionList(items, large=True)


@register
class RankingMetrics(Section):
    """Filtered ranking metrics."""

    id, title, order = "metrics", "Ranking metrics", 30

    def contents(self, context: ReportContext) -> Iterator[Content]:
        """Yield metrics by tie policy, by side, and by category of relations."""
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
            _rows(context, _by_policy),
        )
        yield Table(
            "Metrics by predicted side (realistic ties).",
            context.columns("side", "queries", *metrics),
            _rows(context, _by_side),
        )
        yield Table(
            "Metrics by category of the relation in training: 1-N relations have many tails per "
            "head, N-1 relations many heads per tail.",
            context.columns("category", "queries", *metrics),
            _rows(context, _by_category),
        )


@register
class RelationMetrics(Section):
    """Ranking metrics by relation."""

    id, title, order = "relations", "Metrics by relation", 40

    def contents(self, context: ReportContext) -> Iterator[Content]:
        """Yield a plot of the most frequent relations, and a table of all."""
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


def _rows(context: ReportContext, make: Callable[[ReportContext, int], Rows]) -> Rows:
    return [
        context.row(name, row) for i, name in enumerate(context.names) for row in make(context, i)
    ]


def _by_policy(context: ReportContext, i: int) -> Rows:
    ranking = context.evaluations[i].ranking
    return [[policy, *_metrics(ranking, policy)] for policy in POLICIES]


def _by_side(context: ReportContext, i: int) -> Rows:
    ranking = context.evaluations[i].ranking
    return [[side, len(part), *_metrics(part)] for side, part in ranking.by(ranking.side).items()]


def _by_category(context: ReportContext, i: int) -> Rows:
    evaluation = context.evaluations[i]
    category = {r.name: r.category for r in context.statistics.by_relation}
    by = np.array([category[name] for name in context.relation_names(evaluation)])
    parts = evaluation.ranking.by(by).items()
    return [[name, len(part), *_metrics(part)] for name, part in parts]


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

    def draw(figure: "Figure") -> None:
        dot_plot(figure.subplots(), rows, mrrs, context.names)

    return Plot.draw(
        "relations",
        f"Dot plot of the MRR of {len(rows)} relations, from 0 to 1.",
        f"MRR by relation, most frequent first, with the number of {context.split} queries for "
        "heads and tails in brackets. The MRR of a relation with few queries is uncertain.",
        draw,
        (5.6, 0.9 + 0.22 * len(rows) + 0.3 * (len(groups) > 1)),
    )


def _mrr(rankings: list[Ranking]) -> float:
    return float(np.concatenate([1 / r.rank("realistic") for r in rankings]).mean())
