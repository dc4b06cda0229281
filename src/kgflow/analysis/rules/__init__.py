"""The rules that a model believes, beside those that its graph holds."""

from kgflow.analysis.rules.acceptance import Acceptance
from kgflow.analysis.rules.believed import beliefs, believed_rules, rules_frame
from kgflow.analysis.rules.geometry import Geometry
from kgflow.analysis.rules.graph import Count, Graph
from kgflow.analysis.rules.judge import Belief, Judge
from kgflow.analysis.rules.rule import KINDS, Rule
from kgflow.analysis.rules.statistic import Statistic

__all__ = [
    "KINDS",
    "Acceptance",
    "Belief",
    "Count",
    "Geometry",
    "Graph",
    "Judge",
    "Rule",
    "Statistic",
    "beliefs",
    "believed_rules",
    "rules_frame",
]
