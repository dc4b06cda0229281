"""What works on S = QKᵀ + a + b in blocks; it knows no model and no data."""

from kgflow.engine.blocks import BLOCK, Lower, blocks, scores
from kgflow.engine.kernel import Gradients, Kernel, Targets, one_vs_all
from kgflow.engine.keys import AutogradKeys, FoldedKeys, KeyMap, RowKeys
from kgflow.engine.pullback import Dense, Pullback, Sparse
from kgflow.engine.ranks import Ranks, filtered_ranks
from kgflow.engine.topk import Best, top_k

__all__ = [
    "BLOCK",
    "AutogradKeys",
    "Best",
    "Dense",
    "FoldedKeys",
    "Gradients",
    "Kernel",
    "KeyMap",
    "Lower",
    "Pullback",
    "Ranks",
    "RowKeys",
    "Sparse",
    "Targets",
    "blocks",
    "filtered_ranks",
    "one_vs_all",
    "scores",
    "top_k",
]
