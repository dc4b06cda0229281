"""Losses of true triples against corrupted ones: margin ranking and self-adversarial sampling."""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple

import numpy as np
import torch
from pydantic import Field
from torch import Tensor
from torch.nn.functional import logsigmoid, relu

from kgflow.config import Count
from kgflow.data import QueryIndex
from kgflow.kernels import TILE, blocks
from kgflow.models import Model
from kgflow.training.batches import Batch
from kgflow.training.losses.base import Facts, MarginSettings
from kgflow.training.losses.confidence import WeightSettings, weighted
from kgflow.training.losses.sampled import SampledLoss
from kgflow.training.row_updates import Lookup

TRIES = 5
"""How often corrupted triples that are true are drawn again."""


Corruption = Callable[[QueryIndex], Tensor]
"""Probability that a corrupted triple replaces the head rather than the tail, for each relation.

Inverse relations are included: ``(R,)``.
"""


def corrupt_tails(index: QueryIndex) -> Tensor:
    """Replace tails only: heads are the tails of inverse relations."""
    return torch.zeros(index.relations)


def corrupt_both(index: QueryIndex) -> Tensor:
    """Replace head and tail equally often, so that (h', r, t) itself is scored."""
    return torch.full((index.relations,), 0.5)


def bernoulli(index: QueryIndex) -> Tensor:
    r"""Replace the side for which a random entity is less likely to be a true answer.

    .. math:: P(\text{head}) = \frac{\mathrm{tph}}{\mathrm{tph} + \mathrm{hpt}}

    with the mean number of tails per head (tph) and of heads per tail (hpt) of the relation.

    Reference:
        Wang, Zhang, Feng, Chen: Knowledge Graph Embedding by Translating on Hyperplanes, AAAI 2014.

    Example:
        >>> from kgflow.data import Triples
        >>> index = QueryIndex.build(Triples.of([(0, 0, 1), (0, 0, 2), (0, 0, 3)]), 4, 1)
        >>> bernoulli(index)  # one head of three tails, and the inverse
        tensor([0.7500, 0.2500])
    """
    queries = np.bincount(index.r, minlength=index.relations)
    triples = np.bincount(index.r, weights=index.counts, minlength=index.relations)
    tph = triples / np.maximum(queries, 1)
    hpt = np.roll(tph, index.relations // 2)  # of r it is that of the inverse relation
    return torch.from_numpy(tph / np.maximum(tph + hpt, 1)).float()


CORRUPTIONS: dict[str, Corruption] = {
    "tails": corrupt_tails,
    "both": corrupt_both,
    "bernoulli": bernoulli,
}


class NegativeSamplingSettings(WeightSettings, MarginSettings):
    """Settings of losses with negative sampling."""

    num_negatives: Annotated[Count, Field(description="Corrupted triples per true triple.")] = 64
    corruption: Literal["tails", "both", "bernoulli"] = Field(
        default="tails", description="Entity that is replaced: the tail, either, or by Bernoulli."
    )

    def arguments(self) -> tuple[float, float, float, int, Corruption]:
        """Return the arguments of the loss behind the model and the queries."""
        corruption, dropout = CORRUPTIONS[self.corruption], (self.dropout, self.query_dropout)
        return (self.margin, *dropout, self.num_negatives, corruption)


class MarginRankingSettings(NegativeSamplingSettings):
    """Settings of the margin ranking loss."""

    name: Literal["margin-ranking"] = "margin-ranking"

    def build(self, model: Model, index: QueryIndex) -> "MarginRanking":
        return MarginRanking(model, weighted(index, self.confidence), *self.arguments())


class SelfAdversarialSettings(NegativeSamplingSettings):
    """Settings of self-adversarial negative sampling."""

    name: Literal["self-adversarial"] = "self-adversarial"
    adversarial_temperature: Annotated[
        float, Field(ge=0, description="Temperature α of the weights of negatives.")
    ] = 1.0

    def build(self, model: Model, index: QueryIndex) -> "SelfAdversarial":
        arguments = (*self.arguments(), self.adversarial_temperature)
        return SelfAdversarial(model, weighted(index, self.confidence), *arguments)


class Corrupted(NamedTuple):
    """Facts, and for each n entities ``(P, n)`` that replace its tail or its head."""

    facts: Facts
    entity: Tensor
    head: Tensor


@dataclass(eq=False)
class NegativeSampling(SampledLoss[Corrupted]):
    """A loss of each true triple and n corrupted ones; the mean over the triples of the batch.

    Corrupted triples that are true in training are drawn again, a few times: where nearly every
    triple is true, some remain.

    Args:
        num_negatives: n, corrupted triples per true triple.
        corruption: Side that is corrupted.
    """

    num_negatives: int = 64
    corruption: Corruption = corrupt_tails

    @abstractmethod
    def compare(self, true: Tensor, false: Tensor) -> Tensor:
        """Return the loss ``(P,)`` of γ + f of true ``(P,)`` and corrupted triples ``(P, n)``."""

    def draw(self, batch: Batch) -> Corrupted:
        """Draw entities uniformly, and the sides that they replace."""
        facts = self.facts(batch)
        shape, device = (len(facts.h), self.num_negatives), facts.h.device
        entity = torch.randint(self.index.entities, shape, device=device)
        head = self.corruption(self.index).to(device)[facts.r]
        sample = Corrupted(facts, entity, torch.rand(shape, device=device) < head[:, None])
        row, column = torch.ones_like(sample.head).nonzero(as_tuple=True)
        for _ in range(TRIES):
            known = self._known(sample, row, column)
            row, column = row[known], column[known]
            entity[row, column] = torch.randint(self.index.entities, row.shape, device=device)
        return sample

    def ids(self, sample: Corrupted) -> Tensor:
        return torch.cat([sample.facts.h, sample.facts.t, sample.entity.flatten()])

    def parts(self, sample: Corrupted, entity: Lookup) -> Iterator[Tensor]:
        size = max(1, TILE // (self.num_negatives * self.model.entity.weight.shape[1]))
        for low, high in blocks(len(sample.facts.h), size):
            facts = Facts(*(x[low:high] for x in sample.facts))
            true, false = self._scores(
                facts, sample.entity[low:high], sample.head[low:high], entity
            )
            yield (self.compare(true, false) * facts.weight).sum()

    def _known(self, sample: Corrupted, row: Tensor, column: Tensor) -> Tensor:
        """Return which of some corrupted triples are true in training."""
        e, head = sample.entity[row, column], sample.head[row, column]
        h = torch.where(head, e, sample.facts.h[row])
        t = torch.where(head, sample.facts.t[row], e)
        found = self.index.contains(*(x.cpu().numpy() for x in (h, sample.facts.r[row], t)))
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
    r"""Margin ranking: true triples score higher than corrupted ones by γ.

    .. math:: \frac1n \sum_i \max(0, \gamma - f(h, r, t) + f(h_i, r, t_i))

    Reference:
        Bordes, Usunier, Garcia-Durán, Weston, Yakhnenko: Translating Embeddings for Modeling
        Multi-relational Data, NeurIPS 2013.
    """

    def compare(self, true: Tensor, false: Tensor) -> Tensor:
        return relu(self.margin - true[:, None] + false).mean(1)


@dataclass(eq=False)
class SelfAdversarial(NegativeSampling):
    r"""Logistic loss in which corrupted triples with high scores weigh more.

    .. math:: -\log\sigma(\gamma + f(h, r, t))
              - \sum_i p_i \log\sigma(-\gamma - f(h_i, r, t_i)), \quad
              p = \mathrm{softmax}(\alpha f(h_i, r, t_i))

    p has no gradient.

    Args:
        alpha: α; with 0 all corrupted triples weigh the same.

    Reference:
        Sun, Deng, Nie, Tang: RotatE: Knowledge Graph Embedding by Relational Rotation in Complex
        Space, ICLR 2019.
    """

    alpha: float = 1.0

    def compare(self, true: Tensor, false: Tensor) -> Tensor:
        p = torch.softmax(self.alpha * false.detach(), dim=1)
        return -logsigmoid(true) - (p * logsigmoid(-false)).sum(1)
