"""How good a model is: filtered ranks and their metrics, and confidences."""

from kgflow.evaluation.answers import best_answers
from kgflow.evaluation.confidence import (
    ConfidenceMetrics,
    Errors,
    confidence_map,
    evaluate_confidence,
)
from kgflow.evaluation.evaluation import GROUPS, Evaluation
from kgflow.evaluation.metrics import Metrics, metrics
from kgflow.evaluation.ranking import POLICIES, Ranking, rank

__all__ = [
    "GROUPS",
    "POLICIES",
    "ConfidenceMetrics",
    "Errors",
    "Evaluation",
    "Metrics",
    "Ranking",
    "best_answers",
    "confidence_map",
    "evaluate_confidence",
    "metrics",
    "rank",
]
