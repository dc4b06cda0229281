"""Rules that a model has learned, compared with the rules of its graph."""

from kgflow.analysis.rules.distance import Deviation, RelationDistance
from kgflow.analysis.rules.evaluate import EvaluatedRule, RuleEvaluator, TripleClassifier
from kgflow.analysis.rules.rule import KINDS, Graph, Rule, RuleCount
from kgflow.analysis.rules.search import (
    evaluate_candidates,
    find_rules,
    learned_rules,
    rules_frame,
)

__all__ = [
    "KINDS",
    "Deviation",
    "EvaluatedRule",
    "Graph",
    "RelationDistance",
    "Rule",
    "RuleCount",
    "RuleEvaluator",
    "TripleClassifier",
    "evaluate_candidates",
    "find_rules",
    "learned_rules",
    "rules_frame",
]
