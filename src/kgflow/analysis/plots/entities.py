"""Plots of entities: entropy against degree, densities, and a map."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kgflow.analysis.certainty import associations, entity_uncertainty
from kgflow.analysis.density import marginal_density, mean_density
from kgflow.analysis.layout import Groups, Layout
from kgflow.analysis.plots.evaluation import learning_curve
from kgflow.analysis.plots.style import COLOURS, DASHES, MARKERS, new_figure, save_figure
from kgflow.runs.run import Run

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.transforms import Bbox

MAX_SCATTERED = 3000
"""Largest number of entities in a scatter plot; more are drawn as a hexagonal histogram."""

MAX_DEGREE = 500
"""Largest degree with tick labels between powers of ten."""

MAX_VECTOR_POINTS = 500
"""Largest number of points in a map that is stored as vector graphics."""

MAX_LABELS = 20
"""Largest number of labels in a map."""

OTHER = "#a8a8a8"


def entropy_against_degree(axes: "Axes", run: Run) -> None:
    """Draw the entropy change of each entity per coordinate against its degree."""
    import polars as pl
    from matplotlib.ticker import LogLocator, NullLocator

    entities = entity_uncertainty(run).filter(pl.col("entropy_change").is_finite())
    if len(entities) > MAX_SCATTERED:
        _hexagons(axes, entities)
    else:
        _scatter(axes, entities)
    steps = (1, 2, 5) if entities["degree"].to_numpy().max(initial=0) < MAX_DEGREE else (1,)
    axes.xaxis.set_major_locator(LogLocator(subs=steps))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set(xlabel="degree in training (+ 1)", ylabel="entropy change (nats per coordinate)")
    rho = associations(run)["effect_size"][0]
    spearman = "" if rho is None else f"  (Spearman {rho:+.2f})".replace("-", "−")
    axes.set_title(f"Entropy change against degree{spearman}")


def _hexagons(axes: "Axes", entities: "pl.DataFrame") -> None:
    options: Any = {"xscale": "log", "gridsize": 40, "mincnt": 1, "cmap": "Greys", "vmin": 0.2}
    cells = axes.hexbin(entities["degree"] + 1, entities["per_coordinate"], bins="log", **options)
    axes.figure.colorbar(cells, ax=axes, label="entities", format="{x:,.0f}")


def _scatter(axes: "Axes", entities: "pl.DataFrame") -> None:
    types = entities["type"].value_counts(sort=True)["type"].to_list()[: len(MARKERS)]
    rest = entities.filter(~entities["type"].is_in(types))
    axes.scatter(rest["degree"] + 1, rest["per_coordinate"], s=16, color="#999999", label="other")
    for i, name in enumerate(types):
        own = entities.filter(entities["type"] == name)
        style: Any = {"marker": MARKERS[i], "color": COLOURS[i], "label": name}
        axes.scatter(own["degree"] + 1, own["per_coordinate"], s=16, alpha=0.7, lw=0, **style)
    axes.set_xscale("log")
    if len(types) > 1:
        handles, names = axes.get_legend_handles_labels()
        first = 0 if len(rest) else 1
        axes.legend(handles[first:], names[first:], fontsize=9)


def density_plot(
    axes: "Axes", run: Run, entities: Sequence[str], coordinate: int | None = None
) -> None:
    """Draw the densities of f(x0) of entities in one coordinate, see `marginal_density`."""
    curves = marginal_density(run, entities, coordinate)
    _draw_curves(axes, curves)
    axes.set_xlabel(f"coordinate {curves['coordinate'][0]} of {run.model.dim}")
    axes.set_title("Densities of entities")


def mean_density_plot(axes: "Axes", run: Run, entities: Sequence[str]) -> None:
    """Draw the densities of entities around the median, averaged over the coordinates."""
    curves = mean_density(run, entities)
    _draw_curves(axes, curves)
    # Some coordinates are much narrower than others, so the mean has a peak and wide tails.
    axes.set_yscale("log")
    axes.set_ylim(bottom=float(curves["density"].to_numpy().max()) / 1000)
    axes.set_ylabel("density (log scale)")
    axes.set_xlabel(f"distance from the median, averaged over {run.model.dim} coordinates")
    axes.set_title("Mean densities of entities")


def _draw_curves(axes: "Axes", curves: "pl.DataFrame") -> None:
    for i, ((name,), curve) in enumerate(curves.group_by("entity", maintain_order=True)):
        style = {"color": COLOURS[i % len(COLOURS)], "ls": DASHES[i % len(DASHES)]}
        axes.plot(curve["x"], curve["density"], label=name, **style)
    axes.set_ylabel("density")
    axes.set_ylim(bottom=0)
    axes.legend(fontsize=9)


def entity_map(
    axes: "Axes",
    layout: Layout,
    groups: Groups,
    names: Sequence[str],
    labels: Sequence[tuple[int, str]],
) -> None:
    """Draw a map of all entities, with a colour, a marker and a name for each group.

    The labels, given with the ids of their entities, are in order of priority; they are drawn where
    they do not overlap.
    """
    size = float(np.clip(18_000 / len(layout.positions), 5, 30))
    style: dict[str, Any] = {"linewidths": 0.3, "edgecolors": "white"}
    style["rasterized"] = len(layout.positions) > MAX_VECTOR_POINTS
    # Entities without a group are drawn first, below the others, and last in the legend.
    for i in (-1, *range(len(names))):
        x, y = layout.positions[groups.index == i].T
        colour, marker = (OTHER, ".") if i < 0 else (COLOURS[i], MARKERS[i])
        name = f"{'other' if i < 0 else names[i]} ({len(x):,})" if len(x) else "_none"
        axes.scatter(x, y, size, c=colour, marker=marker, label=name, **style)
    handles, texts = axes.get_legend_handles_labels()
    if (groups.index == -1).any():
        handles, texts = handles[1:] + handles[:1], texts[1:] + texts[:1]
    narrow = max(map(len, texts), default=0) < 30
    axes.legend(
        handles, texts, ncols=2 if narrow else 1, loc="upper left", bbox_to_anchor=(0, 0),
        fontsize=9, handletextpad=0.3, columnspacing=1.2, markerscale=(26 / size) ** 0.5,
    )  # fmt: skip
    axes.set_axis_off()
    _draw_labels(axes, layout, labels)


def _draw_labels(axes: "Axes", layout: Layout, labels: Sequence[tuple[int, str]]) -> None:
    figure: Any = axes.figure
    figure.draw_without_rendering()
    bounds, occupied = axes.get_window_extent(), list["Bbox"]()
    for i, text in labels:
        if len(occupied) == MAX_LABELS:
            return
        drawn = axes.annotate(
            text, layout.positions[i], (0, 5), textcoords="offset points", ha="center", fontsize=9,
            bbox={"boxstyle": "round,pad=0.12", "fc": "white", "ec": "none", "alpha": 0.75},
        )  # fmt: skip
        box = drawn.get_window_extent().padded(4)
        inside = bounds.x0 <= box.x0 and box.x1 <= bounds.x1 and box.y1 <= bounds.y1
        if inside and not any(box.overlaps(other) for other in occupied):
            occupied.append(box)
        else:
            drawn.remove()


def overview(run: Run, entities: Sequence[str], path: Path) -> Path:
    """Write a figure with the learning curve of a run and the densities of entities."""
    with new_figure(10, 3.9) as figure:
        left, right = figure.subplots(1, 2)
        learning_curve(left, run)
        density_plot(right, run, entities)
        return save_figure(figure, path)
