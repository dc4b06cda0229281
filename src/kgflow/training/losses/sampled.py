"""Losses of true triples and of entities that are sampled for a batch."""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import softplus

from kgflow.kernels import TILE, Targets, blocks
from kgflow.training.batches import Batch
from kgflow.training.losses.all_entities import triple_targets
from kgflow.training.losses.base import QueryLoss
from kgflow.training.row_updates import Lookup, Rows, Update

Ids = NDArray[np.int64]
D = TypeVar("D")


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
    """Queries (h, r) ``(B,)``, their targets, and N entities sampled for all of them.

    `scale` is the number of entities that each sampled one stands for, ``(N,)``.
    """

    h: Tensor
    r: Tensor
    targets: Targets
    entities: Tensor
    scale: Tensor


@dataclass(eq=False)
class SampledEntities(SampledLoss[Sample]):
    """A loss over all entities whose sum over them is estimated from a sample.

    N entities are sampled without replacement for the whole batch; those that are no true tails of
    a query in the batch count E / N times.

    Args:
        num_negatives: N, entities sampled for all queries of a batch.
        always: ids of further entities that are in every sample, ascending; they count once.
    """

    num_negatives: int = 1024
    always: Ids | None = None

    def __post_init__(self) -> None:
        self.num_negatives = min(self.num_negatives, self.index.entities)
        self.scale = self.index.entities / self.num_negatives

    def draw(self, batch: Batch) -> Sample:
        # numpy's choice takes time proportional to the sample, not to all entities.
        seed = int(torch.randint(2**62, ()))
        chosen = np.random.default_rng(seed).choice(
            self.index.entities, self.num_negatives, replace=False, shuffle=False
        )
        entities = np.sort(chosen) if self.always is None else np.union1d(chosen, self.always)
        once = np.isin(entities, self.always) if self.always is not None else False
        table = self.model.entity.weight
        scale = torch.from_numpy(np.where(once, 1.0, np.full(len(entities), self.scale))).to(table)
        h, r, ids = (self.tensor(x) for x in (batch.h, batch.r, entities))
        return Sample(h, r, triple_targets(self.index, batch, table), ids, scale)

    def ids(self, sample: Sample) -> Tensor:
        return torch.cat([sample.h, sample.targets.column, sample.entities])

    def parts(self, sample: Sample, entity: Lookup) -> Iterator[Tensor]:
        width = self.model.entity.weight.shape[1] if self.model.interaction is not None else 1
        size = max(1, TILE // (len(sample.entities) * width))
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
        place = torch.searchsorted(sample.entities, column).clamp(max=len(sample.entities) - 1)
        known = sample.entities[place] == column
        scale = sample.scale.expand_as(S).index_put((row[known], place[known]), S.new_zeros(()))
        true = self.model.encode_keys(entity(column))
        s = self.model.pairwise(query.Q[row], true.K) + query.a[row] + true.b
        c, y = targets.c[low:high], targets.y[here]
        return self.combine(S, scale, row, s, c) - (y * s).sum()

    @abstractmethod
    def combine(self, S: Tensor, scale: Tensor, row: Tensor, true: Tensor, c: Tensor) -> Tensor:
        """Return the part of the loss that grows with scores, a scalar.

        Args:
            S: scores of the sampled entities, ``(B, N)``.
            scale: number of entities that each stands for, 0 for true tails, ``(B, N)``.
            row: query of each true tail, ``(P,)``.
            true: scores of the true tails, ``(P,)``.
            c: factors of the queries, ``(B,)``.
        """


class SampledLogistic(SampledEntities):
    r"""The 1-vs-all loss, whose sum over all entities is estimated from a sample.

    .. math:: \ell(h, r, t) = \sum_{t' \in T} \mathrm{softplus}(s_{t'}) + \frac EN
              \sum_{t' \in S \setminus T} \mathrm{softplus}(s_{t'}) - s_t

    T are the true tails of the query in the batch, S the N sampled entities. It is unbiased, and
    exact for N = E.
    """

    def combine(self, S: Tensor, scale: Tensor, row: Tensor, true: Tensor, c: Tensor) -> Tensor:
        others = (softplus(S) * scale).sum(1)
        return (c * others.index_add(0, row, softplus(true))).sum()
