"""Which relations are ranked well."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kgflow.analysis.plots.dots import dot_plot
from kgflow.analysis.report.pieces import Picture, Piece, Table
from kgflow.analysis.report.section import Section
from kgflow.analysis.report.sections.metrics import NAMES, values
from kgflow.analysis.report.subject import Subject
from kgflow.analysis.report.text import shorten
from kgflow.evaluation import Ranking

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DRAWN = 30
"""Relations in the picture; others are one row."""


class Relations(Section):
    """The metrics by relation."""

    id, title = "relations", "By relation"

    def pieces(self, subject: Subject) -> Iterator[Piece]:
        """A picture of the most asked relations, and a table of all."""
        groups = [e.ranking.by(subject.relations_of(e)) for e in subject.evaluations]
        order = sorted(groups[0], key=lambda name: (-len(groups[0][name]), name))
        yield _picture(subject, order, groups)
        for name, group in zip(subject.names, groups, strict=True):
            yield _table(name if len(groups) > 1 else "", order, group)


def _picture(subject: Subject, order: list[str], groups: list[dict[str, Ranking]]) -> Picture:
    top, rest = order[:DRAWN], order[DRAWN:]
    rows = [f"{shorten(name, 30)} ({len(groups[0][name]):,})" for name in top]
    mrrs = [[_mrr([group[name]]) for name in top] for group in groups]
    if rest:
        count = sum(len(groups[0][name]) for name in rest)
        rows.append(f"{len(rest):,} others ({count:,})")
        for mrr, group in zip(mrrs, groups, strict=True):
            mrr.append(_mrr([group[name] for name in rest]))

    def draw(figure: "Figure") -> None:
        dot_plot(figure.subplots(), rows, mrrs, subject.names)

    return Picture.of(
        "relations",
        f"Dot plot of the MRR of {len(rows)} relations, from 0 to 1.",
        f"MRR by relation, most asked first; in brackets the number of {subject.split} answers, "
        "of both sides. Few answers make an MRR unsure.",
        draw,
        (5.6, 0.9 + 0.22 * len(rows) + 0.3 * (len(groups) > 1)),
    )


def _mrr(rankings: list[Ranking]) -> float:
    import numpy as np

    return float(np.concatenate([1 / r.rank("realistic") for r in rankings]).mean())


def _table(run: str, order: list[str], group: dict[str, Ranking]) -> Table:
    rows: list[list[Any]] = [[name, len(group[name]), *values(group[name])] for name in order]
    of = f" of {run}" if run else ""
    caption = f"All {len(rows):,} relations{of}, most asked first (realistic ties)"
    columns = ("relation", "answers", *NAMES.values())
    return Table(caption, columns, rows, folded=True)
