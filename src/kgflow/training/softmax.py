"""Cross entropy over all entities."""

import numpy as np
from numpy.typing import NDArray

from kgflow.data import QueryIndex
from kgflow.kernels import BLOCK, KeyEncoder, LossKernel, PairwiseSoftmax, SoftmaxKernel, Targets
from kgflow.models import Model
from kgflow.training.all_entities import AllEntities
from kgflow.training.targets import fact_targets


class Softmax(AllEntities):
    r"""Which entity is the tail, of all; grouped by (h, r).

    .. math:: \ell(h, r, t) = \log \sum_{t'} \exp f(h, r, t') - f(h, r, t)

    the batch's mean over its triples. A query with n true tails is scored once: its n triples
    together cost :math:`n \log \sum_{t'} \exp s_{t'} - \sum_t s_t`. A triple of weight w counts w
    times. A margin would change nothing: it cancels.

    Args:
        model: what is trained.
        index: the training queries.
        dropout: the share of each head's numbers that are left out in training.
        query_dropout: the share of each query's numbers that are left out in training.
        block: entities at a time.

    Reference:
        Lacroix, Usunier, Obozinski: Canonical Tensor Decomposition for Knowledge Base Completion,
        ICML 2018.
    """

    def __init__(
        self,
        model: Model,
        index: QueryIndex,
        dropout: float = 0.0,
        query_dropout: float = 0.0,
        block: int = BLOCK,
    ) -> None:
        super().__init__(model, index, 0.0, dropout, query_dropout)
        self.block = block

    def targets(self, rows: NDArray[np.int64]) -> Targets:
        """The weights of a query's triples, together (c) and each (y), over the batch's size."""
        return fact_targets(self.index, rows, self.model.entity.weight)

    def kernel(self, keys: KeyEncoder) -> LossKernel:
        """One exponential between three matrix products, or what comes nearest."""
        if self.model.interaction is None:
            return SoftmaxKernel(keys, self.block)
        return PairwiseSoftmax(keys, self.model.interaction)
