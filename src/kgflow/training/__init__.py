"""Training: losses, regularizers, optimizers, learning rate schedules, trainer, checkpoints."""

from kgflow.training.callbacks import Callback, History, Record, best_epoch, read_history
from kgflow.training.checkpoint import Progress, TrainingState, load_model, save_model
from kgflow.training.ema import MovingAverage
from kgflow.training.losses import (
    Batch,
    KvsAll,
    Loss,
    LossSettings,
    MarginRanking,
    MarginSettings,
    OneVsAll,
    QueryLossSettings,
    RelationPrediction,
    SampledSoftmax,
    SelfAdversarial,
    Softmax,
    Sum,
    Term,
)
from kgflow.training.optimizers import Cosine, Exponential, LrScheduleSettings, OptimizerSettings
from kgflow.training.regularizers import N3, Dura, RegularizerSettings
from kgflow.training.trainer import Diverged, Interrupted, Trainer, batches

__all__ = [
    "N3",
    "Batch",
    "Callback",
    "Cosine",
    "Diverged",
    "Dura",
    "Exponential",
    "History",
    "Interrupted",
    "KvsAll",
    "Loss",
    "LossSettings",
    "LrScheduleSettings",
    "MarginRanking",
    "MarginSettings",
    "MovingAverage",
    "OneVsAll",
    "OptimizerSettings",
    "Progress",
    "QueryLossSettings",
    "Record",
    "RegularizerSettings",
    "RelationPrediction",
    "SampledSoftmax",
    "SelfAdversarial",
    "Softmax",
    "Sum",
    "Term",
    "Trainer",
    "TrainingState",
    "batches",
    "best_epoch",
    "load_model",
    "read_history",
    "save_model",
]
