"""Entities as points in a plane."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kgflow.analysis.layout import Groups, Layout
from kgflow.analysis.plots.style import COLOURS, MARKERS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.transforms import Bbox

OTHER = "#a8a8a8"
DENSE = 500
"""Points from which on they are stored as an image."""

LABELS = 20
"""Labels at most."""


def entity_map(
    axes: "Axes",
    found: Layout,
    groups: Groups,
    names: Sequence[str],
    labels: Sequence[tuple[int, str]],
) -> None:
    """Every entity at its place, groups by colour and marker.

    Args:
        axes: where to draw.
        found: the places.
        groups: what belongs together.
        names: of the groups, as the legend has them.
        labels: of some entities by id, the most worthy first; written where there is room.
    """
    size = float(np.clip(18_000 / len(found.place), 5, 30))
    style: dict[str, Any] = {"linewidths": 0.3, "edgecolors": "white"}
    style["rasterized"] = len(found.place) > DENSE
    # Others are drawn first, to lie below, and named last.
    for i in (-1, *range(len(names))):
        x, y = found.place[groups.of == i].T
        colour, marker = (OTHER, ".") if i < 0 else (COLOURS[i], MARKERS[i])
        name = f"{'other' if i < 0 else names[i]} ({len(x):,})" if len(x) else "_none"
        axes.scatter(x, y, size, c=colour, marker=marker, label=name, **style)
    handles, texts = axes.get_legend_handles_labels()
    if (groups.of == -1).any():
        handles, texts = handles[1:] + handles[:1], texts[1:] + texts[:1]
    narrow = max(map(len, texts), default=0) < 30
    axes.legend(
        handles, texts, ncols=2 if narrow else 1, loc="upper left", bbox_to_anchor=(0, 0),
        fontsize=9, handletextpad=0.3, columnspacing=1.2, markerscale=(26 / size) ** 0.5,
    )  # fmt: skip
    axes.set_axis_off()
    _write_labels(axes, found, labels)


def _write_labels(axes: "Axes", found: Layout, labels: Sequence[tuple[int, str]]) -> None:
    figure: Any = axes.figure
    figure.draw_without_rendering()
    room, taken = axes.get_window_extent(), list["Bbox"]()
    for i, text in labels:
        if len(taken) == LABELS:
            return
        drawn = axes.annotate(
            text, found.place[i], (0, 5), textcoords="offset points", ha="center", fontsize=9,
            bbox={"boxstyle": "round,pad=0.12", "fc": "white", "ec": "none", "alpha": 0.75},
        )  # fmt: skip
        box = drawn.get_window_extent().padded(4)
        inside = room.x0 <= box.x0 and box.x1 <= room.x1 and box.y1 <= room.y1
        if inside and not any(box.overlaps(other) for other in taken):
            taken.append(box)
        else:
            drawn.remove()
