"""Losses: 1-vs-all, KvsAll, softmax, sampled softmax, margin ranking, self-adversarial."""

from kgflow.training.losses.base import Batch, Loss, LossSettings, MarginSettings, QueryLossSettings
from kgflow.training.losses.confidence import (
    CONFIDENCES,
    Confidence,
    Ignored,
    Regression,
    SoftLabel,
    Weighted,
)
from kgflow.training.losses.kvsall import KvsAll
from kgflow.training.losses.negative_sampling import (
    Bernoulli,
    CorruptBoth,
    Corruption,
    CorruptTails,
    MarginRanking,
    NegativeSampling,
    SelfAdversarial,
)
from kgflow.training.losses.one_vs_all import OneVsAll
from kgflow.training.losses.sampled_softmax import SampledLoss, SampledSoftmax
from kgflow.training.losses.softmax import Softmax
from kgflow.training.losses.terms import RelationPrediction, Sum, Term

__all__ = [
    "CONFIDENCES",
    "Batch",
    "Bernoulli",
    "Confidence",
    "CorruptBoth",
    "CorruptTails",
    "Corruption",
    "Ignored",
    "KvsAll",
    "Loss",
    "LossSettings",
    "MarginRanking",
    "MarginSettings",
    "NegativeSampling",
    "OneVsAll",
    "QueryLossSettings",
    "Regression",
    "RelationPrediction",
    "SampledLoss",
    "SampledSoftmax",
    "SelfAdversarial",
    "SoftLabel",
    "Softmax",
    "Sum",
    "Term",
    "Weighted",
]
