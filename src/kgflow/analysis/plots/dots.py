"""Numbers of many things, as dots in rows."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from kgflow.analysis.plots.style import COLOURS, MARKERS

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def dot_plot(
    axes: "Axes", rows: Sequence[str], values: Sequence[Sequence[float]], series: Sequence[str]
) -> None:
    """One row for each name, one dot for each series, from 0 to 1.

    Args:
        axes: where to draw.
        rows: names, from the top down.
        values: of each series, as many as rows.
        series: their names, shown where there are several.
    """
    y = np.arange(len(rows))
    axes.hlines(y, 0, np.max(values, axis=0), color="#d5d5d5", lw=1.2)
    for i, (name, x) in enumerate(zip(series, values, strict=True)):
        axes.plot(x, y, MARKERS[i], color=COLOURS[i], ms=5.5 - (i > 0), label=name)
    _name_rows(axes, rows)
    axes.set(xlim=(-0.015, 1.02), xlabel="MRR (filtered, realistic)")
    if len(series) > 1:
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=min(3, len(series)), fontsize=9)


def interval_plot(
    axes: "Axes", rows: Sequence[str], intervals: Sequence[tuple[float, float, float]]
) -> None:
    """One row for each name: a mean and the bounds of its interval, about zero.

    Args:
        axes: where to draw.
        rows: names, from the top down.
        intervals: mean, low and high of each.
    """
    mean, low, high = np.array(intervals).T
    y = np.arange(len(rows))
    axes.axvline(0, color="#606060", lw=1)
    axes.hlines(y, low, high, color=COLOURS[0], lw=1.6)
    clear = (low > 0) | (high < 0)
    axes.plot(mean[clear], y[clear], "o", color=COLOURS[0], ms=6)
    axes.plot(mean[~clear], y[~clear], "o", color=COLOURS[0], mfc="white", ms=6)
    _name_rows(axes, rows)


def _name_rows(axes: "Axes", rows: Sequence[str]) -> None:
    axes.set_yticks(np.arange(len(rows)), rows, fontsize=9.5)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(visible=False, axis="y")
