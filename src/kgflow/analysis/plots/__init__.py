"""Pictures of what a run learned: each function draws into axes it is given."""

from kgflow.analysis.plots.coverage import coverage_plot
from kgflow.analysis.plots.degree import entropy_against_degree
from kgflow.analysis.plots.densities import densities, mean_densities
from kgflow.analysis.plots.learning import learning_curve
from kgflow.analysis.plots.overview import overview
from kgflow.analysis.plots.rejection import rejection
from kgflow.analysis.plots.reliability import reliability_diagram
from kgflow.analysis.plots.rules import rule_histograms, rules_picture, statistics_picture
from kgflow.analysis.plots.style import COLOURS, DASHES, STYLE, picture, save, svg

__all__ = [
    "COLOURS",
    "DASHES",
    "STYLE",
    "coverage_plot",
    "densities",
    "entropy_against_degree",
    "learning_curve",
    "mean_densities",
    "overview",
    "picture",
    "rejection",
    "reliability_diagram",
    "rule_histograms",
    "rules_picture",
    "save",
    "statistics_picture",
    "svg",
]
