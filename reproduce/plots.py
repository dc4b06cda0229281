"""Learning curves and rejection curves of several runs in one picture."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, NamedTuple

from kgflow.analysis.plots.style import COLOURS, DASHES, MARKERS, new_figure, save_figure
from reproduce.signals import ENTROPIES, SignalComparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GREY = "#606060"
DRAWN = (*ENTROPIES, "probability", "set size", "top score", "degree")
"""Signals with rejection curves."""


class Curve(NamedTuple):
    """Learning curves of a row: for each run, minutes of training and validation MRR."""

    label: str
    runs: Sequence[Sequence[tuple[float, float]]]


def learning_curves(axes: "Axes", rows: Sequence[Curve], marks: Mapping[str, float]) -> None:
    """Draw validation MRR against minutes of training, with the best epochs marked.

    Args:
        axes: axes to draw into.
        rows: curves; the runs of a row share color and line style.
        marks: published test MRRs by name, drawn as thin dashed lines.
    """
    from matplotlib.ticker import LogLocator, NullLocator

    for place, row in enumerate(rows):
        colour, turn = COLOURS[place % len(COLOURS)], place + place // len(COLOURS)
        dash, marker = DASHES[turn % len(DASHES)], MARKERS[turn % len(MARKERS)]
        label = fill(row.label, 84)
        for run in filter(None, row.runs):
            axes.plot(*zip(*run, strict=True), color=colour, ls=dash, lw=1.6, label=label)
            axes.plot(*max(run, key=lambda point: point[1]), marker, color=colour, ms=5)
            label = "_"  # one entry in the legend
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set(xlabel="minutes of training", ylabel="validation MRR (filtered, best marked)")
    _label_marks(axes, marks)


def _label_marks(axes: "Axes", marks: Mapping[str, float]) -> None:
    for mrr in marks.values():
        axes.axhline(mrr, color=GREY, lw=0.9, ls=(0, (4, 3)), zorder=1)
    low, high = axes.get_ylim()
    room, least = (high - low) / 24, low
    for name, mrr in sorted(marks.items(), key=lambda mark: mark[1]):
        # Names must not overlap where lines nearly do.
        y = max(mrr, least)
        least = y + room
        edge = axes.get_yaxis_transform()
        text = f"{name} {mrr:.3f}"
        axes.text(1.01, y, text, transform=edge, va="center", color=GREY, fontsize=8.5)


def learning_curve_figure(
    rows: Sequence[Curve], marks: Mapping[str, float], title: str, path: Path
) -> Path:
    """Draw learning curves to a file, with the legend below."""
    lines = sum(fill(row.label, 84).count("\n") + 1 for row in rows)
    with new_figure(7, 3.7 + 0.19 * lines) as figure:
        axes = figure.subplots()
        learning_curves(axes, rows, marks)
        axes.set_title(title)
        figure.legend(loc="outside lower left", ncols=1, fontsize=8.5, handlelength=3.2)
        return save_figure(figure, path)


def epochs_and_time_figure(rows: Sequence[tuple[Curve, Curve]], title: str, path: Path) -> Path:
    """Draw validation MRR against epochs, and beside it against minutes of training."""
    with new_figure(9, 4 + 0.1 * len(rows)) as figure:
        left, right = figure.subplots(1, 2, sharey=True)
        for place, pair in enumerate(rows):
            style = {"color": COLOURS[place], "ls": DASHES[place], "lw": 1.6}
            for axes, curve in zip((left, right), pair, strict=True):
                for run in curve.runs:
                    axes.plot(*zip(*run, strict=True), label=curve.label, **style)
        left.set(xlabel="epochs", ylabel="validation MRR (filtered)")
        right.set(xlabel="minutes of training, one thread")
        figure.suptitle(title)
        handles = left.get_legend_handles_labels()
        figure.legend(*handles, loc="outside lower center", ncols=2, fontsize=9, handlelength=3.2)
        return save_figure(figure, path)


def rejections(studies: Sequence[SignalComparison], path: Path) -> Path:
    """Draw the rejection curves of several runs side by side, with one legend."""
    columns = min(3, len(studies))
    lines = -(-len(studies) // columns)
    with new_figure(0.5 + 3.6 * columns, 0.7 + 3 * lines) as figure:
        grid = figure.subplots(lines, columns, squeeze=False).flatten()
        for axes, found in zip(grid, studies, strict=False):
            rejection_plot(axes, found)
        for axes in grid[len(studies) :]:
            axes.remove()
        handles = grid[0].get_legend_handles_labels()
        figure.legend(*handles, loc="outside lower center", ncols=4, fontsize=9)
        return save_figure(figure, path)


def rejection_plot(axes: "Axes", found: SignalComparison) -> None:
    """Draw the MRR of the most certain queries against their share, for each signal.

    Entropies have thick lines, baselines thin ones; grey lines are a random and a perfect signal.
    """
    curves = found.curves.partition_by("signal", as_dict=True)
    for name, dash in (("oracle", ":"), ("random", "-")):
        curve = curves[(name,)]
        axes.plot(curve["share"] * 100, curve["mrr"], color="#888888", ls=dash, lw=1, label=name)
    for i, name in enumerate(DRAWN):
        if (name,) in curves:
            curve, width = curves[(name,)], 2.4 if name in ENTROPIES else 1.3
            style = {"color": COLOURS[i % len(COLOURS)], "ls": DASHES[i % len(DASHES)], "lw": width}
            axes.plot(curve["share"] * 100, curve["mrr"], label=name, **style)
    axes.set(xlabel="share of queries, most certain first (%)", xlim=(0, 100))
    axes.set_ylabel("MRR of these queries (filtered)")
    axes.set_title(f"{found.model} on {found.data}, {found.split}")
