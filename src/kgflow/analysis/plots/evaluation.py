"""Plots of training and evaluation: learning curve, metrics, ranks, calibration, coverage."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kgflow.analysis.plots.style import COLOURS, DASHES, MARKERS
from kgflow.runs.run import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

MIN_PROBABILITY = 1e-6
"""Smallest probability on logarithmic axes."""

RANK_EDGES = (1, 1.25, 3.25, 10.25, 30.25, 100.25, np.inf)
"""Edges of rank bins; ranks of ties are whole or half numbers, and 1.5 counts as 2."""

RANK_BINS = ("1", "2–3", "4–10", "11–30", "31–100", "> 100")

Bins = Sequence[Mapping[str, float]]
Names = Sequence[str]


def learning_curve(axes: "Axes", run: Run) -> None:
    """Draw training loss and validation MRR against the epoch."""
    from matplotlib.ticker import LogLocator, NullLocator

    history = run.history
    epochs = [r["epoch"] for r in history]
    axes.plot(epochs, [r["loss"] for r in history], color=COLOURS[1], ls=DASHES[1])
    axes.set(xlabel="epoch", title="Learning curve", xlim=(0.9, max(epochs) + 0.1))
    axes.set_ylabel("training loss per fact (nats, dashed)", color=COLOURS[1])
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_locator(NullLocator())
    validated = [r for r in history if "mrr" in r]
    if validated:
        twin = axes.twinx()
        twin.spines["right"].set_visible(True)
        twin.grid(visible=False)
        twin.plot([r["epoch"] for r in validated], [r["mrr"] for r in validated], color=COLOURS[0])
        twin.set_ylabel("validation MRR (filtered, solid)", color=COLOURS[0])
        twin.set_ylim(0, 1)
        best = max(validated, key=lambda r: r["mrr"])
        point = best["epoch"], best["mrr"]
        twin.plot(*point, "o", color=COLOURS[0], ms=5)
        style: Any = {"textcoords": "offset points", "ha": "right", "color": COLOURS[0]}
        twin.annotate(f"best {best['mrr']:.3f}", point, xytext=(0, 7), **style)


def dot_plot(axes: "Axes", rows: Names, values: Sequence[Sequence[float]], series: Names) -> None:
    """Draw a dot plot of MRRs: `values` of each series, with one value per row from the top."""
    y = np.arange(len(rows))
    axes.hlines(y, 0, np.max(values, axis=0), color="#d5d5d5", lw=1.2)
    for i, (name, x) in enumerate(zip(series, values, strict=True)):
        axes.plot(x, y, MARKERS[i], color=COLOURS[i], ms=5.5 - (i > 0), label=name)
    _label_rows(axes, rows)
    axes.set(xlim=(-0.015, 1.02), xlabel="MRR (filtered, realistic)")
    if len(series) > 1:
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=min(3, len(series)), fontsize=9)


def interval_plot(
    axes: "Axes", rows: Names, intervals: Sequence[tuple[float, float, float]], label: str
) -> None:
    """Draw the mean, lower and upper bound of each row from the top, and a line at zero."""
    mean, low, high = np.array(intervals).T
    y = np.arange(len(rows))
    axes.axvline(0, color="#606060", lw=1)
    axes.hlines(y, low, high, color=COLOURS[0], lw=1.6)
    significant = (low > 0) | (high < 0)
    axes.plot(mean[significant], y[significant], "o", color=COLOURS[0], ms=6)
    axes.plot(mean[~significant], y[~significant], "o", color=COLOURS[0], mfc="white", ms=6)
    axes.set_xlabel(label)
    _label_rows(axes, rows)


def rank_heatmap(
    axes: "Axes", first: NDArray[np.float64], second: NDArray[np.float64], names: tuple[str, str]
) -> None:
    """Draw the counts of queries by their ranks under two models, ``(N,)`` each."""
    from matplotlib.patches import Rectangle

    count, _, _ = np.histogram2d(second.ravel(), first.ravel(), [RANK_EDGES, RANK_EDGES])
    shade = np.sqrt(count / max(1, count.max()))
    axes.imshow(shade, cmap="Blues", vmin=0, vmax=1.25)
    for (i, j), number in np.ndenumerate(count):
        colour = "#ffffff" if shade[i, j] > 0.75 else "#202020" if number else "#909090"
        axes.text(j, i, f"{int(number):,}", ha="center", va="center", fontsize=9.5, color=colour)
    for i in range(len(RANK_BINS)):
        axes.add_patch(Rectangle((i - 0.5, i - 0.5), 1, 1, fill=False, ec="#505050", lw=0.8))
    axes.set_xticks(range(len(RANK_BINS)), RANK_BINS)
    axes.set_yticks(range(len(RANK_BINS)), RANK_BINS)
    axes.set(xlabel=f"rank by {names[0]}", ylabel=f"rank by {names[1]}")
    axes.tick_params(length=0)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)


def coverage_plot(axes: "Axes", coverages: Sequence[Mapping[str, Any]]) -> None:
    """Draw measured against nominal coverage, with 99 % intervals of valid prediction sets.

    Each element of `coverages` is a `Coverage.to_dict`.
    """
    nominal, measured, low, high = (
        [100 * row[key] for row in coverages] for key in ("nominal", "measured", "low", "high")
    )
    start = min(*nominal, *measured, *low) - 5
    axes.plot([start, 100], [start, 100], color="#888888", lw=1, label="nominal")
    axes.vlines(nominal, low, high, color="#b9b9b9", lw=9, label="99 % interval if valid")
    axes.plot(nominal, measured, "o", color=COLOURS[0], ms=6, label="measured")
    axes.set(xlabel="nominal coverage (%)", ylabel="measured coverage (%)")
    axes.set(xlim=(start, 100.5), ylim=(start, 101), xticks=nominal)
    axes.legend(loc="upper left", fontsize=9)


def reliability_diagram(axes: Sequence["Axes"], bins: Mapping[str, Bins]) -> None:
    """Draw a reliability diagram: observed frequency against predicted probability.

    Args:
        axes: upper axes for the diagram, and lower axes for the number of candidates in each bin.
        bins: bins of `Reliability.to_dict` by name, such as "before" and "after".
    """
    (diagram, counts), low = axes, _smallest(bins.values())
    diagram.plot([low, 1], [low, 1], color="#888888", lw=1, label="perfect calibration")
    for i, (name, rows) in enumerate(bins.items()):
        probability, frequency, count, true = (
            np.array([row[key] for row in rows])
            for key in ("probability", "frequency", "candidates", "true")
        )
        style: Any = {"color": COLOURS[1 - i], "marker": MARKERS[1 - i], "ms": 5, "lw": 1.4}
        error = np.minimum(1.96 * np.sqrt(true) / count, frequency * (1 - 1e-9))
        diagram.errorbar(probability, frequency, error, label=name, elinewidth=1, **style)
        counts.plot(probability, count, **style)
    diagram.set_ylabel("observed frequency")
    diagram.legend(loc="upper left", fontsize=9)
    counts.set(xlabel="predicted probability (mean of bin, log scale)", ylabel="candidates")
    for part in axes:
        part.set(xscale="log", yscale="log", xlim=(low, 1.25))
        for axis in (part.xaxis, part.yaxis):
            _label_powers(axis)
    diagram.set_ylim(low, 1.25)
    diagram.tick_params(labelbottom=False)


def _smallest(bins: Iterable[Bins]) -> float:
    values = [x for rows in bins for r in rows for x in (r["probability"], r["frequency"]) if x > 0]
    return max(MIN_PROBABILITY, min([*values, 0.1]) / 2)


def _label_powers(axis: "Axis") -> None:
    """Label powers of ten as decimal numbers: math text is off, for names with $ in them."""
    from matplotlib.ticker import LogLocator, NullLocator

    axis.set_major_locator(LogLocator(numticks=7))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(lambda x, _: f"{x:,.7f}".rstrip("0").rstrip("."))


def _label_rows(axes: "Axes", rows: Names) -> None:
    axes.set_yticks(np.arange(len(rows)), rows, fontsize=9.5)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(visible=False, axis="y")
