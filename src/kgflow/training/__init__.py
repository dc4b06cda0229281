"""Training: losses, regularizers, optimizers, learning rate schedules, trainer, checkpoints."""

from kgflow.training.callbacks import Callback, History, Record, best_epoch, read_history
from kgflow.training.checkpoint import Progress, TrainingState, load_model, save_model
from kgflow.training.ema import MovingAverage
from kgflow.training.losses.base import Loss, LossSettings
from kgflow.training.losses.confidence import CONFIDENCES
from kgflow.training.losses.kvsall import KvsAll
from kgflow.training.losses.negative_sampling import (
    Bernoulli,
    CorruptBoth,
    CorruptTails,
    MarginRanking,
    SelfAdversarial,
)
from kgflow.training.losses.one_vs_all import OneVsAll
from kgflow.training.losses.sampled_softmax import SampledSoftmax
from kgflow.training.losses.softmax import Softmax
from kgflow.training.losses.terms import RelationPrediction, Sum, Term
from kgflow.training.optimizers import Cosine, Exponential, LrScheduleSettings, OptimizerSettings
from kgflow.training.regularizers import N3, Dura, RegularizerSettings
from kgflow.training.trainer import Diverged, Interrupted, Trainer, batches

__all__ = [
    "CONFIDENCES",
    "N3",
    "Bernoulli",
    "Callback",
    "CorruptBoth",
    "CorruptTails",
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
    "MovingAverage",
    "OneVsAll",
    "OptimizerSettings",
    "Progress",
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
