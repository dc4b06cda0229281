"""What a model learned, for people to see."""

from kgflow.insight.certainty import entity_uncertainty
from kgflow.insight.explain import Explainer, Reason, explain
from kgflow.insight.plots import overview
from kgflow.insight.rules import believed_rules

__all__ = [
    "Explainer",
    "Reason",
    "believed_rules",
    "entity_uncertainty",
    "explain",
    "overview",
]
