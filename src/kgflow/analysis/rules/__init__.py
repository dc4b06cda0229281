"""Rules that a model has learned, compared with the rules of its graph."""

from kgflow.analysis.rules.distance import Deviation, RelationDistance
from kgflow.analysis.rules.evaluate import EvaluatedRule, RuleEvaluator
from kgflow.analysis.rules.rule import Graph, Rule
from kgflow.analysis.rules.search import evaluate_candidates, find_rules, rules_frame

__all__ = [
    "Deviation",
    "EvaluatedRule",
    "Graph",
    "RelationDistance",
    "Rule",
    "RuleEvaluator",
    "evaluate_candidates",
    "find_rules",
    "rules_frame",
]
