"""Pictures of what a run learned: each function draws into axes it is given."""

from kgflow.insight.plots.courses import Course, course_picture, courses
from kgflow.insight.plots.coverage import coverage_plot
from kgflow.insight.plots.degree import entropy_against_degree
from kgflow.insight.plots.densities import densities, mean_densities
from kgflow.insight.plots.learning import learning_curve
from kgflow.insight.plots.overview import overview
from kgflow.insight.plots.rejection import rejection, rejections
from kgflow.insight.plots.reliability import reliability_diagram
from kgflow.insight.plots.rules import rule_histograms, rules_picture, statistics_picture
from kgflow.insight.plots.style import COLOURS, DASHES, STYLE, picture, save, svg

__all__ = [
    "COLOURS",
    "DASHES",
    "STYLE",
    "Course",
    "course_picture",
    "courses",
    "coverage_plot",
    "densities",
    "entropy_against_degree",
    "learning_curve",
    "mean_densities",
    "overview",
    "picture",
    "rejection",
    "rejections",
    "reliability_diagram",
    "rule_histograms",
    "rules_picture",
    "save",
    "statistics_picture",
    "svg",
]
