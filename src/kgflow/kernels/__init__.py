"""What works on S = QKᵀ + a + b in blocks; it knows no model and no data."""

from kgflow.kernels.blocks import BLOCK, blocks
from kgflow.kernels.entities import TILE, Entities, Interaction, Lower
from kgflow.kernels.kernel import Gradients, Kernel, Pass, Targets
from kgflow.kernels.keys import AutogradKeys, BiasedKeys, FoldedKeys, KeyMap, RowKeys
from kgflow.kernels.one_vs_all import differentiable, one_vs_all
from kgflow.kernels.pairwise import Pairwise, PairwiseKernel, PairwiseSoftmax
from kgflow.kernels.pullback import Dense, Pullback, Sparse
from kgflow.kernels.ranks import Ranks, compare, filtered_ranks
from kgflow.kernels.sink import Sink, Stored
from kgflow.kernels.softmax import SoftmaxKernel
from kgflow.kernels.topk import Best, Exact, Search, top_k

__all__ = [
    "BLOCK",
    "TILE",
    "AutogradKeys",
    "Best",
    "BiasedKeys",
    "Dense",
    "Entities",
    "Exact",
    "FoldedKeys",
    "Gradients",
    "Interaction",
    "Kernel",
    "KeyMap",
    "Lower",
    "Pairwise",
    "PairwiseKernel",
    "PairwiseSoftmax",
    "Pass",
    "Pullback",
    "Ranks",
    "RowKeys",
    "Search",
    "Sink",
    "SoftmaxKernel",
    "Sparse",
    "Stored",
    "Targets",
    "blocks",
    "compare",
    "differentiable",
    "filtered_ranks",
    "one_vs_all",
    "top_k",
]
