"""Every entity a question of yes or no, once per query."""

import numpy as np
from numpy.typing import NDArray

from kgflow.data import QueryIndex
from kgflow.kernels import (
    BLOCK,
    ExactGradient,
    KeyEncoder,
    LogisticKernel,
    LossKernel,
    PairwiseLogistic,
    Targets,
)
from kgflow.models import Model
from kgflow.training.all_entities import AllEntities


class KvsAll(AllEntities):
    r"""Binary cross entropy of a query with all its tails at once, with label smoothing.

    .. math:: \ell(h, r) = \sum_{t'} \mathrm{softplus}(s_{t'}) - z_{t'} s_{t'}, \quad
              z = (1 - \epsilon) y + \epsilon / E, \quad s = \gamma + f(h, r, t')

    with y = 1 for true tails and 0 elsewhere; the batch's mean over its queries. A query with many
    tails counts as much as one with few; the weight of a triple is its y.

    Args:
        model: what is trained.
        index: the training queries.
        margin: γ.
        dropout: the share of each head's numbers that are left out in training.
        query_dropout: the share of each query's numbers that are left out in training.
        smoothing: ε.
        block: entities at a time.

    Reference:
        Dettmers, Minervini, Stenetorp, Riedel: Convolutional 2D Knowledge Graph Embeddings,
        AAAI 2018.
    """

    def __init__(
        self,
        model: Model,
        index: QueryIndex,
        margin: float,
        dropout: float = 0.0,
        query_dropout: float = 0.0,
        smoothing: float = 0.0,
        block: int = BLOCK,
    ) -> None:
        super().__init__(model, index, margin, dropout, query_dropout)
        self.smoothing, self.block = smoothing, block

    def targets(self, rows: NDArray[np.int64]) -> Targets:
        """One for each query (c), the rest of ε for each of its triples (y), over the queries."""
        row, tail, weight = self.index.gather(rows)
        like = self.model.entity.weight
        y = like.new_ones(len(tail)) if weight is None else like.new_tensor(weight)
        y *= (1 - self.smoothing) / len(rows)
        c = like.new_full((len(rows),), 1 / len(rows))
        return Targets(c, self.tensor(row), self.tensor(tail), y)

    def kernel(self, keys: KeyEncoder) -> LossKernel:
        """That of the paper's loss, with a floor under y."""
        floor = self.smoothing / self.index.entities
        if self.model.interaction is None:
            return LogisticKernel(keys, ExactGradient(floor), self.block)
        return PairwiseLogistic(keys, self.model.interaction, floor)
