"""Uncertainty of predictions: calibration, prediction sets, confidences of triples."""

from kgflow.uncertainty.calibration import Calibration, calibrate, fit_truth
from kgflow.uncertainty.calibrators import Beta, Identity, Platt, Spline
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
from kgflow.uncertainty.missing import MissingAnswers
from kgflow.uncertainty.reliability import Reliability, compare_reliability
from kgflow.uncertainty.removed import TripleSample, sample_triples
from kgflow.uncertainty.truth import Evidence, TruthModel

__all__ = [
    "AdaptiveScore",
    "Beta",
    "Calibration",
    "CandidateScores",
    "ConfidenceMetrics",
    "Conformal",
    "Coverage",
    "Evidence",
    "Identity",
    "MissingAnswers",
    "NonconformityScore",
    "Platt",
    "RankScore",
    "Reliability",
    "Spline",
    "TripleSample",
    "TruthModel",
    "calibrate",
    "check_coverage",
    "compare_reliability",
    "coverage_of_ranks",
    "evaluate_confidence",
    "fit_confidence",
    "fit_conformal",
    "fit_truth",
    "measure_coverage",
    "sample_triples",
    "score_candidates",
]
