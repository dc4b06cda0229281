"""Whether answer sets keep their promises."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kgflow.analysis.plots.coverage import coverage_plot
from kgflow.analysis.report.pieces import Note, Picture, Piece, Table
from kgflow.analysis.report.section import Section, beside
from kgflow.analysis.report.sections.metrics import run_column
from kgflow.analysis.report.subject import Subject
from kgflow.errors import KgflowError
from kgflow.uncertainty import coverage_of_ranks

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PROMISES = (0.5, 0.8, 0.9, 0.95)


class PredictionSets(Section):
    """Sets that hold the missing answer as often as promised."""

    id, title = "answer-sets", "Answer sets"

    def pieces(self, subject: Subject) -> Iterator[Piece]:
        """Measured coverage against promised, and the sizes of sets."""
        yield Note(
            "Instead of a list, the model can give a set that holds the missing answer with a "
            "promised probability. How large it must be is read from validation facts that were "
            "held out of all choices."
        )
        found: dict[str, list[dict[str, Any]]] = {}
        cells: list[Piece] = []
        for place, name in enumerate(subject.names):
            try:
                found[name] = _coverages(subject, place)
                cells.append(_picture(name, place, subject.split, found[name]))
            except KgflowError as error:
                cells.append(Note(f"{error}."))
        yield from beside(cells, _table(subject, found)) if found else cells


def _coverages(subject: Subject, place: int) -> list[dict[str, Any]]:
    run, ranking = subject.runs[place], subject.evaluations[place].ranking
    return [coverage_of_ranks(ranking, run.conformal(c), c).to_dict() for c in PROMISES]


def _picture(name: str, place: int, split: str, found: list[dict[str, Any]]) -> Picture:
    def draw(figure: "Figure") -> None:
        axes = figure.subplots()
        coverage_plot(axes, found)
        axes.set_title(name)

    return Picture.of(
        f"coverage-{place + 1}",
        f"Coverage of the answer sets of {name}, measured against promised.",
        f"How many of {found[0]['answers']:,} {split} answers their sets hold, with sizes from "
        f"{found[0]['held_out']:,} held-out answers. A kept promise stays within its grey bar 99 "
        f"times in 100: {_kept(found)}.",
        draw,
        (5.6, 4.0),
    )


def _kept(found: list[dict[str, Any]]) -> str:
    broken = [c["nominal"] for c in found if not c["low"] <= c["measured"] <= c["high"]]
    named = ", ".join(f"{promise:.0%}" for promise in broken)
    return f"broken is {named}" if broken else "all are kept"


def _table(subject: Subject, found: dict[str, list[dict[str, Any]]]) -> Table:
    rows = []
    for name, coverages in found.items():
        for one in coverages:
            row = [
                f"{100 * one['nominal']:g} %",
                f"{100 * one['measured']:.1f} %",
                f"{100 * one['low']:.1f} to {100 * one['high']:.1f}",
                f"{one['size']['median']:,g}",
                f"{one['size']['mean']:,.1f}",
            ]
            rows.append([name, *row] if len(subject.runs) > 1 else row)
    of = len(subject.data.entities)
    return Table(
        f"Promised and measured coverage, with the 99 % interval of a kept promise; and how many "
        f"of the {of:,} entities a set has, median and mean: the better the model, the fewer.",
        (*run_column(subject), "nominal", "measured", "99 % interval", "median", "mean"),
        rows,
    )
