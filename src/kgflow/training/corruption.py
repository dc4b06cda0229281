"""Which side of a true triple is replaced."""

from abc import ABC, abstractmethod

import numpy as np
import torch
from torch import Tensor

from kgflow.data import QueryIndex


class Corruption(ABC):
    """How often the head is replaced, and not the tail."""

    @abstractmethod
    def heads(self, index: QueryIndex) -> Tensor:
        """The probability for each relation, inverse_relations included, ``(R,)``."""


class Tails(Corruption):
    """Tails only: heads are the tails of reciprocal relations."""

    def heads(self, index: QueryIndex) -> Tensor:
        """Never."""
        return torch.zeros(index.relations)


class BothSides(Corruption):
    """Head and tail equally often, so that (h', r, t) is scored itself and not its reciprocal."""

    def heads(self, index: QueryIndex) -> Tensor:
        """Every second time."""
        return torch.full((index.relations,), 0.5)


class Bernoulli(Corruption):
    r"""The side where a false triple is more likely to be false.

    .. math:: P(\text{head}) = \frac{\mathrm{tph}}{\mathrm{tph} + \mathrm{hpt}}

    with the mean number of tails per head (tph) and of heads per tail (hpt) of the relation.

    Reference:
        Wang, Zhang, Feng, Chen: Knowledge Graph Embedding by Translating on Hyperplanes, AAAI 2014.

    Example:
        >>> from kgflow.data import Triples
        >>> index = QueryIndex.build(Triples.of([(0, 0, 1), (0, 0, 2), (0, 0, 3)]), 4, 1)
        >>> Bernoulli().heads(index)  # one head of three tails, and the reverse
        tensor([0.7500, 0.2500])
    """

    def heads(self, index: QueryIndex) -> Tensor:
        """By the counts of the index."""
        queries = np.bincount(index.r, minlength=index.relations)
        facts = np.bincount(index.r, weights=index.counts, minlength=index.relations)
        tph = facts / np.maximum(queries, 1)
        hpt = np.roll(tph, index.relations // 2)  # of r it is that of the reciprocal
        return torch.from_numpy(tph / np.maximum(tph + hpt, 1)).float()
