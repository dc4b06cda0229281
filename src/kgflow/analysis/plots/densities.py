"""What entities are as random variables."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kgflow.analysis.density import marginal_density, mean_density
from kgflow.analysis.plots.style import COLOURS, DASHES
from kgflow.runs.run import Run

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes


def densities(
    axes: "Axes", run: Run, entities: Sequence[str], coordinate: int | None = None
) -> None:
    """The densities of f(x0) of some entities, in a coordinate (from 1), or the most telling."""
    found = marginal_density(run, entities, coordinate)
    _draw(axes, found)
    axes.set_xlabel(f"coordinate {found['coordinate'][0]} of {run.model.dim}")
    axes.set_title("What the model takes these to be")


def mean_densities(axes: "Axes", run: Run, entities: Sequence[str]) -> None:
    """How wide some entities are: their densities around the median, mean of all coordinates."""
    found = mean_density(run, entities)
    _draw(axes, found)
    # Some coordinates are far narrower than others, so their mean has a peak and wide skirts.
    axes.set_yscale("log")
    axes.set_ylim(bottom=float(found["density"].to_numpy().max()) / 1000)
    axes.set_ylabel("density (log scale)")
    axes.set_xlabel(f"distance from the median, mean of {run.model.dim} coordinates")
    axes.set_title("How sure the model is of these")


def _draw(axes: "Axes", found: "pl.DataFrame") -> None:
    for place, ((name,), curve) in enumerate(found.group_by("entity", maintain_order=True)):
        style = {"color": COLOURS[place % len(COLOURS)], "ls": DASHES[place % len(DASHES)]}
        axes.plot(curve["x"], curve["density"], label=name, **style)
    axes.set_ylabel("density")
    axes.set_ylim(bottom=0)
    axes.legend(fontsize=9)
