"""Softmax cross entropy over all entities."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kgflow.data import QueryIndex
from kgflow.kernels import KeyEncoder, LossKernel, PairwiseSoftmax, SoftmaxKernel, Targets
from kgflow.models import Model
from kgflow.training.losses.all_entities import AllEntities, triple_targets
from kgflow.training.losses.base import QueryLossSettings
from kgflow.training.losses.confidence import WeightSettings, weighted


class SoftmaxSettings(WeightSettings, QueryLossSettings):
    """Settings of the softmax cross entropy."""

    name: Literal["softmax"] = "softmax"

    def build(self, model: Model, index: QueryIndex) -> "Softmax":
        index = weighted(index, self.confidence)
        return Softmax(model, index, dropout=self.dropout, query_dropout=self.query_dropout)


class Softmax(AllEntities):
    r"""Cross entropy of the true tail among all entities, grouped by (h, r).

    .. math:: \ell(h, r, t) = \log \sum_{t'} \exp f(h, r, t') - f(h, r, t)

    the mean over the triples of the batch. A query with n true tails is scored once: its n triples
    together cost :math:`n \log \sum_{t'} \exp s_{t'} - \sum_t s_t`. A triple of weight w counts w
    times. A margin would cancel.

    Reference:
        Lacroix, Usunier, Obozinski: Canonical Tensor Decomposition for Knowledge Base Completion,
        ICML 2018.
    """

    def targets(self, rows: NDArray[np.int64]) -> Targets:
        return triple_targets(self.index, rows, self.model.entity.weight)

    def kernel(self, keys: KeyEncoder) -> LossKernel:
        if self.model.interaction is None:
            return SoftmaxKernel(keys, self.block)
        return PairwiseSoftmax(keys, self.model.interaction)
