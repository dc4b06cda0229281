"""How sure a model is: calibration, prediction sets, and predicted confidences."""

from kgflow.uncertainty.calibration import Calibration, calibrate
from kgflow.uncertainty.census import Census, take_census
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
from kgflow.uncertainty.reliability import Reliability, differences
from kgflow.uncertainty.strangeness import ByMass, ByRank, Strangeness

__all__ = [
    "ByMass",
    "ByRank",
    "Calibration",
    "Census",
    "ConfidenceMetrics",
    "Conformal",
    "Coverage",
    "Errors",
    "Existence",
    "Identity",
    "Isotonic",
    "Logistic",
    "Map",
    "Reliability",
    "Strangeness",
    "calibrate",
    "check_coverage",
    "confidence_map",
    "conform",
    "cover",
    "cover_ranked",
    "differences",
    "evaluate_confidence",
    "take_census",
]
