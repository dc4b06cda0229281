"""How a model learns: batches, losses, optimizers, trainer, checkpoint."""

from kgflow.training.base import Facts, Loss
from kgflow.training.batches import batches
from kgflow.training.callback import Callback, History, Record, best_epoch, read_history
from kgflow.training.checkpoint import Progress, load_model, save_model
from kgflow.training.confidence import Confidence, Plain, Regress, Soft, Weights
from kgflow.training.corruption import Bernoulli, BothSides, Corruption, Tails
from kgflow.training.kvsall import KvsAll
from kgflow.training.loss import OneVsAll
from kgflow.training.negatives import MarginRanking, NegativeSampling, SelfAdversarial
from kgflow.training.optimizers import OPTIMIZERS
from kgflow.training.popularity import weighted_by_tail
from kgflow.training.rate import Cosine, Exponential, Plateau, Rate, Warmup
from kgflow.training.regularizers import L2, N3, Dura, Regularizer
from kgflow.training.relation_prediction import RelationPrediction
from kgflow.training.sampled_one_vs_all import SampledOneVsAll
from kgflow.training.sampled_softmax import SampledSoftmax
from kgflow.training.softmax import Softmax
from kgflow.training.term import Sum, Term
from kgflow.training.trainer import Diverged, Interrupted, Schedule, Trainer

__all__ = [
    "L2",
    "N3",
    "OPTIMIZERS",
    "Bernoulli",
    "BothSides",
    "Callback",
    "Confidence",
    "Corruption",
    "Cosine",
    "Diverged",
    "Dura",
    "Exponential",
    "Facts",
    "History",
    "Interrupted",
    "KvsAll",
    "Loss",
    "MarginRanking",
    "NegativeSampling",
    "OneVsAll",
    "Plain",
    "Plateau",
    "Progress",
    "Rate",
    "Record",
    "Regress",
    "Regularizer",
    "RelationPrediction",
    "SampledOneVsAll",
    "SampledSoftmax",
    "Schedule",
    "SelfAdversarial",
    "Soft",
    "Softmax",
    "Sum",
    "Tails",
    "Term",
    "Trainer",
    "Warmup",
    "Weights",
    "batches",
    "best_epoch",
    "load_model",
    "read_history",
    "save_model",
    "weighted_by_tail",
]
