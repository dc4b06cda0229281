"""What a model learned, for people to see."""

from kgflow.analysis.associations import associations, type_uncertainty
from kgflow.analysis.certainty import entity_uncertainty, relation_uncertainty, triple_uncertainty
from kgflow.analysis.comparison import Comparison
from kgflow.analysis.density import marginal_density, mean_density
from kgflow.analysis.explain import Explainer, Reason, explain
from kgflow.analysis.layout import layout
from kgflow.analysis.plots import overview
from kgflow.analysis.profile import Profile, profile
from kgflow.analysis.report import write_report
from kgflow.analysis.rules import believed_rules
from kgflow.analysis.study import Study, study

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
    "triple_uncertainty",
    "type_uncertainty",
    "write_report",
]
