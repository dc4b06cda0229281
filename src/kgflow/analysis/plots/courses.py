"""How several trainings went, beside one another."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, NamedTuple

from kgflow.analysis.plots.style import COLOURS, DASHES, MARKERS, new_figure, save_figure, to_svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GREY = "#606060"


class Course(NamedTuple):
    """A name and, for each of its runs, minutes of training and validation MRR."""

    label: str
    runs: Sequence[Sequence[tuple[float, float]]]


def courses(axes: "Axes", rows: Sequence[Course], marks: Mapping[str, float]) -> None:
    """Validation MRR against minutes of training, the runs of a name alike, the best marked.

    Args:
        axes: where to draw.
        rows: what is drawn.
        marks: test MRRs of others, as thin dashed lines with their names at the right.
    """
    from matplotlib.ticker import LogLocator, NullLocator

    for place, row in enumerate(rows):
        colour, turn = COLOURS[place % len(COLOURS)], place + place // len(COLOURS)
        dash, marker = DASHES[turn % len(DASHES)], MARKERS[turn % len(MARKERS)]
        label = fill(row.label, 84)
        for run in filter(None, row.runs):
            axes.plot(*zip(*run, strict=True), color=colour, ls=dash, lw=1.6, label=label)
            axes.plot(*max(run, key=lambda point: point[1]), marker, color=colour, ms=5)
            label = "_"  # named once
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set(xlabel="minutes of training", ylabel="validation MRR (filtered, best marked)")
    _name_marks(axes, marks)


def _name_marks(axes: "Axes", marks: Mapping[str, float]) -> None:
    for mrr in marks.values():
        axes.axhline(mrr, color=GREY, lw=0.9, ls=(0, (4, 3)), zorder=1)
    low, high = axes.get_ylim()
    room, least = (high - low) / 24, low
    for name, mrr in sorted(marks.items(), key=lambda mark: mark[1]):
        # Names keep off one another where lines do not.
        y = max(mrr, least)
        least = y + room
        edge = axes.get_yaxis_transform()
        said = f"{name} {mrr:.3f}"
        axes.text(1.01, y, said, transform=edge, va="center", color=GREY, fontsize=8.5)


def course_picture(
    rows: Sequence[Course], marks: Mapping[str, float], title: str, path: Path
) -> Path:
    """Learning curves as a PNG and, beside it, an SVG; the legend is below."""
    lines = sum(fill(row.label, 84).count("\n") + 1 for row in rows)
    with new_figure(7, 3.7 + 0.19 * lines) as figure:
        axes = figure.subplots()
        courses(axes, rows, marks)
        axes.set_title(title)
        figure.legend(loc="outside lower left", ncols=1, fontsize=8.5, handlelength=3.2)
        save_figure(figure, path)
        path.with_suffix(".svg").write_text(to_svg(figure), encoding="utf-8")
    return path
