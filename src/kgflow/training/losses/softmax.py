"""Softmax cross entropy over all entities, or over a sample of them."""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Generic, Literal, NamedTuple, TypeVar

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from kgflow.config import Count
from kgflow.data import QueryIndex
from kgflow.kernels import (
    TILE,
    KeyEncoder,
    LossKernel,
    PairwiseSoftmax,
    SoftmaxKernel,
    Targets,
    blocks,
)
from kgflow.models import Model
from kgflow.training.batches import Batch
from kgflow.training.losses.all_entities import AllEntities, triple_targets
from kgflow.training.losses.base import QueryLoss, QueryLossSettings
from kgflow.training.losses.confidence import WeightSettings, weighted
from kgflow.training.row_updates import Lookup, Rows, Update

D = TypeVar("D")


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


class SampledLoss(QueryLoss, Generic[D]):
    """A loss of a batch and of entities that are sampled for it."""

    @abstractmethod
    def draw(self, batch: Batch) -> D:
        """Draw a sample for a batch with torch's random numbers."""

    @abstractmethod
    def ids(self, sample: D) -> Tensor:
        """Return the ids of all entities whose embeddings are needed."""

    @abstractmethod
    def parts(self, sample: D, entity: Lookup) -> Iterator[Tensor]:
        """Yield scalars whose sum is the loss, each differentiated before the next is made."""

    def backward(
        self, batch: Batch, value: bool = True, update: Update | None = None
    ) -> float | None:
        sample = self.draw(batch)
        entity, total = Rows(self.model.entity.weight, self.ids(sample)), 0.0
        sink = self.sink(entity.ids, update)
        for part in self.parts(sample, entity):
            part.backward()
            total += part.item()
        sink.skip_blocks()
        sink.add(entity.ids, entity.grad)
        return total


class Sample(NamedTuple):
    """Queries (h, r) ``(B,)``, their targets, and N entities sampled for all of them."""

    h: Tensor
    r: Tensor
    targets: Targets
    entities: Tensor


class SampledSoftmaxSettings(WeightSettings, QueryLossSettings):
    """Settings of the sampled softmax cross entropy."""

    name: Literal["sampled-softmax"] = "sampled-softmax"
    num_negatives: Annotated[Count, Field(description="Entities sampled per batch.")] = 1024

    def build(self, model: Model, index: QueryIndex) -> "SampledSoftmax":
        index = weighted(index, self.confidence)
        dropout = (self.dropout, self.query_dropout)
        return SampledSoftmax(model, index, 0.0, *dropout, self.num_negatives)


@dataclass(eq=False)
class SampledSoftmax(SampledLoss[Sample]):
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

    num_negatives: int = 1024

    def __post_init__(self) -> None:
        self.num_negatives = min(self.num_negatives, self.index.entities)
        self.scale = self.index.entities / self.num_negatives

    def draw(self, batch: Batch) -> Sample:
        # numpy's choice takes time proportional to the sample, not to all entities.
        seed = int(torch.randint(2**62, ()))
        chosen = np.random.default_rng(seed).choice(
            self.index.entities, self.num_negatives, replace=False, shuffle=False
        )
        ids = [self.tensor(x) for x in (batch.h, batch.r, np.sort(chosen))]
        targets = triple_targets(self.index, batch, self.model.entity.weight)
        return Sample(ids[0], ids[1], targets, ids[2])

    def ids(self, sample: Sample) -> Tensor:
        return torch.cat([sample.h, sample.targets.column, sample.entities])

    def parts(self, sample: Sample, entity: Lookup) -> Iterator[Tensor]:
        width = self.model.entity.weight.shape[1] if self.model.interaction is not None else 1
        size = max(1, TILE // (self.num_negatives * width))
        for low, high in blocks(len(sample.h), size):
            yield self._block(sample, entity, low, high)

    def _block(self, sample: Sample, entity: Lookup, low: int, high: int) -> Tensor:
        targets = sample.targets
        query = self.query(entity(sample.h[low:high]), sample.r[low:high])
        here = (targets.row >= low) & (targets.row < high)
        row, column = targets.row[here] - low, targets.column[here]
        keys = self.model.encode_keys(entity(sample.entities))
        interaction = self.model.interaction
        product = query.Q @ keys.K.T if interaction is None else interaction(query.Q, keys.K)
        S = product + query.a[:, None] + keys.b
        place = torch.searchsorted(sample.entities, column).clamp(max=self.num_negatives - 1)
        known = sample.entities[place] == column
        negative = torch.ones_like(S).index_put((row[known], place[known]), S.new_zeros(()))
        true = self.model.encode_keys(entity(column))
        s = self.model.pairwise(query.Q[row], true.K) + query.a[row] + true.b
        with torch.no_grad():
            highest = S.amax(1).scatter_reduce(0, row, s, "amax")
        others = ((S - highest[:, None]).exp() * negative).sum(1) * self.scale
        total = others.index_add(0, row, (s - highest[row]).exp())
        c, y = targets.c[low:high], targets.y[here]
        return (c * (total.log() + highest)).sum() - (y * s).sum()
