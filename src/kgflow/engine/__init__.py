"""What works on S = QKᵀ + a + b in blocks; it knows no model and no data."""

from kgflow.engine.blocks import BLOCK, blocks
from kgflow.engine.entities import TILE, Entities, Lower, Meet
from kgflow.engine.kernel import Gradients, Kernel, Pass, Targets
from kgflow.engine.keys import AutogradKeys, BiasedKeys, FoldedKeys, KeyMap, RowKeys
from kgflow.engine.one_vs_all import differentiable, one_vs_all
from kgflow.engine.pairwise import Pairwise, PairwiseKernel, PairwiseSoftmax
from kgflow.engine.pullback import Dense, Pullback, Sparse
from kgflow.engine.ranks import Ranks, compare, filtered_ranks
from kgflow.engine.sink import Sink, Stored
from kgflow.engine.softmax import SoftmaxKernel
from kgflow.engine.topk import Best, Exact, Search, top_k

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
    "Kernel",
    "KeyMap",
    "Lower",
    "Meet",
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
