"""Whether what is said comes true so often."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kgflow.analysis.plots.style import COLOURS, MARKERS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

LEAST = 1e-6
"""Where logarithmic axes end at the latest."""

Bins = Sequence[Mapping[str, float]]


def reliability_diagram(
    diagram: "Axes", counts: "Axes", bins: Mapping[str, Bins], title: str = ""
) -> None:
    """Frequency of truth against probability, and below it how many candidates are so probable.

    Args:
        diagram: the upper axes.
        counts: the lower ones.
        bins: a name, such as "before", and the bins of `Reliability.to_dict`.
        title: above both.
    """
    low = _lowest(bins.values())
    diagram.plot([low, 1], [low, 1], color="#888888", lw=1, label="true as often as said")
    for place, (name, rows) in enumerate(bins.items()):
        said, true, count, right = (
            np.array([row[key] for row in rows])
            for key in ("probability", "frequency", "candidates", "true")
        )
        style: Any = {"color": COLOURS[1 - place], "marker": MARKERS[1 - place], "ms": 5, "lw": 1.4}
        error = np.minimum(1.96 * np.sqrt(right) / count, true * (1 - 1e-9))
        diagram.errorbar(said, true, error, label=name, elinewidth=1, **style)
        counts.plot(said, count, **style)
    diagram.set(ylabel="share that is true", title=title)
    diagram.legend(loc="upper left", fontsize=9)
    counts.set(xlabel="probability (mean of a bin, log scale)", ylabel="candidates")
    for axes in (diagram, counts):
        axes.set(xscale="log", yscale="log", xlim=(low, 1.25))
        for axis in (axes.xaxis, axes.yaxis):
            _name_powers(axis)
    diagram.set_ylim(low, 1.25)
    diagram.tick_params(labelbottom=False)


def _lowest(found: Iterable[Bins]) -> float:
    values = [
        x for rows in found for r in rows for x in (r["probability"], r["frequency"]) if x > 0
    ]
    return max(LEAST, min([*values, 0.1]) / 2)


def _name_powers(axis: "Axis") -> None:
    """Powers of ten in plain figures: names of the data may not be read as formulas."""
    from matplotlib.ticker import LogLocator, NullLocator

    axis.set_major_locator(LogLocator(numticks=7))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(lambda x, _: f"{x:,.7f}".rstrip("0").rstrip("."))
