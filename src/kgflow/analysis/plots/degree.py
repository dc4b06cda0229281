"""Whether what is met often is sure."""

from typing import TYPE_CHECKING, Any

from kgflow.analysis.associations import associations
from kgflow.analysis.certainty import entity_uncertainty
from kgflow.analysis.plots.style import COLOURS
from kgflow.runs.run import Run

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes

MANY = 3000
"""Entities from which on their density is drawn rather than each."""
WIDE = 500
"""The degree from which on only powers of ten are named."""
MARKERS = ("o", "^", "s", "D", "v", "P")


def entropy_against_degree(axes: "Axes", run: Run) -> None:
    """The entropy change of every entity per coordinate against its degree, by type if few."""
    import polars as pl
    from matplotlib.ticker import LogLocator, NullLocator

    found = entity_uncertainty(run).filter(pl.col("uncertainty").is_finite())
    if len(found) > MANY:
        _dense(axes, found)
    else:
        _scattered(axes, found)
    steps = (1, 2, 5) if found["degree"].to_numpy().max(initial=0) < WIDE else (1,)
    axes.xaxis.set_major_locator(LogLocator(subs=steps))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set(xlabel="degree in training (+ 1)", ylabel="entropy change (nats per coordinate)")
    value = associations(run)["value"][0]
    told = "" if value is None else f"  (Spearman {value:+.2f})".replace("-", "−")
    axes.set_title(f"Uncertainty against degree{told}")


def _dense(axes: "Axes", found: "pl.DataFrame") -> None:
    options: Any = {"xscale": "log", "gridsize": 40, "mincnt": 1, "cmap": "Greys", "vmin": 0.2}
    cells = axes.hexbin(found["degree"] + 1, found["per_coordinate"], bins="log", **options)
    axes.figure.colorbar(cells, ax=axes, label="entities", format="{x:,.0f}")


def _scattered(axes: "Axes", found: "pl.DataFrame") -> None:
    types = found["type"].value_counts(sort=True)["type"].to_list()[: len(MARKERS)]
    rest = found.filter(~found["type"].is_in(types))
    axes.scatter(rest["degree"] + 1, rest["per_coordinate"], s=16, color="#999999", label="other")
    for place, name in enumerate(types):
        mine = found.filter(found["type"] == name)
        style: Any = {"marker": MARKERS[place], "color": COLOURS[place], "label": name}
        axes.scatter(mine["degree"] + 1, mine["per_coordinate"], s=16, alpha=0.7, lw=0, **style)
    axes.set_xscale("log")
    if len(types) > 1:
        handles, names = axes.get_legend_handles_labels()
        first = 0 if len(rest) else 1
        axes.legend(handles[first:], names[first:], fontsize=9)
