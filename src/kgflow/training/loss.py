"""The paper's loss, for one batch of queries."""

import numpy as np
from numpy.typing import NDArray

from kgflow.data import QueryIndex
from kgflow.errors import KgflowError
from kgflow.kernels import (
    BLOCK,
    ExactGradient,
    KeyEncoder,
    LogisticKernel,
    LossKernel,
    PairwiseLogistic,
    ScoreGradient,
    Targets,
)
from kgflow.models import Model
from kgflow.training.all_entities import AllEntities
from kgflow.training.confidence import Confidence, Weights
from kgflow.training.targets import fact_targets


class OneVsAll(AllEntities):
    r"""Every triple against every entity, grouped by (h, r).

    .. math:: \ell(h, r, t) = \sum_{t'} \log(1 + \exp(-y_{t'} (\gamma + f(h, r, t'))))

    with :math:`y_t = 1` and -1 elsewhere; the batch's mean over its triples. A query with n true
    tails is scored once: its n triples together cost :math:`n \sum_{t'} \mathrm{softplus}(s_{t'})
    - \sum_t s_t`. What the confidence of a triple means, if it has one, is for `confidence` to say.

    Args:
        model: what is trained.
        index: the training queries.
        margin: the paper's γ.
        dropout: the share of each head's numbers that are left out in training.
        pullback: how the gradient reaches queries and keys: exactly by default, or sampled.
        block: entities at a time.
        confidence: what confidences do; by default a triple counts as often as it is confident.
        query_dropout: the share of each query's numbers that are left out in training.
    """

    def __init__(
        self,
        model: Model,
        index: QueryIndex,
        margin: float,
        dropout: float = 0.0,
        pullback: ScoreGradient | None = None,
        block: int = BLOCK,
        confidence: Confidence | None = None,
        query_dropout: float = 0.0,
    ) -> None:
        super().__init__(model, index, margin, dropout, query_dropout)
        self.pullback, self.block = pullback, block
        self.confidence = confidence or Weights()

    def targets(self, rows: NDArray[np.int64]) -> Targets:
        """The numbers of queries (c) and of their triples (y, e), over the batch's size."""
        return fact_targets(self.index, rows, self.model.entity.weight, self.confidence)

    def kernel(self, keys: KeyEncoder) -> LossKernel:
        """One sigmoid between three matrix products, or what comes nearest."""
        if self.model.interaction is None:
            return LogisticKernel(keys, self.pullback, self.block)
        if self.pullback is not None and not isinstance(self.pullback, ExactGradient):
            raise KgflowError(
                f"{self.model.name} is no matrix product: train it with --backward dense"
            )
        return PairwiseLogistic(keys, self.model.interaction)
