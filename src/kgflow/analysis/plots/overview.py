"""A run in one picture."""

from collections.abc import Sequence
from pathlib import Path

from kgflow.analysis.plots.densities import densities
from kgflow.analysis.plots.learning import learning_curve
from kgflow.analysis.plots.style import picture, save
from kgflow.runs.run import Run


def overview(run: Run, entities: Sequence[str], path: Path) -> Path:
    """One picture of a run: its learning curve, and the densities of some entities.

    The densities are of the coordinate that shows these entities best.

    Args:
        run: a trained run.
        entities: names of a few entities.
        path: where the PNG goes.
    """
    with picture(10, 3.9) as figure:
        left, right = figure.subplots(1, 2)
        learning_curve(left, run)
        densities(right, run, entities)
        return save(figure, path)
