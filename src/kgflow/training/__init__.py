"""How a model learns: batches, loss, trainer, checkpoint."""

from kgflow.training.batches import batches
from kgflow.training.callback import Callback, History, Record, read_history
from kgflow.training.checkpoint import Progress, load_model, save_model, write_atomic
from kgflow.training.loss import OneVsAll
from kgflow.training.trainer import Diverged, Interrupted, Schedule, Trainer

__all__ = [
    "Callback",
    "Diverged",
    "History",
    "Interrupted",
    "OneVsAll",
    "Progress",
    "Record",
    "Schedule",
    "Trainer",
    "batches",
    "load_model",
    "read_history",
    "save_model",
    "write_atomic",
]
