"""Runs against each other."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kgflow.analysis.comparison import LEVEL, RESAMPLES, Comparison, RelationDifference
from kgflow.analysis.plots.dots import interval_plot
from kgflow.analysis.plots.ranks import rank_table
from kgflow.analysis.report.pieces import Heading, Note, Picture, Piece, Row, Table
from kgflow.analysis.report.section import Section
from kgflow.analysis.report.subject import Subject
from kgflow.analysis.report.text import shorten, signed

if TYPE_CHECKING:
    from matplotlib.figure import Figure


RELATIONS = 12


class Versus(Section):
    """Every further run against the first, answer by answer."""

    id, title = "comparison", "Comparison"

    def wanted(self, subject: Subject) -> bool:
        """Where there are several runs."""
        return len(subject.runs) > 1

    def pieces(self, subject: Subject) -> Iterator[Piece]:
        """The difference, who wins how often, and on which relations."""
        first, *others = subject.names
        yield _table(subject)
        for place, (other, found) in enumerate(zip(others, subject.comparisons, strict=True), 1):
            yield Heading(f"{other} against {first}")
            yield Note(_verdict(first, other, found))
            rows = [row for row in found.by_relation(RELATIONS) if row.share]
            if not rows:
                continue
            ranks = _ranks(place, (first, other), found)
            yield Row([ranks, _relations(place, subject, (first, other), rows)])
            yield _relation_table(subject, (first, other), rows)


def _table(subject: Subject) -> Table:
    first, *others = subject.names
    rows = [
        [other, signed(d.mean), f"{signed(d.low)} to {signed(d.high)}", c.wins, c.ties, c.losses]
        for other, c in zip(others, subject.comparisons, strict=True)
        for d in [c.difference]
    ]
    caption = (
        f"MRR of each run less that of {first} on the same {subject.split} answers, with a "
        f"{LEVEL:.0%} interval of {RESAMPLES:,} bootstrap samples of whole facts. Higher, alike "
        "and lower count answers by their rank."
    )
    columns = ("run", "difference", f"{LEVEL:.0%} interval", "higher", "alike", "lower")
    return Table(caption, columns, rows)


def _verdict(first: str, other: str, found: Comparison) -> str:
    d = found.difference
    if found.ties == found.gain.size:
        return f"{other} and {first} rank every answer alike."
    if not d.clear:
        return f"The interval holds zero: these answers do not tell {other} and {first} apart."
    word = "higher" if d.mean > 0 else "lower"
    return f"{other} ranks {word} than {first}, by more than chance among facts would explain."


def _ranks(place: int, names: tuple[str, str], found: Comparison) -> Picture:
    return Picture.of(
        f"ranks-{place}",
        f"Table of counts: ranks by {names[0]} across, ranks by {names[1]} downwards.",
        f"Answers by their rank under both. Along the framed squares both agree; above them "
        f"{names[1]} ranks the right answer higher, below them {names[0]} does.",
        lambda figure: rank_table(figure.subplots(), found.rank[0], found.rank[1], names),
        (5.2, 4.4),
    )


def _relations(
    place: int, subject: Subject, names: tuple[str, str], rows: list[RelationDifference]
) -> Picture:
    titles = [f"{_name(subject, row)} ({row.answers:,})" for row in rows]
    bounds = [(d.mean, d.low, d.high) for d in (row.difference for row in rows)]

    def draw(figure: "Figure") -> None:
        axes = figure.subplots()
        interval_plot(axes, titles, bounds)
        axes.set_xlabel(f"MRR of {names[1]} less {names[0]}")

    return Picture.of(
        f"relation-differences-{place}",
        f"Differences of MRR by relation with intervals, {len(rows)} relations.",
        "The relations that make most of the difference, the largest part on top, with their "
        f"numbers of answers; lines are {LEVEL:.0%} intervals, each for itself, and a hollow dot "
        "means that zero lies within.",
        draw,
        (5.6, 1.2 + 0.27 * len(rows)),
    )


def _relation_table(
    subject: Subject, names: tuple[str, str], rows: list[RelationDifference]
) -> Table:
    columns = ("relation", "answers", *names, "difference", f"{LEVEL:.0%} interval", "part")
    cells = [
        [
            subject.data.relations[row.relation],
            row.answers,
            row.first,
            row.second,
            signed(row.difference.mean),
            f"{signed(row.difference.low)} to {signed(row.difference.high)}",
            signed(row.share),
        ]
        for row in rows
    ]
    caption = (
        "MRR by relation, where the runs differ most. The part is what the relation brings to the "
        "difference of all answers; the parts of all relations add up to it."
    )
    return Table(caption, columns, cells)


def _name(subject: Subject, row: RelationDifference) -> str:
    return shorten(subject.data.relations[row.relation], 26)
