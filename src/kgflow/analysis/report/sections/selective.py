"""Section on selective prediction."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from kgflow.analysis.plots.rejection import rejection_plot
from kgflow.analysis.report.content import Content, Paragraph, Plot, Table, format_signed
from kgflow.analysis.report.section import ReportContext, Section, plots_with_table, register
from kgflow.analysis.signals import BASELINES, ENTROPIES
from kgflow.analysis.study import Study, study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_FACTS = 2000
"""Largest number of facts that are evaluated; more take minutes on large graphs."""


@register
class SelectivePrediction(Section):
    """Signals that separate correct from wrong predictions, and rejection curves."""

    id, title, order = "selective-prediction", "Selective prediction", 70

    def contents(self, context: ReportContext) -> Iterator[Content]:
        """Yield the conclusion, rejection curves, and the AUROC of each signal."""
        studies = [study(run, context.split, most=MAX_FACTS) for run in context.runs]
        for name, result in zip(context.names, studies, strict=True):
            yield Paragraph(_conclusion(name, result))
        plots = [_plot(name, i, studies[i]) for i, name in enumerate(context.names)]
        yield from plots_with_table(plots, _table(context, studies))


def _conclusion(name: str, result: Study) -> str:
    if not result.has_entropy:
        return f"{name} has no entropies ({result.model}): only baseline signals are shown."
    (entropy, own), (baseline, other) = (_best(result, names) for names in (ENTROPIES, BASELINES))
    word = "better" if own > other else "worse"
    text = (
        f"{name}: the best entropy ({entropy}, AUROC {own:.3f}) separates correct from wrong "
        f"predictions {word} than the best baseline ({baseline}, {other:.3f})."
    )
    if result.added is None:
        return text
    gain, low, high = result.added
    word = "significant" if low > 0 or high < 0 else "not significant"
    interval = f"{format_signed(low)} to {format_signed(high)}"
    return (
        f"{text} Adding entropies to all baselines changes the AUROC by {format_signed(gain)} "
        f"(95 % interval {interval}), which is {word}."
    )


def _best(result: Study, names: Sequence[str]) -> tuple[str, float]:
    rows = result.errors.filter(result.errors["signal"].is_in(list(names))).sort("auroc@1")
    return rows["signal"][-1], rows["auroc@1"][-1]


def _plot(name: str, i: int, result: Study) -> Plot:
    def draw(figure: "Figure") -> None:
        axes = figure.subplots()
        rejection_plot(axes, result)
        axes.set_title(name)
        figure.legend(loc="outside lower center", ncols=3, fontsize=9)

    entropies = " Entropies have thick lines, baselines thin ones." if result.has_entropy else ""
    return Plot.draw(
        f"rejection-{i + 1}",
        f"MRR of the most certain predictions of {name}, for each signal.",
        "Rejection curves: MRR if only the most certain queries are answered. Higher is "
        f"better.{entropies} Grey lines are a random signal and a perfect one (oracle).",
        draw,
        (5.6, 4.4),
    )


def _table(context: ReportContext, studies: list[Study]) -> Table:
    rows = []
    for name, result in zip(context.names, studies, strict=True):
        asked = result.foreign.filter(result.foreign["drawn"] == "asked")
        foreign = dict(zip(asked["signal"], asked["auroc"], strict=True))
        for r in result.errors.sort("auroc@1", descending=True, nulls_last=True).to_dicts():
            interval = f"{r['low@1']:.3f} to {r['high@1']:.3f}"
            cells = [r["signal"], r["auroc@1"], interval, foreign.get(r["signal"])]
            rows.append(context.row(name, cells))
    facts = len(context.data.split(context.split))
    sample = f" of {MAX_FACTS:,} facts drawn from {facts:,}" if facts > MAX_FACTS else ""
    return Table(
        "AUROC for separating correct predictions (rank 1) from wrong ones, on "
        f"{studies[0].answers:,} {context.split} answers{sample}; 0.5 is chance. Corrupted: AUROC "
        "for separating queries of the data from queries with an entity that the relation never "
        "has. Combined signals are logistic regressions fitted on validation facts.",
        context.columns("signal", "AUROC", "95 % interval", "corrupted"),
        rows,
    )
