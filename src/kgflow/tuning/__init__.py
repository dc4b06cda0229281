"""Hyperparameter search by validation MRR, with optuna."""

from kgflow.tuning.paper import PaperProtocol
from kgflow.tuning.protocol import PROTOCOLS, HyperbandProtocol, TpeProtocol, TuningProtocol
from kgflow.tuning.search import HyperparameterSearch, TrialResult, best_experiment, tune

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
