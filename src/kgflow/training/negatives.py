"""True triples against corrupted ones."""

from abc import abstractmethod
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import logsigmoid, relu

from kgflow.data import QueryIndex
from kgflow.kernels import TILE, blocks
from kgflow.models import Model
from kgflow.training.base import Facts
from kgflow.training.corruption import Corruption
from kgflow.training.rows import Lookup
from kgflow.training.sampled import SampledLoss

TRIES = 5
"""How often facts among the corrupted triples are drawn again."""


class Corrupted(NamedTuple):
    """True triples, and for each n entities ``(P, n)`` in the place of its tail or its head."""

    facts: Facts
    entity: Tensor
    head: Tensor


class NegativeSampling(SampledLoss[Corrupted]):
    """A loss of each true triple and n corrupted ones, the batch's mean over its triples.

    Corrupted triples that happen to be facts of training are drawn again, a few times: where nearly
    every triple is a fact, some stay.

    Args:
        model: what is trained.
        index: the training queries.
        margin: γ.
        negatives: n, for each triple.
        corruption: which side is replaced.
        dropout: the share of each head's numbers that are left out in training.
        query_dropout: the share of each query's numbers that are left out in training.
    """

    def __init__(
        self,
        model: Model,
        index: QueryIndex,
        margin: float,
        negatives: int,
        corruption: Corruption,
        dropout: float = 0.0,
        query_dropout: float = 0.0,
    ) -> None:
        super().__init__(model, index, margin, dropout, query_dropout)
        self.negatives, self.corruption = negatives, corruption

    @abstractmethod
    def compare(self, true: Tensor, false: Tensor) -> Tensor:
        """The loss of each triple, ``(P,)``, of γ + f of the true ``(P,)`` and false ``(P, n)``."""

    def draw(self, rows: NDArray[np.int64]) -> Corrupted:
        """Entities, all equally likely, and the sides that they replace."""
        facts = self.facts(rows)
        shape, device = (len(facts.h), self.negatives), facts.h.device
        entity = torch.randint(self.index.entities, shape, device=device)
        share = self.corruption.heads(self.index).to(device)[facts.r]
        drawn = Corrupted(facts, entity, torch.rand(shape, device=device) < share[:, None])
        row, column = torch.ones_like(drawn.head).nonzero(as_tuple=True)
        for _ in range(TRIES):
            known = self._known(drawn, row, column)
            row, column = row[known], column[known]
            entity[row, column] = torch.randint(self.index.entities, row.shape, device=device)
        return drawn

    def ids(self, drawn: Corrupted) -> Tensor:
        """Heads, tails and what replaces them."""
        return torch.cat([drawn.facts.h, drawn.facts.t, drawn.entity.flatten()])

    def parts(self, drawn: Corrupted, entity: Lookup) -> Iterator[Tensor]:
        """By blocks of triples."""
        size = max(1, TILE // (self.negatives * self.model.entity.weight.shape[1]))
        for low, high in blocks(len(drawn.facts.h), size):
            facts = Facts(*(x[low:high] for x in drawn.facts))
            true, false = self._scores(facts, drawn.entity[low:high], drawn.head[low:high], entity)
            yield (self.compare(true, false) * facts.weight).sum()

    def _known(self, drawn: Corrupted, row: Tensor, column: Tensor) -> Tensor:
        """Which of the corrupted triples at some places are facts."""
        e, head = drawn.entity[row, column], drawn.head[row, column]
        h = torch.where(head, e, drawn.facts.h[row])
        t = torch.where(head, drawn.facts.t[row], e)
        found = self.index.contains(*(x.cpu().numpy() for x in (h, drawn.facts.r[row], t)))
        return torch.from_numpy(found).to(e.device)

    def _scores(
        self, facts: Facts, corrupt: Tensor, head: Tensor, entity: Lookup
    ) -> tuple[Tensor, Tensor]:
        model, query = self.model, self.query(entity(facts.h), facts.r)
        keys = model.encode_keys(entity(facts.t))
        true = model.pairwise(query.Q, keys.K) + query.a + keys.b
        false = true.new_zeros(corrupt.shape)
        row, column = (~head).nonzero(as_tuple=True)
        if len(row):
            tails = model.encode_keys(entity(corrupt[row, column]))
            s = model.pairwise(query.Q[row], tails.K) + query.a[row] + tails.b
            false = false.index_put((row, column), s)
        row, column = head.nonzero(as_tuple=True)
        if len(row):
            heads = self.query(entity(corrupt[row, column]), facts.r[row])
            s = model.pairwise(heads.Q, keys.K[row]) + heads.a + keys.b[row]
            false = false.index_put((row, column), s)
        return true, false


class MarginRanking(NegativeSampling):
    r"""True triples score higher than corrupted ones by γ.

    .. math:: \frac1n \sum_i \max(0, \gamma - f(h, r, t) + f(h_i, r, t_i))

    Reference:
        Bordes, Usunier, Garcia-Durán, Weston, Yakhnenko: Translating Embeddings for Modeling
        Multi-relational Data, NeurIPS 2013.
    """

    def compare(self, true: Tensor, false: Tensor) -> Tensor:
        """The mean over the corrupted ones."""
        return relu(self.margin - true[:, None] + false).mean(1)


class SelfAdversarial(NegativeSampling):
    r"""Logistic, with the corrupted triples that score best counting most.

    .. math:: -\log\sigma(\gamma + f(h, r, t))
              - \sum_i p_i \log\sigma(-\gamma - f(h_i, r, t_i)), \quad
              p = \mathrm{softmax}(\alpha f(h_i, r, t_i))

    p is taken as given: it has no gradient.

    Args:
        model: what is trained.
        index: the training queries.
        margin: γ.
        negatives: n, for each triple.
        corruption: which side is replaced.
        dropout: the share of each head's numbers that are left out in training.
        query_dropout: the share of each query's numbers that are left out in training.
        alpha: α; with 0 all corrupted triples count the same.

    Reference:
        Sun, Deng, Nie, Tang: RotatE: Knowledge Graph Embedding by Relational Rotation in Complex
        Space, ICLR 2019.
    """

    def __init__(
        self,
        model: Model,
        index: QueryIndex,
        margin: float,
        negatives: int,
        corruption: Corruption,
        dropout: float = 0.0,
        query_dropout: float = 0.0,
        alpha: float = 1.0,
    ) -> None:
        super().__init__(model, index, margin, negatives, corruption, dropout, query_dropout)
        self.alpha = alpha

    def compare(self, true: Tensor, false: Tensor) -> Tensor:
        """Both halves."""
        p = torch.softmax(self.alpha * false.detach(), dim=1)
        return -logsigmoid(true) - (p * logsigmoid(-false)).sum(1)
