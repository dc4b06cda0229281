"""Hyperparameter search by validation MRR, with optuna."""

from kgflow.errors import require

require("optuna", "tuning", "tune")

from kgflow.tuning.protocol import (  # noqa: E402
    PROTOCOLS,
    HyperbandProtocol,
    PaperProtocol,
    TpeProtocol,
    TuningProtocol,
)
from kgflow.tuning.search import HyperparameterSearch, TrialResult, best_experiment, tune  # noqa: E402

__all__ = [
    "PROTOCOLS",
    "HyperbandProtocol",
    "HyperparameterSearch",
    "PaperProtocol",
    "TpeProtocol",
    "TrialResult",
    "TuningProtocol",
    "best_experiment",
    "tune",
]
