"""Losses against one sample of the entities, shared by all queries of a batch."""

from abc import abstractmethod
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kgflow.data import QueryIndex
from kgflow.kernels import TILE, Targets, blocks
from kgflow.models import Model
from kgflow.training.rows import Lookup
from kgflow.training.sampled import SampledLoss
from kgflow.training.targets import fact_targets


class Sample(NamedTuple):
    """Queries (h, r) ``(B,)``, what is true of them, and N entities drawn for all of them."""

    h: Tensor
    r: Tensor
    targets: Targets
    entities: Tensor


class Scores(NamedTuple):
    """Of a few queries: their scores, and what is true.

    Shapes: S and free ``(B, N)``, c ``(B,)``, row, s and y ``(P,)``.
    """

    S: Tensor
    """Of the sample."""
    free: Tensor
    """1 where an entity of the sample is not known to be true, 0 where it is."""
    c: Tensor
    """How much each query counts."""
    row: Tensor
    """Whose tail each true one is."""
    s: Tensor
    """Of what is true."""
    y: Tensor
    """How much each true tail counts."""


class SharedSample(SampledLoss[Sample]):
    """True tails exactly, all others by N entities, drawn without replacement for a whole batch.

    Args:
        model: what is trained.
        index: the training queries.
        margin: added to every score.
        negatives: N, for all queries of a batch together.
        dropout: the share of each head's numbers that are left out in training.
        query_dropout: the share of each query's numbers that are left out in training.
    """

    def __init__(
        self,
        model: Model,
        index: QueryIndex,
        margin: float,
        negatives: int,
        dropout: float = 0.0,
        query_dropout: float = 0.0,
    ) -> None:
        super().__init__(model, index, margin, dropout, query_dropout)
        self.negatives = min(negatives, index.entities)
        self.scale = index.entities / self.negatives

    @abstractmethod
    def cost(self, scores: Scores) -> Tensor:
        """The loss of some queries, a scalar; every free entity stands for E/N, `scale`."""

    def draw(self, rows: NDArray[np.int64]) -> Sample:
        """Entities for the whole batch, in ascending order."""
        # numpy's choice takes the time of the sample, not of the whole.
        seed = int(torch.randint(2**62, ()))
        chosen = np.random.default_rng(seed).choice(
            self.index.entities, self.negatives, replace=False, shuffle=False
        )
        ids = [self.tensor(x) for x in (self.index.h[rows], self.index.r[rows], np.sort(chosen))]
        targets = fact_targets(self.index, rows, self.model.entity.weight)
        return Sample(ids[0], ids[1], targets, ids[2])

    def ids(self, drawn: Sample) -> Tensor:
        """Heads, true tails and the sample."""
        return torch.cat([drawn.h, drawn.targets.column, drawn.entities])

    def parts(self, drawn: Sample, entity: Lookup) -> Iterator[Tensor]:
        """By blocks of queries."""
        targets = drawn.targets
        width = self.model.entity.weight.shape[1] if self.model.interaction is not None else 1
        size = max(1, TILE // (self.negatives * width))
        for low, high in blocks(len(drawn.h), size):
            query = self.query(entity(drawn.h[low:high]), drawn.r[low:high])
            here = (targets.row >= low) & (targets.row < high)
            row, column = targets.row[here] - low, targets.column[here]
            keys = self.model.encode_keys(entity(drawn.entities))
            interaction = self.model.interaction or _product
            S = interaction(query.Q, keys.K) + query.a[:, None] + keys.b
            place = torch.searchsorted(drawn.entities, column).clamp(max=self.negatives - 1)
            known = drawn.entities[place] == column
            free = torch.ones_like(S).index_put((row[known], place[known]), S.new_zeros(()))
            true = self.model.encode_keys(entity(column))
            s = self.model.pairwise(query.Q[row], true.K) + query.a[row] + true.b
            yield self.cost(Scores(S, free, targets.c[low:high], row, s, targets.y[here]))


def _product(Q: Tensor, K: Tensor) -> Tensor:
    return Q @ K.T
