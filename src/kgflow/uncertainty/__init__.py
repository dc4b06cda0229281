"""Uncertainty of predictions: calibration, prediction sets, confidences of triples."""

from kgflow.uncertainty.calibration import Calibration, MissingAnswerProbability, calibrate
from kgflow.uncertainty.calibrators import Identity, Isotonic, Platt
from kgflow.uncertainty.candidates import CandidateScores, score_candidates
from kgflow.uncertainty.conditional_logit import ConditionalLogit
from kgflow.uncertainty.confidence import ConfidenceMetrics, evaluate_confidence, fit_confidence
from kgflow.uncertainty.confidence_intervals import (
    ConfidenceRegression,
    ConfidenceStatistics,
    IntervalCoverage,
)
from kgflow.uncertainty.conformal import Conformal, check_coverage, fit_conformal
from kgflow.uncertainty.coverage import (
    Coverage,
    coverage_of_ranks,
    measure_coverage,
    measure_coverages,
)
from kgflow.uncertainty.nonconformity import (
    NONCONFORMITY,
    AdaptiveScore,
    FitData,
    NonconformityScore,
    RankScore,
    SoftmaxScore,
    scores_of,
)
from kgflow.uncertainty.reliability import Reliability, compare_reliability
from kgflow.uncertainty.set_size import Comparison, compare_sizes, relation_clusters

__all__ = [
    "NONCONFORMITY",
    "AdaptiveScore",
    "Calibration",
    "CandidateScores",
    "Comparison",
    "ConditionalLogit",
    "ConfidenceMetrics",
    "ConfidenceRegression",
    "ConfidenceStatistics",
    "Conformal",
    "Coverage",
    "FitData",
    "Identity",
    "IntervalCoverage",
    "Isotonic",
    "MissingAnswerProbability",
    "NonconformityScore",
    "Platt",
    "RankScore",
    "Reliability",
    "SoftmaxScore",
    "calibrate",
    "check_coverage",
    "compare_reliability",
    "compare_sizes",
    "coverage_of_ranks",
    "evaluate_confidence",
    "fit_confidence",
    "fit_conformal",
    "measure_coverage",
    "measure_coverages",
    "relation_clusters",
    "score_candidates",
    "scores_of",
]
