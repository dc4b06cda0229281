"""Losses of the scores that queries get."""

from torch import Tensor
from torch.nn.functional import dropout

from kgflow.data import QueryIndex
from kgflow.flows import Query
from kgflow.models import Model
from kgflow.training.base import Loss


class QueryLoss(Loss):
    """A loss that lowers queries, with dropout in training, and adds a margin to their scores.

    Args:
        model: what is trained.
        index: the training queries.
        margin: added to every score, the paper's γ.
        dropout: the share of each head's numbers that are left out in training.
        query_dropout: the share of each query's numbers, Q, that are left out in training.
    """

    def __init__(
        self,
        model: Model,
        index: QueryIndex,
        margin: float,
        dropout: float = 0.0,
        query_dropout: float = 0.0,
    ) -> None:
        super().__init__(model, index)
        self.margin, self.dropout, self.query_dropout = margin, dropout, query_dropout

    def query(self, heads: Tensor, relations: Tensor) -> Query:
        """Q and a of head rows ``(B, w)`` and relation ids ``(B,)``, with dropout in training."""
        if self.model.training:
            heads = self.model.entity.drop(heads, self.dropout)
        query = self.model.encode_query_ids(heads, relations)
        Q = query.Q
        if self.query_dropout:
            Q = dropout(Q, self.query_dropout, self.model.training)
        return Query(Q, query.a + self.margin)
