"""What a model learned, for people to see."""

from kgflow.insight.certainty import entity_uncertainty
from kgflow.insight.comparison import Comparison
from kgflow.insight.explain import Explainer, Reason, explain
from kgflow.insight.layout import layout
from kgflow.insight.plots import overview
from kgflow.insight.report import write_report
from kgflow.insight.rules import believed_rules

__all__ = [
    "Comparison",
    "Explainer",
    "Reason",
    "believed_rules",
    "entity_uncertainty",
    "explain",
    "layout",
    "overview",
    "write_report",
]
