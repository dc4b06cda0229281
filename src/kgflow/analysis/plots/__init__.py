"""Plots with matplotlib: `*_plot` draws into given axes, `*_figure` writes a file."""

from kgflow.analysis.plots.entities import (
    density_plot,
    entity_map,
    entropy_against_degree,
    mean_density_plot,
    overview,
)
from kgflow.analysis.plots.evaluation import (
    coverage_plot,
    dot_plot,
    interval_plot,
    learning_curve,
    rank_heatmap,
    reliability_diagram,
)
from kgflow.analysis.plots.rules import deviations_figure, rule_histograms, rules_figure, short_name
from kgflow.analysis.plots.style import (
    COLOURS,
    DASHES,
    MARKERS,
    STYLE,
    new_figure,
    save_figure,
    to_svg,
)

__all__ = [
    "COLOURS",
    "DASHES",
    "MARKERS",
    "STYLE",
    "coverage_plot",
    "density_plot",
    "deviations_figure",
    "dot_plot",
    "entity_map",
    "entropy_against_degree",
    "interval_plot",
    "learning_curve",
    "mean_density_plot",
    "new_figure",
    "overview",
    "rank_heatmap",
    "reliability_diagram",
    "rule_histograms",
    "rules_figure",
    "save_figure",
    "short_name",
    "to_svg",
]
