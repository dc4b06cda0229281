"""Pictures of what a run learned: each function draws into axes it is given."""

from kgflow.insight.plots.densities import densities
from kgflow.insight.plots.learning import learning_curve
from kgflow.insight.plots.overview import overview
from kgflow.insight.plots.style import COLOURS, DASHES, STYLE, picture, save, svg

__all__ = [
    "COLOURS",
    "DASHES",
    "STYLE",
    "densities",
    "learning_curve",
    "overview",
    "picture",
    "save",
    "svg",
]
