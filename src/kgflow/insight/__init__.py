"""What a model learned, for people to see."""

from kgflow.insight.associations import associations, type_uncertainty
from kgflow.insight.certainty import entity_uncertainty, relation_uncertainty, triple_uncertainty
from kgflow.insight.comparison import Comparison
from kgflow.insight.density import marginal_density, mean_density
from kgflow.insight.explain import Explainer, Reason, explain
from kgflow.insight.layout import layout
from kgflow.insight.plots import overview
from kgflow.insight.profile import Profile, profile
from kgflow.insight.report import write_report
from kgflow.insight.rules import believed_rules
from kgflow.insight.study import Study, study
from kgflow.insight.study_page import study_page

__all__ = [
    "Comparison",
    "Explainer",
    "Profile",
    "Reason",
    "Study",
    "associations",
    "believed_rules",
    "entity_uncertainty",
    "explain",
    "layout",
    "marginal_density",
    "mean_density",
    "overview",
    "profile",
    "relation_uncertainty",
    "study",
    "study_page",
    "triple_uncertainty",
    "type_uncertainty",
    "write_report",
]
