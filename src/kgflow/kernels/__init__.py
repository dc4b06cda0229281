"""Losses, ranks and top-k over S = QKᵀ + a + b, computed block by block.

The kernels depend on torch only: they take query vectors, embeddings and a function that encodes
embeddings as keys, and are the same for every model.
"""

from kgflow.kernels.autograd import differentiable_loss, one_vs_all
from kgflow.kernels.blocks import BLOCK, TILE, Positions, blocks
from kgflow.kernels.entities import EncodedEntities, EncodeKeys, Interaction, require_finite
from kgflow.kernels.keys import AutogradKeys, BiasedKeys, IdentityKeys, KeyEncoder, WassersteinKeys
from kgflow.kernels.loss_kernel import (
    GradientAccumulator,
    Gradients,
    LossKernel,
    Targets,
    WholeGradient,
)
from kgflow.kernels.matrix_product import LogisticKernel, SoftmaxKernel
from kgflow.kernels.pairwise import PairwiseKernel, PairwiseLogistic, PairwiseSoftmax
from kgflow.kernels.ranking import (
    ExactSearch,
    Ranks,
    TopK,
    TopKSearch,
    count_higher_scores,
    filtered_ranks,
    top_k,
)
from kgflow.kernels.score_gradient import ExactGradient, SampledGradient, ScoreGradient

__all__ = [
    "BLOCK",
    "TILE",
    "AutogradKeys",
    "BiasedKeys",
    "EncodeKeys",
    "EncodedEntities",
    "ExactGradient",
    "ExactSearch",
    "GradientAccumulator",
    "Gradients",
    "IdentityKeys",
    "Interaction",
    "KeyEncoder",
    "LogisticKernel",
    "LossKernel",
    "PairwiseKernel",
    "PairwiseLogistic",
    "PairwiseSoftmax",
    "Positions",
    "Ranks",
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
    "differentiable_loss",
    "filtered_ranks",
    "one_vs_all",
    "require_finite",
    "top_k",
]
