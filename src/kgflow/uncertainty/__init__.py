"""How sure a model is: calibration, prediction sets, and predicted confidences."""

from kgflow.uncertainty.calibration import Calibration, calibrate
from kgflow.uncertainty.candidates import CandidateScores, score_candidates
from kgflow.uncertainty.confidence import (
    ConfidenceMetrics,
    Errors,
    confidence_map,
    evaluate_confidence,
)
from kgflow.uncertainty.conformal import Conformal, check_coverage, conform
from kgflow.uncertainty.coverage import Coverage, cover, cover_ranked
from kgflow.uncertainty.existence import Existence
from kgflow.uncertainty.maps import Identity, Isotonic, Logistic, Map
from kgflow.uncertainty.nonconformity import MassScore, NonconformityScore, RankScore
from kgflow.uncertainty.reliability import Reliability, differences

__all__ = [
    "Calibration",
    "CandidateScores",
    "ConfidenceMetrics",
    "Conformal",
    "Coverage",
    "Errors",
    "Existence",
    "Identity",
    "Isotonic",
    "Logistic",
    "Map",
    "MassScore",
    "NonconformityScore",
    "RankScore",
    "Reliability",
    "calibrate",
    "check_coverage",
    "confidence_map",
    "conform",
    "cover",
    "cover_ranked",
    "differences",
    "evaluate_confidence",
    "score_candidates",
]
