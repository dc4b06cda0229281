"""The rules that a model believes, beside those that its graph holds."""

from kgflow.insight.rules.acceptance import Acceptance
from kgflow.insight.rules.believed import beliefs, believed_rules, rules_frame
from kgflow.insight.rules.geometry import Geometry
from kgflow.insight.rules.graph import Count, Graph
from kgflow.insight.rules.judge import Belief, Judge
from kgflow.insight.rules.rule import KINDS, Rule
from kgflow.insight.rules.statistic import Statistic

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
