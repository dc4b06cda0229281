"""Uncertainty of predictions: calibration, prediction sets, confidences of triples."""

from kgflow.uncertainty.calibration import Calibration, calibrate
from kgflow.uncertainty.calibrators import Beta, Identity, Platt, Spline
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
from kgflow.uncertainty.missing import MissingAnswers
from kgflow.uncertainty.nonconformity import (
    NONCONFORMITY,
    AdaptiveScore,
    FitData,
    NonconformityScore,
    RankScore,
    scores_of,
)
from kgflow.uncertainty.pointwise_scores import MinMaxScore, NegativeScore, SoftmaxScore
from kgflow.uncertainty.reliability import Reliability, compare_reliability
from kgflow.uncertainty.removed import TripleSample, sample_triples
from kgflow.uncertainty.set_size import Comparison, compare_sizes, relation_clusters
from kgflow.uncertainty.truth import Evidence, TruthModel
from kgflow.uncertainty.truth_fitting import fit_truth

__all__ = [
    "NONCONFORMITY",
    "AdaptiveScore",
    "Beta",
    "Calibration",
    "CandidateScores",
    "Comparison",
    "ConditionalLogit",
    "ConfidenceMetrics",
    "ConfidenceRegression",
    "ConfidenceStatistics",
    "Conformal",
    "Coverage",
    "Evidence",
    "FitData",
    "Identity",
    "IntervalCoverage",
    "MinMaxScore",
    "MissingAnswers",
    "NegativeScore",
    "NonconformityScore",
    "Platt",
    "RankScore",
    "Reliability",
    "SoftmaxScore",
    "Spline",
    "TripleSample",
    "TruthModel",
    "calibrate",
    "check_coverage",
    "compare_reliability",
    "compare_sizes",
    "coverage_of_ranks",
    "evaluate_confidence",
    "fit_confidence",
    "fit_conformal",
    "fit_truth",
    "measure_coverage",
    "measure_coverages",
    "relation_clusters",
    "sample_triples",
    "score_candidates",
    "scores_of",
]
