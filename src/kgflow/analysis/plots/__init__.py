"""Plots with matplotlib: `*_plot` draws into given axes, `*_figure` writes a file."""

from kgflow.analysis.plots.entities import (
    density_plot,
    entity_map,
    entropy_against_degree,
    mean_density_plot,
    overview,
)
from kgflow.analysis.plots.rules import rule_histograms, rules_figure
from kgflow.analysis.plots.style import COLOURS, STYLE, new_figure, save_figure, to_svg

__all__ = [
    "COLOURS",
    "STYLE",
    "density_plot",
    "entity_map",
    "entropy_against_degree",
    "mean_density_plot",
    "new_figure",
    "overview",
    "rule_histograms",
    "rules_figure",
    "save_figure",
    "to_svg",
]
