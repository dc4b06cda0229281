"""Analysis of trained runs: certainty, rules, explanations, plots and reports."""

from kgflow.analysis.certainty import (
    associations,
    entity_uncertainty,
    relation_uncertainty,
    triple_uncertainty,
    type_uncertainty,
)
from kgflow.analysis.density import marginal_density, mean_density, profile
from kgflow.analysis.explain import Explainer, Explanation, explain
from kgflow.analysis.layout import layout
from kgflow.analysis.plots import overview
from kgflow.analysis.report import write_report
from kgflow.analysis.rules import find_rules, rules_frame

__all__ = [
    "Explainer",
    "Explanation",
    "associations",
    "entity_uncertainty",
    "explain",
    "find_rules",
    "layout",
    "marginal_density",
    "mean_density",
    "overview",
    "profile",
    "relation_uncertainty",
    "rules_frame",
    "triple_uncertainty",
    "type_uncertainty",
    "write_report",
]
