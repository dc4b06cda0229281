"""How a model learns: batches, loss, trainer, checkpoint."""

from kgflow.training.batches import batches
from kgflow.training.callback import Callback, History, Record, read_history
from kgflow.training.checkpoint import Progress, load_model, save_model, write_atomic
from kgflow.training.confidence import Confidence, Plain, Regress, Soft, Weights
from kgflow.training.loss import OneVsAll
from kgflow.training.trainer import Diverged, Interrupted, Schedule, Trainer

__all__ = [
    "Callback",
    "Confidence",
    "Diverged",
    "History",
    "Interrupted",
    "OneVsAll",
    "Plain",
    "Progress",
    "Record",
    "Regress",
    "Schedule",
    "Soft",
    "Trainer",
    "Weights",
    "batches",
    "load_model",
    "read_history",
    "save_model",
    "write_atomic",
]
