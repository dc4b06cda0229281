"""Plots of training: learning curves."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kgflow.analysis.plots.entities import density_plot
from kgflow.analysis.plots.style import COLOURS, DASHES, new_figure, save_figure
from kgflow.runs.run import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
        twin.plot(best["epoch"], best["mrr"], "o", color=COLOURS[0], ms=5)
        twin.annotate(
            f"best {best['mrr']:.3f}",
            (best["epoch"], best["mrr"]),
            xytext=(0, 7),
            textcoords="offset points",
            ha="right",
            color=COLOURS[0],
        )


def overview(run: Run, entities: Sequence[str], path: Path) -> Path:
    """Write a figure with the learning curve of a run and densities of entities.

    Args:
        run: trained run.
        entities: names or labels of entities.
        path: output file, such as a PNG.
    """
    with new_figure(10, 3.9) as figure:
        left, right = figure.subplots(1, 2)
        learning_curve(left, run)
        density_plot(right, run, entities)
        return save_figure(figure, path)
