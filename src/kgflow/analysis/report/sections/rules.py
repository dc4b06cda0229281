"""Section on rules."""

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

from kgflow.analysis.plots.rules import rule_histograms, short_name
from kgflow.analysis.report.content import Content, Paragraph, Plot, SideBySide, Table, shorten
from kgflow.analysis.report.section import ReportContext, Section, contents_or_reason, register
from kgflow.analysis.rules.distance import Deviation
from kgflow.analysis.rules.evaluate import EvaluatedRule
from kgflow.analysis.rules.rule import KINDS, Rule
from kgflow.analysis.rules.search import find_rules

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN = 8
"""Number of rules of each kind."""

MAX_WIDTH = 80
"""Largest number of characters of a rule."""

DESCRIPTION = (
    "Support is the number of pairs of entities for which the body of a rule is true in the graph, "
    "and confidence the share of them for which the head is true. Model confidence is the same "
    "for triples that the model classifies as true, from 0 (chance) to 1 (as for training facts). "
    "A rule is true in the model or in the graph if its confidence there is at least 0.5, and in "
    "the graph also 0.25 above chance."
)
SHORTENED = " Names of relations that are paths are shortened to their last part."
HISTOGRAMS = (
    "Histograms of the deviation of the first rule of each kind over the coordinates of the model: "
    "deviations of scales (left) and of shifts (right). A rule is exact at 0; an antisymmetric "
    "relation is far from 0. Dashed lines show the same rule with other relations."
)


@register
class Rules(Section):
    """Rules of the model and of the graph."""

    id, title, order = "rules", "Rules: support and confidence", 100

    def contents(self, context: ReportContext) -> Iterator[Content]:
        found = [find_rules(run, k=SHOWN) for run in context.runs]
        if not any(found):
            yield Paragraph("No rule is true in the models or in the graph.")
            return
        shortened = _short_names(context) != list(context.data.relations.names)
        yield Paragraph(DESCRIPTION + (SHORTENED if shortened else ""))
        for kind in KINDS:
            of_kind = [[e for e in rules if e.rule.kind == kind] for rules in found]
            if any(of_kind):
                yield _table(context, kind, of_kind)
        yield Paragraph(HISTOGRAMS)
        parts = (contents_or_reason(_plots, context, i, rules) for i, rules in enumerate(found))
        yield SideBySide(list(chain.from_iterable(parts)))


def _table(context: ReportContext, kind: str, found: list[list[EvaluatedRule]]) -> Table:
    names = _short_names(context)
    rows = [
        context.row(
            run, [e.rule.text(names), e.support, e.confidence, e.model_confidence, e.agreement]
        )
        for run, rules in zip(context.names, found, strict=True)
        for e in rules
    ]
    full = max(map(len, found)) == SHOWN
    most = f" (the {SHOWN} with the highest model confidence)" if full else ""
    columns = context.columns("rule", "support", "confidence", "model confidence", "true in")
    return Table(f"{kind.capitalize()} rules{most}.", columns, rows, max_width=MAX_WIDTH)


def _plots(context: ReportContext, i: int, rules: list[EvaluatedRule]) -> list[Plot]:
    first = {e.rule.kind: e.rule for e in reversed(rules)}
    return [_plot(context, i, first[kind]) for kind in KINDS if kind in first]


def _plot(context: ReportContext, i: int, rule: Rule) -> Plot:
    title = rule.text(_short_names(context))
    run = f" ({context.names[i]})" if context.several else ""

    def draw(figure: "Figure") -> None:
        axes = figure.subplots(1, 2)
        rule_histograms(list(axes), context.runs[i], Deviation.of(rule), "")
        axes[1].set_ylabel("")
        axes[1].get_legend().remove()
        handles = axes[1].get_legend_handles_labels()
        figure.legend(*handles, loc="outside lower center", ncols=2, fontsize=9)
        figure.suptitle(shorten(title, MAX_WIDTH), x=0.01, ha="left", fontsize=11, weight="bold")

    return Plot.draw(
        f"rule-{rule.kind}-{i + 1}",
        f"Histograms of the deviation of the rule: {title}{run}.",
        f"Deviation of the first {rule.kind} rule{run}.",
        draw,
        (6.4, 2.9),
    )


def _short_names(context: ReportContext) -> list[str]:
    return [short_name(name) for name in context.data.relations.names]
