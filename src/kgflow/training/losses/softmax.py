"""Softmax cross entropy over all entities, or over a sample of them."""

from typing import Annotated, Literal

import torch
from pydantic import Field
from torch import Tensor

from kgflow.config import Count
from kgflow.data import QueryIndex
from kgflow.kernels import KeyEncoder, LossKernel, PairwiseSoftmax, SoftmaxKernel, Targets
from kgflow.models import Model
from kgflow.training.batches import Batch
from kgflow.training.losses.all_entities import AllEntities, triple_targets
from kgflow.training.losses.base import QueryLossSettings
from kgflow.training.losses.confidence import WeightSettings, weighted
from kgflow.training.losses.sampled import SampledEntities


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

    def targets(self, batch: Batch) -> Targets:
        return triple_targets(self.index, batch, self.model.entity.weight)

    def kernel(self, keys: KeyEncoder) -> LossKernel:
        if self.model.interaction is None:
            return SoftmaxKernel(keys, self.block)
        return PairwiseSoftmax(keys, self.model.interaction)


class SampledSoftmaxSettings(WeightSettings, QueryLossSettings):
    """Settings of the sampled softmax cross entropy."""

    name: Literal["sampled-softmax"] = "sampled-softmax"
    num_negatives: Annotated[Count, Field(description="Entities sampled per batch.")] = 1024

    def build(self, model: Model, index: QueryIndex) -> "SampledSoftmax":
        index = weighted(index, self.confidence)
        dropout = (self.dropout, self.query_dropout)
        return SampledSoftmax(model, index, 0.0, *dropout, self.num_negatives)


class SampledSoftmax(SampledEntities):
    r"""Softmax cross entropy whose sum over all entities is estimated from a sample.

    .. math:: \ell(h, r, t) = \log \Big( \sum_{t' \in T} \exp s_{t'} + \frac EN
              \sum_{t' \in S \setminus T} \exp s_{t'} \Big) - s_t

    T are the true tails of the query in the batch, S are N entities sampled without replacement for
    the whole batch. The sum is unbiased; its logarithm is consistent as N grows and exact for
    N = E.

    Args:
        num_negatives: N, entities sampled for all queries of a batch.

    Reference:
        Jean, Cho, Memisevic, Bengio: On Using Very Large Target Vocabulary for Neural Machine
        Translation, ACL 2015.
    """

    def combine(self, S: Tensor, scale: Tensor, row: Tensor, true: Tensor, c: Tensor) -> Tensor:
        with torch.no_grad():
            highest = S.amax(1).scatter_reduce(0, row, true, "amax")
        others = ((S - highest[:, None]).exp() * scale).sum(1)
        total = others.index_add(0, row, (true - highest[row]).exp())
        return (c * (total.log() + highest)).sum()
