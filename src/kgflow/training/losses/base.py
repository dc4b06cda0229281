"""What a loss is, and how queries are encoded for it."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field
from torch import Tensor
from torch.nn.functional import dropout

from kgflow.config import LOSSES, Component, Fraction, Group
from kgflow.data import QueryIndex
from kgflow.flows import Query
from kgflow.kernels import GradientAccumulator, WholeGradient
from kgflow.models import Model
from kgflow.training.batches import Batch
from kgflow.training.row_updates import Update


class LossSettings(Component):
    """Base class of the settings of losses."""

    group: ClassVar[Group] = LOSSES

    @abstractmethod
    def build(self, model: Model, index: QueryIndex) -> "Loss":
        """Create the loss of a model on training queries."""

    @property
    def logit_offset(self) -> float:
        """Number that the loss adds to a score to make it a logit."""
        return 0.0


class QueryLossSettings(LossSettings):
    """Settings of losses that score queries."""

    dropout: Annotated[Fraction, Field(description="Dropout probability of head embeddings.")] = 0.3
    query_dropout: Annotated[
        Fraction, Field(description="Dropout probability of query vectors.")
    ] = 0.0


class MarginSettings(QueryLossSettings):
    """Settings of losses with a margin."""

    margin: Annotated[float, Field(description="Margin γ of the loss.")] = 3.0

    @property
    def logit_offset(self) -> float:
        """The margin."""
        return self.margin


class Facts(NamedTuple):
    """The facts of a batch: ids of head, relation and tail, and weights, each ``(P,)``.

    Every weight is the confidence of the fact divided by P.
    """

    h: Tensor
    r: Tensor
    t: Tensor
    weight: Tensor


@dataclass(eq=False)
class Loss(ABC):
    """A function of the model and of a batch of training facts, with its gradient.

    Args:
        model: Model to train.
        index: Training queries.
    """

    model: Model
    index: QueryIndex

    @abstractmethod
    def backward(
        self, batch: Batch, value: bool = True, update: Update | None = None
    ) -> float | None:
        """Set the gradients of all parameters, and return the loss if `value` is true.

        With `update`, the entity embeddings are updated at once and get no gradient.
        """

    def facts(self, batch: Batch) -> Facts:
        """Return the facts of a batch one by one."""
        weights = torch.from_numpy(batch.weights() / len(batch)).to(self.model.entity.weight)
        h, r = self.tensor(batch.h[batch.row]), self.tensor(batch.r[batch.row])
        return Facts(h, r, self.tensor(batch.tail), weights)

    def tensor(self, ids: NDArray[np.int64]) -> Tensor:
        """Move ids to the model's device."""
        return torch.from_numpy(ids).to(self.model.entity.weight.device)

    def sink(self, ids: Tensor, update: Update | None) -> GradientAccumulator:
        """Return where the gradient of entity embeddings goes; `ids` will be passed to `add`."""
        table = self.model.entity.weight
        if update is not None:
            return update.begin(ids)
        if table.grad is None:
            table.grad = torch.empty_like(table)
        return WholeGradient(table.grad)


@dataclass(eq=False)
class QueryLoss(Loss):
    """A loss of the scores of queries, with dropout in training and a margin.

    Args:
        margin: Number added to every score, the paper's γ.
        dropout: Dropout probability of head embeddings.
        query_dropout: Dropout probability of query vectors.
    """

    margin: float = 0.0
    dropout: float = 0.0
    query_dropout: float = 0.0

    def query(self, heads: Tensor, relations: Tensor) -> Query:
        """Encode head embeddings ``(B, w)`` and relation ids ``(B,)``, with dropout in training."""
        if self.model.training:
            heads = self.model.entity.drop(heads, self.dropout)
        query = self.model.encode_query_ids(heads, relations)
        Q = query.Q
        if self.query_dropout:
            Q = dropout(Q, self.query_dropout, self.model.training)
        return Query(Q, query.a + self.margin)
