"""How strange an answer is among its candidates."""

from abc import ABC, abstractmethod

import torch
from torch import Tensor

LEAST = 0.03
"""What every place in an adaptive set costs: λ."""


class NonconformityScore(ABC):
    r"""The mass of the candidates that are better, and a random part of those as good.

    .. math:: V_t = \sum_{s_e > s_t} m_e + U \sum_{s_e = s_t} m_e

    with the answer itself among the equals and U uniform on [0, 1]. So ties between scores are
    broken at random and V has no atoms, which is what lets a promise be kept exactly and not only
    outbid (Vovk, Gammerman, Shafer: Algorithmic Learning in a Random World, 2005).
    """

    @abstractmethod
    def mass(self, S: Tensor) -> Tensor:
        """What each candidate weighs, by the scores of all, ``(B, E)``; 0 where a score is -inf."""

    def __call__(self, S: Tensor, score: Tensor, u: Tensor) -> Tensor:
        """V of answers, ``(P,)``.

        Args:
            S: scores of all candidates, ``(P, E)``, -inf where there is none; the answer's too.
            score: the answers' own, ``(P,)``.
            u: uniform numbers, ``(P,)``.
        """
        mass, lead = self.mass(S), S - score[:, None]
        better = torch.where(lead > 0, mass, 0).sum(1)
        return better + u * torch.where(lead == 0, mass, 0).sum(1)

    def sizes(self, S: Tensor, threshold: Tensor, u: Tensor) -> Tensor:
        """How many of the best candidates have V up to a threshold ``(B,)``: ``(B,)``."""
        ordered = S.sort(dim=1, descending=True).values
        return self.within(ordered, threshold, u).sum(1)

    def within(self, ordered: Tensor, threshold: Tensor, u: Tensor) -> Tensor:
        """Which candidates, best first, belong to the set: a truth each, ``(B, E)``.

        Equals stand in an order of their own, drawn beforehand: each has a whole place.
        """
        mass = self.mass(ordered)
        before = mass.cumsum(1) - mass
        return (mass > 0) & (before + u[:, None] * mass <= threshold[:, None])


class RankScore(NonconformityScore):
    """Every candidate weighs 1: V is the filtered rank, made continuous. Sets are all of a size.

    Example:
        >>> S, u = torch.tensor([[3.0, 2.0, 2.0, 1.0]]), torch.tensor([0.5])
        >>> RankScore()(S, torch.tensor([2.0]), u)
        tensor([2.], dtype=torch.float64)
    """

    def mass(self, S: Tensor) -> Tensor:
        """1 each."""
        return torch.isfinite(S).double()

    def sizes(self, S: Tensor, threshold: Tensor, u: Tensor) -> Tensor:
        """The whole places below the threshold, and the next one if chance will have it."""
        limit = threshold.clamp(min=0, max=S.shape[1])
        whole = limit.floor()
        size = whole + (u <= limit - whole)
        return size.clamp(max=torch.isfinite(S).sum(1)).long()


class MassScore(NonconformityScore):
    r"""Candidates weigh :math:`\mathrm{softmax}(s/\tau)_e + \lambda`: sure models have small sets.

    Romano, Sesia, Candès: Classification with valid and adaptive coverage, 2020; the λ, without
    which an unsure model's sets grow out of all bounds: Angelopoulos, Bates, Jordan, Malik:
    Uncertainty sets for image classifiers using conformal prediction, 2021.

    Args:
        temperature: τ.
    """

    def __init__(self, temperature: float) -> None:
        self.temperature = temperature

    def mass(self, S: Tensor) -> Tensor:
        """A share of 1, and the least that a place costs."""
        return torch.softmax(S.double() / self.temperature, dim=1) + LEAST * torch.isfinite(S)
