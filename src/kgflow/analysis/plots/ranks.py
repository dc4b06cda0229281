"""Ranks of one model against those of another."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EDGES = (1, 1.25, 3.25, 10.25, 30.25, 100.25, np.inf)
"""Shared ranks are whole or half numbers: 1.5 counts as 2."""

BINS = ("1", "2–3", "4–10", "11–30", "31–100", "> 100")


def rank_table(
    axes: "Axes", first: NDArray[np.float64], second: NDArray[np.float64], names: tuple[str, str]
) -> None:
    """How many answers have which rank under the one and which under the other.

    Args:
        axes: where to draw.
        first: ranks of one model, across.
        second: ranks of the other, in the same order, downwards.
        names: of the two.
    """
    from matplotlib.patches import Rectangle

    count, _, _ = np.histogram2d(second.ravel(), first.ravel(), [EDGES, EDGES])
    shade = np.sqrt(count / max(1, count.max()))
    axes.imshow(shade, cmap="Blues", vmin=0, vmax=1.25)
    for (i, j), number in np.ndenumerate(count):
        colour = "#ffffff" if shade[i, j] > 0.75 else "#202020" if number else "#909090"
        axes.text(j, i, f"{int(number):,}", ha="center", va="center", fontsize=9.5, color=colour)
    for i in range(len(BINS)):
        axes.add_patch(Rectangle((i - 0.5, i - 0.5), 1, 1, fill=False, ec="#505050", lw=0.8))
    axes.set_xticks(range(len(BINS)), BINS)
    axes.set_yticks(range(len(BINS)), BINS)
    axes.set(xlabel=f"rank by {names[0]}", ylabel=f"rank by {names[1]}")
    axes.tick_params(length=0)
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)
