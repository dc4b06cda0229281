"""Losses, ranks and top-k over S = QKᵀ + a + b, computed block by block.

The kernels depend on torch only: they take query vectors, embeddings and a function that encodes
embeddings as keys, and are the same for every model.
"""

from kgflow.kernels.entities import BLOCK, TILE, EncodedEntities, Positions, blocks, require_finite
from kgflow.kernels.keys import AutogradKeys, BiasedKeys, IdentityKeys, KeyEncoder, WassersteinKeys
from kgflow.kernels.loss_kernel import GradientAccumulator, LossKernel, Targets, WholeGradient
from kgflow.kernels.matrix_product import LogisticKernel, SoftmaxKernel
from kgflow.kernels.pairwise import PairwiseLogistic, PairwiseSoftmax
from kgflow.kernels.ranking import (
    ExactSearch,
    TopK,
    TopKSearch,
    count_higher_scores,
    filtered_ranks,
)
from kgflow.kernels.score_gradient import ExactGradient, SampledGradient, ScoreGradient

__all__ = [
    "BLOCK",
    "TILE",
    "AutogradKeys",
    "BiasedKeys",
    "EncodedEntities",
    "ExactGradient",
    "ExactSearch",
    "GradientAccumulator",
    "IdentityKeys",
    "KeyEncoder",
    "LogisticKernel",
    "LossKernel",
    "PairwiseLogistic",
    "PairwiseSoftmax",
    "Positions",
    "SampledGradient",
    "ScoreGradient",
    "SoftmaxKernel",
    "Targets",
    "TopK",
    "TopKSearch",
    "WassersteinKeys",
    "WholeGradient",
    "blocks",
    "count_higher_scores",
    "filtered_ranks",
    "require_finite",
]
