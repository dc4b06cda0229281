"""Sections on calibration of probabilities and on prediction sets."""

from collections.abc import Iterator, Sequence
from typing import Any

from kgflow.analysis.plots.evaluation import coverage_plot, reliability_diagram
from kgflow.analysis.report.content import Content, Paragraph, Plot, Table, format_signed
from kgflow.analysis.report.section import ReportContext, Section, plots_with_table, register
from kgflow.errors import KgflowError
from kgflow.runs.run import Run
from kgflow.uncertainty import coverage_of_ranks

MEASURES = {"brier": "Brier score", "log_loss": "log loss", "ece": "ECE"}
"""Measures of calibration; ECE is the expected calibration error."""

COVERAGES = (0.5, 0.8, 0.9, 0.95)
"""Nominal coverages."""

Result = dict[str, Any]


@register
class Calibration(Section):
    """Reliability of probabilities before and after calibration."""

    id, title, order = "calibration", "Calibration", 50

    def contents(self, context: ReportContext) -> Iterator[Content]:
        results = context.reliabilities
        yield Paragraph(
            "Calibrated probabilities agree with observed frequencies: of all candidates with "
            "probability 0.3, 30 % are true answers. These are conditional probabilities: each "
            "query has an answer that is missing in the graph; its candidates are all entities "
            "that are not known answers."
        )
        for run, name in zip(context.runs, context.names, strict=True):
            yield Paragraph(_method(run, name))
        plots = [_reliability_plot(context, i, result) for i, result in enumerate(results)]
        yield from plots_with_table(plots, _measures_table(context, results))
        yield _bins_table(context, results)


def _method(run: Run, name: str) -> str:
    calibration = run.predictor.calibration
    if not calibration.facts:
        return f"{name} is not calibrated (before = after); use kgflow calibrate."
    own = len(calibration.by_relation)
    if not own and calibration.common.kind == "identity":
        method = "the sigmoid of the score, since no calibrator was clearly better"
    else:
        per_relation = f" and {own:,} relations have their own" if own else ""
        method = f"a common calibrator ({calibration.common.kind}){per_relation}"
    return f"{name} uses {method}, fitted on {calibration.facts:,} validation facts."


def _reliability_plot(context: ReportContext, i: int, result: Result) -> Plot:
    name, bins = context.names[i], {when: result[when]["bins"] for when in ("before", "after")}
    return Plot.draw(
        f"reliability-{i + 1}",
        f"Reliability diagram of {name} before and after calibration, with counts below.",
        "Reliability diagram: observed frequency against predicted probability, in bins with equal "
        "numbers of true answers. Points below the grey line are overconfident. Error bars are "
        "95 % intervals for independent answers. The lower plot shows the number of candidates.",
        lambda figure: reliability_diagram(figure.subplots(2, 1, height_ratios=(3, 1)), bins),
        (5.6, 4.9),
        name,
    )


def _measures_table(context: ReportContext, results: Sequence[Result]) -> Table:
    rows = []
    for name, result in zip(context.names, results, strict=True):
        for key, title in MEASURES.items():
            change, error = result["difference"][key]
            before, after = result["before"][key], result["after"][key]
            cells = [title, before, after, format_signed(change), f"{error:.3f}"]
            rows.append(context.row(name, cells))
    queries, total = results[0]["answers"], 2 * len(context.data.split(context.split))
    sample = f" drawn from {total:,}" if queries < total else ""
    return Table(
        f"Calibration measures on {queries:,} {context.split} queries{sample}, summed over the "
        "candidates of a query; lower is better. The standard error of the difference is "
        "bootstrapped over queries.",
        context.columns("measure", "before", "after", "difference", "std. error"),
        rows,
    )


def _bins_table(context: ReportContext, results: Sequence[Result]) -> Table:
    rows = []
    for name, result in zip(context.names, results, strict=True):
        for when in ("before", "after"):
            for b in result[when]["bins"]:
                shares = f"{b['probability']:.5f}", f"{b['frequency']:.5f}"
                cells = [when, *shares, round(b["candidates"]), b["true"]]
                rows.append(context.row(name, cells))
    columns = ("calibration", "probability", "frequency", "candidates", "true answers")
    caption = "Bins of the reliability diagram"
    return Table(caption, context.columns(*columns), rows, collapsed=True)


@register
class PredictionSets(Section):
    """Coverage and size of conformal prediction sets."""

    id, title, order = "prediction-sets", "Prediction sets", 60

    def contents(self, context: ReportContext) -> Iterator[Content]:
        yield Paragraph(
            "A conformal prediction set contains the missing answer with a given probability, its "
            "nominal coverage. The sets are calibrated on validation facts that were used neither "
            "for training nor for model selection. These are sets of the best ranked candidates; "
            "`kgflow predict --coverage` chooses among several nonconformity scores, whose sets "
            "may be smaller."
        )
        results: dict[str, list[Result]] = {}
        plots: list[Content] = []
        for i, name in enumerate(context.names):
            try:
                results[name] = [coverage_at(context, i, coverage) for coverage in COVERAGES]
                plots.append(_coverage_plot(name, i, context.split, results[name]))
            except KgflowError as error:
                plots.append(Paragraph(f"{error}."))
        yield from plots_with_table(plots, _coverage_table(context, results)) if results else plots


def coverage_at(context: ReportContext, i: int, coverage: float) -> Result:
    """Measure the coverage and the size of the prediction sets of a run."""
    conformal = context.runs[i].conformal(coverage, nonconformity="rank")
    return coverage_of_ranks(context.evaluations[i].ranking, conformal, coverage).to_dict()


def _coverage_plot(name: str, i: int, split: str, results: Sequence[Result]) -> Plot:
    outside = [r["nominal"] for r in results if not r["low"] <= r["measured"] <= r["high"]]
    named = ", ".join(f"{coverage:.0%}" for coverage in outside)
    return Plot.draw(
        f"coverage-{i + 1}",
        f"Measured against nominal coverage of the prediction sets of {name}.",
        f"Coverage of {results[0]['answers']:,} {split} answers, calibrated on "
        f"{results[0]['held_out']:,} answers. Grey bars are 99 % intervals of valid sets; outside "
        f"of them: {named or 'none'}.",
        lambda figure: coverage_plot(figure.subplots(), results),
        (5.6, 4.0),
        name,
    )


def _coverage_table(context: ReportContext, results: dict[str, list[Result]]) -> Table:
    rows = []
    for name, coverages in results.items():
        for result in coverages:
            keys, size = ("nominal", "measured", "low", "high"), result["size"]
            nominal, measured, low, high = (100 * result[key] for key in keys)
            shares = f"{nominal:g} %", f"{measured:.1f} %", f"{low:.1f} to {high:.1f}"
            cells = [*shares, f"{size['median']:,g}", f"{size['mean']:,.1f}"]
            rows.append(context.row(name, cells))
    return Table(
        "Nominal and measured coverage, with the 99 % interval of valid sets; median and mean size "
        f"of the sets, out of {len(context.data.entities):,} entities. Smaller is better.",
        context.columns("nominal", "measured", "99 % interval", "median size", "mean size"),
        rows,
    )
