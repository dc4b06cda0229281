"""Training: losses, regularizers, optimizers, learning rate schedules, trainer, checkpoints."""

from kgflow.training.batches import Batch, epoch_batches
from kgflow.training.callbacks import Callback, History, Record, best_epoch, read_history
from kgflow.training.checkpoint import load_model, save_model
from kgflow.training.losses.base import Loss, LossSettings
from kgflow.training.losses.negative_sampling import MarginRanking, SelfAdversarial
from kgflow.training.losses.one_vs_all import KvsAll, OneVsAll
from kgflow.training.losses.sampled import SampledEntities, SampledLogistic
from kgflow.training.losses.softmax import SampledSoftmax, Softmax
from kgflow.training.losses.terms import RelationPrediction, Sum, Term
from kgflow.training.optimizers import (
    Cosine,
    Exponential,
    LrScheduleSettings,
    OptimizerSettings,
)
from kgflow.training.regularizers import N3, Dura, RegularizerSettings
from kgflow.training.row_updates import Update
from kgflow.training.trackers import MLflow, TensorBoard, Tracker, WeightsAndBiases, make_tracker
from kgflow.training.trainer import Diverged, Interrupted, Trainer

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
    "MLflow",
    "MarginRanking",
    "OneVsAll",
    "OptimizerSettings",
    "Record",
    "RegularizerSettings",
    "RelationPrediction",
    "SampledEntities",
    "SampledLogistic",
    "SampledSoftmax",
    "SelfAdversarial",
    "Softmax",
    "Sum",
    "TensorBoard",
    "Term",
    "Tracker",
    "Trainer",
    "Update",
    "WeightsAndBiases",
    "best_epoch",
    "epoch_batches",
    "load_model",
    "make_tracker",
    "read_history",
    "save_model",
]
