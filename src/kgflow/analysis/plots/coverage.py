"""Whether answer sets keep their promises."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kgflow.analysis.plots.style import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def coverage_plot(axes: "Axes", found: Sequence[Mapping[str, Any]]) -> None:
    """Measured against promised coverage, with where a kept promise stays.

    Args:
        axes: where to draw.
        found: `Coverage.to_dict` of some promises.
    """
    promised = [100 * row["nominal"] for row in found]
    measured = [100 * row["measured"] for row in found]
    low, high = ([100 * row[key] for row in found] for key in ("low", "high"))
    start = min(*promised, *measured, *low) - 5
    axes.plot([start, 100], [start, 100], color="#888888", lw=1, label="as promised")
    axes.vlines(promised, low, high, color="#b9b9b9", lw=9, label="a kept promise stays here")
    axes.plot(promised, measured, "o", color=COLOURS[0], ms=6, label="measured")
    axes.set(xlabel="promised (%)", ylabel="sets that hold the answer (%)")
    axes.set(xlim=(start, 100.5), ylim=(start, 101), xticks=promised)
    axes.legend(loc="upper left", fontsize=9)
