"""Sections on a run in plain words: summary, and the most probable missing facts."""

from collections.abc import Callable, Iterator
from typing import Any

from kgflow.analysis.report.content import Content, DescriptionList, Heading, Paragraph, Table
from kgflow.analysis.report.section import ReportContext, Section, register
from kgflow.analysis.report.sections.calibration import coverage_at
from kgflow.errors import KgflowError

COVERAGE = 0.9
"""Nominal coverage of the prediction sets in the summary."""
PROBABLE = 0.5
"""Bins of candidates with this probability or more are in the summary."""
NAMED = 3
"""Number of missing facts in the summary."""


@register
class Summary(Section):
    """Every run in one paragraph, with its main metrics."""

    id, title, order = "summary", "Summary", 10

    def contents(self, context: ReportContext) -> Iterator[Content]:
        for i, name in enumerate(context.names):
            if context.several:
                yield Heading(name)
            parts = (_model, _ranking, _calibration, _sets, _missing)
            yield Paragraph(" ".join(_or_reason(part, context, i) for part in parts))
            yield _metrics(context, i)


def _or_reason(part: Callable[[ReportContext, int], str], context: ReportContext, i: int) -> str:
    try:
        return part(context, i)
    except KgflowError as error:
        return f"{str(error)[:1].upper()}{str(error)[1:]}."


def _model(context: ReportContext, i: int) -> str:
    data, model = context.data, context.runs[i].config.model
    facts = sum(len(data.split(split)) for split in ("train", "valid", "test"))
    return (
        f"The graph {data.name} has {facts:,} facts with {len(data.entities):,} entities and "
        f"{len(data.relations):,} relations. The model is {model.name} of dimension {model.dim:,}."
    )


def _ranking(context: ReportContext, i: int) -> str:
    metrics = context.evaluations[i]["realistic"]
    return (
        f"It ranks all entities as the answer to each {context.split} query: the right one is "
        f"first for {percent(metrics['hits@1'])} and among the first ten for "
        f"{percent(metrics['hits@10'])} of the queries (Hits@1 and Hits@10); the mean of 1/rank "
        f"(MRR) is {metrics['mrr']:.3f}, where 1 is perfect."
    )


def _calibration(context: ReportContext, i: int) -> str:
    after = context.reliabilities[i]["after"]
    bins = [b for b in after["bins"] if b["probability"] >= PROBABLE]
    count = sum(b["candidates"] for b in bins)
    error = f"expected calibration error {after['ece']:.3f} per query, 0 is perfect"
    if not count:
        return f"It gives no candidate a probability of {percent(PROBABLE)} or more ({error})."
    mean = sum(b["candidates"] * b["probability"] for b in bins) / count
    true = sum(b["true"] for b in bins) / count
    return (
        f"Where an answer is missing, the most probable candidates get {percent(mean)} on average, "
        f"and {percent(true)} of them are right ({error})."
    )


def _sets(context: ReportContext, i: int) -> str:
    found = coverage_at(context, i, COVERAGE)
    return (
        f"Prediction sets promise to contain a missing answer in {COVERAGE:.0%} of cases"
        f" and did for {found['measured']:.1%} of the {context.split} queries, with "
        f"{found['size']['median']:,g} of {len(context.data.entities):,} entities in the median."
    ).replace("%", " %")


def _missing(context: ReportContext, i: int) -> str:
    rows = context.missing[i].head(NAMED).to_dicts()
    facts = "; ".join(
        f"{row['head_label']} {row['relation']} {row['tail_label']} ({_chance(row)})"
        for row in rows
    )
    return f"The most probable missing facts are: {facts}." if facts else "No fact is missing."


def _chance(row: dict[str, Any]) -> str:
    known = row["probability"] is not None
    return f"{percent(row['probability'])}, {row['trust']}" if known else "probability unknown"


def _metrics(context: ReportContext, i: int) -> DescriptionList:
    metrics, ranking = context.evaluations[i]["realistic"], context.evaluations[i].ranking
    titles = {"mrr": "MRR", "hits@1": "Hits@1", "hits@10": "Hits@10", "mr": "mean rank"}
    items: list[tuple[str, Any]] = [(title, metrics[key]) for key, title in titles.items()]
    items.append((f"{context.split} queries", len(ranking)))
    items.append(("entities", len(context.data.entities)))
    return DescriptionList(items, large=True)


@register
class MissingFacts(Section):
    """The most probable facts that the graph lacks."""

    id, title, order = "missing", "Most probable missing facts", 15

    def contents(self, context: ReportContext) -> Iterator[Content]:
        pairs = zip(context.names, context.missing, strict=True)
        found = [(name, row) for name, table in pairs for row in table.to_dicts()]
        noted = ["note"] if any(row["note"] for _, row in found) else []
        rows = [context.row(name, [*_cells(row), *(row[n] for n in noted)]) for name, row in found]
        yield Table(
            "Facts that are not in the graph, with the probability that each is true, also in "
            "words. It is assumed that the graph lacks as many facts as validation holds.",
            context.columns("head", "relation", "tail", "probability", "trust", *noted),
            rows,
            max_width=80,
        )


def _cells(row: dict[str, Any]) -> list[Any]:
    p = row["probability"]
    names = (row["head_label"], row["relation"], row["tail_label"])
    return [*names, None if p is None else percent(p), row["trust"]]


def percent(p: float) -> str:
    """Format a share for people.

    Example:
        >>> percent(0.417), percent(0.021), percent(0.0001), percent(0.999), percent(1.0)
        ('42 %', '2.1 %', '< 0.1 %', '> 99 %', '100 %')
    """
    if p in (0, 1):
        return f"{p:.0%}".replace("%", " %")
    if p < 0.001:
        return "< 0.1 %"
    return "> 99 %" if p > 0.995 else f"{100 * p:.{int(p < 0.0995)}f} %"
