"""How good a model is: filtered ranks, what they say, probabilities, answer sets, confidences."""

from kgflow.evaluation.answers import best_answers
from kgflow.evaluation.calibration import Calibration, calibrate
from kgflow.evaluation.census import Census, take_census
from kgflow.evaluation.confidence import (
    ConfidenceMetrics,
    Errors,
    confidence_map,
    evaluate_confidence,
)
from kgflow.evaluation.conformal import Conformal, check_coverage, conform
from kgflow.evaluation.coverage import Coverage, cover, cover_ranked
from kgflow.evaluation.evaluation import GROUPS, Evaluation
from kgflow.evaluation.existence import Existence
from kgflow.evaluation.maps import Identity, Isotonic, Logistic, Map
from kgflow.evaluation.metrics import Metrics, metrics
from kgflow.evaluation.ranking import POLICIES, Ranking, rank
from kgflow.evaluation.reliability import Reliability, differences
from kgflow.evaluation.strangeness import ByMass, ByRank, Strangeness

__all__ = [
    "GROUPS",
    "POLICIES",
    "ByMass",
    "ByRank",
    "Calibration",
    "Census",
    "ConfidenceMetrics",
    "Conformal",
    "Coverage",
    "Errors",
    "Evaluation",
    "Existence",
    "Identity",
    "Isotonic",
    "Logistic",
    "Map",
    "Metrics",
    "Ranking",
    "Reliability",
    "Strangeness",
    "best_answers",
    "calibrate",
    "check_coverage",
    "confidence_map",
    "conform",
    "cover",
    "cover_ranked",
    "differences",
    "evaluate_confidence",
    "metrics",
    "rank",
    "take_census",
]
