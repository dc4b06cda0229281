"""Uncertainty of predictions: calibration, prediction sets, confidences of triples."""

from kgflow.uncertainty.calibration import Calibration, MissingAnswerProbability, calibrate
from kgflow.uncertainty.calibrators import Identity, Isotonic, Platt
from kgflow.uncertainty.candidates import CandidateScores, score_candidates
from kgflow.uncertainty.confidence import ConfidenceMetrics, evaluate_confidence, fit_confidence
from kgflow.uncertainty.conformal import (
    AdaptiveScore,
    Conformal,
    NonconformityScore,
    RankScore,
    check_coverage,
    fit_conformal,
)
from kgflow.uncertainty.coverage import Coverage, coverage_of_ranks, measure_coverage
from kgflow.uncertainty.reliability import Reliability, compare_reliability

__all__ = [
    "AdaptiveScore",
    "Calibration",
    "CandidateScores",
    "ConfidenceMetrics",
    "Conformal",
    "Coverage",
    "Identity",
    "Isotonic",
    "MissingAnswerProbability",
    "NonconformityScore",
    "Platt",
    "RankScore",
    "Reliability",
    "calibrate",
    "check_coverage",
    "compare_reliability",
    "coverage_of_ranks",
    "evaluate_confidence",
    "fit_confidence",
    "fit_conformal",
    "measure_coverage",
    "score_candidates",
]
