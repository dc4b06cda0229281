"""KvsAll: binary cross entropy of every entity, once per query."""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from kgflow.data import QueryIndex
from kgflow.kernels import (
    ExactGradient,
    KeyEncoder,
    LogisticKernel,
    LossKernel,
    PairwiseLogistic,
    Targets,
)
from kgflow.models import Model
from kgflow.training.losses.all_entities import AllEntities
from kgflow.training.losses.base import MarginSettings
from kgflow.training.losses.confidence import WeightSettings, weighted


class KvsAllSettings(WeightSettings, MarginSettings):
    """Settings of the KvsAll loss."""

    name: Literal["kvsall"] = "kvsall"
    label_smoothing: Annotated[float, Field(ge=0, lt=1, description="Label smoothing ε.")] = 0.0

    def build(self, model: Model, index: QueryIndex) -> "KvsAll":
        index = weighted(index, self.confidence)
        dropout = (self.dropout, self.query_dropout)
        return KvsAll(model, index, self.margin, *dropout, label_smoothing=self.label_smoothing)


@dataclass(eq=False)
class KvsAll(AllEntities):
    r"""Binary cross entropy of a query with all its tails at once, with label smoothing.

    .. math:: \ell(h, r) = \sum_{t'} \mathrm{softplus}(s_{t'}) - z_{t'} s_{t'}, \quad
              z = (1 - \epsilon) y + \epsilon / E, \quad s = \gamma + f(h, r, t')

    with y = 1 for true tails and 0 elsewhere; the mean over the queries of the batch. A query with
    many tails counts as much as one with few; the weight of a triple is its y.

    Args:
        label_smoothing: ε.

    Reference:
        Dettmers, Minervini, Stenetorp, Riedel: Convolutional 2D Knowledge Graph Embeddings,
        AAAI 2018.
    """

    label_smoothing: float = 0.0

    def targets(self, rows: NDArray[np.int64]) -> Targets:
        """Return c = 1 per query and y = 1 - ε per triple, divided by the number of queries."""
        row, tail, weight = self.index.gather(rows)
        like = self.model.entity.weight
        y = like.new_ones(len(tail)) if weight is None else like.new_tensor(weight)
        y *= (1 - self.label_smoothing) / len(rows)
        c = like.new_full((len(rows),), 1 / len(rows))
        return Targets(c, self.tensor(row), self.tensor(tail), y)

    def kernel(self, keys: KeyEncoder) -> LossKernel:
        """Return the 1-vs-all kernel with the smallest label ε / E."""
        floor = self.label_smoothing / self.index.entities
        if self.model.interaction is None:
            return LogisticKernel(keys, ExactGradient(floor), self.block)
        return PairwiseLogistic(keys, self.model.interaction, floor)
