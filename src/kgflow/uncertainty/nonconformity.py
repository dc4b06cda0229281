"""Nonconformity scores of candidates, by name."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Protocol, Self, runtime_checkable

import torch
from torch import Tensor

from kgflow.data import Dataset, Triples
from kgflow.errors import KgflowError, suggest
from kgflow.evaluation.scoring import Ids, ScoredAnswers
from kgflow.models import Model


@dataclass(frozen=True, eq=False)
class FitData:
    """What a nonconformity score may be fitted to.

    Args:
        model: Trained model.
        data: Dataset; only its training triples, and the known ones as a filter, may be used.
        facts: Validation triples that fit no threshold.
        temperature: Temperature of the softmax over the model's scores.
        seed: Random seed.
    """

    model: Model
    data: Dataset
    facts: Triples
    temperature: float = 1.0
    seed: int = 0


NONCONFORMITY: dict[str, type["NonconformityScore"]] = {}
"""Nonconformity scores by name."""


class NonconformityScore(ABC):
    """How little a candidate conforms to the answers of other queries: its V.

    The prediction set of a query has all candidates with V up to a threshold. V never increases
    with the score of the candidate, so that a set has the best candidates. A new one is a subclass
    with a `name`, which registers it.

    Example:
        >>> S, t, u = torch.tensor([[3.0, 2.0, 1.0]]), torch.tensor([1]), torch.tensor([0.5])
        >>> {name: round(NONCONFORMITY[name]()(S, t, u).item(), 2) for name in ("rank", "aps")}
        {'rank': 1.5, 'aps': 0.79}
    """

    name: ClassVar[str]

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        if "name" in cls.__dict__:
            NONCONFORMITY[cls.name] = cls

    @classmethod
    def fit(cls, data: FitData) -> Self:
        """Return this score with the settings that suit a model."""
        return cls()

    @abstractmethod
    def __call__(self, S: Tensor, t: Tensor, u: Tensor) -> Tensor:
        """Return V of answers, ``(P,)``.

        Args:
            S: Scores of all candidates, ``(P, E)``, -inf for other entities.
            t: Answers, ``(P,)``.
            u: Uniform random numbers, ``(P,)``, by which tied candidates are ordered.
        """

    @abstractmethod
    def within(self, ordered: Tensor, threshold: Tensor, u: Tensor) -> Tensor:
        """Return which candidates are in the prediction set, ``(B, E)``.

        Args:
            ordered: Scores in descending order, ``(B, E)``; ties were broken by that order.
            threshold: Largest V in the set, ``(B,)``.
            u: Uniform random numbers, ``(B,)``.
        """

    def sizes(self, S: Tensor, threshold: Tensor, u: Tensor) -> Tensor:
        """Return the sizes of prediction sets with thresholds ``(B,)``: ``(B,)``."""
        ordered = S.sort(dim=1, descending=True).values
        return self.within(ordered, threshold, u).sum(1)


@runtime_checkable
class Rescoring(Protocol):
    """A nonconformity score that replaces the scores of the model by its own."""

    def rescore(self, h: Ids, r: Ids, S: Tensor) -> Tensor:
        """Return scores of the candidates of queries, ``(B, E)``, -inf for other entities."""


def scores_of(nonconformity: NonconformityScore, h: Ids, r: Ids, S: Tensor) -> Tensor:
    """Return the scores of candidates that a nonconformity score orders them by, ``(B, E)``."""
    return nonconformity.rescore(h, r, S) if isinstance(nonconformity, Rescoring) else S


def answer_values(nonconformity: NonconformityScore, found: ScoredAnswers, u: Tensor) -> Tensor:
    """Return V of the answers of queries, ``(P,)``."""
    S = scores_of(nonconformity, found.h, found.r, found.S)
    return nonconformity(S, torch.from_numpy(found.t).to(S.device), u)


def nonconformity_class(name: str) -> type[NonconformityScore]:
    """Return a nonconformity score by name."""
    if name not in NONCONFORMITY:
        hint = suggest(name, NONCONFORMITY) or f"; known are {', '.join(NONCONFORMITY)}"
        raise KgflowError(f"nonconformity score '{name}' is unknown{hint}")
    return NONCONFORMITY[name]


class CumulativeScore(NonconformityScore):
    r"""Mass of the better candidates, and a random part of the mass of the tied ones.

    .. math:: V_t = \sum_{s_e > s_t} m_e + U \sum_{s_e = s_t} m_e

    with the answer itself among the tied candidates and U uniform on [0, 1]. Ties are thus broken
    at random and V is continuous, so that coverage is exact and not only bounded from below (Vovk,
    Gammerman, Shafer: Algorithmic Learning in a Random World, 2005).
    """

    @abstractmethod
    def mass(self, S: Tensor) -> Tensor:
        """Return the mass m of candidates, ``(B, E)``, by their scores; 0 where that is -inf."""

    def __call__(self, S: Tensor, t: Tensor, u: Tensor) -> Tensor:
        mass, lead = self.mass(S), S - S.gather(1, t[:, None])
        better = torch.where(lead > 0, mass, 0).sum(1)
        return better + u * torch.where(lead == 0, mass, 0).sum(1)

    def within(self, ordered: Tensor, threshold: Tensor, u: Tensor) -> Tensor:
        mass = self.mass(ordered)
        before = mass.cumsum(1) - mass
        return (mass > 0) & (before + u[:, None] * mass <= threshold[:, None])


class RankScore(CumulativeScore):
    """Filtered rank, made continuous: every candidate has mass 1. All sets have the same size.

    Example:
        >>> S, t, u = torch.tensor([[3.0, 2.0, 2.0, 1.0]]), torch.tensor([1]), torch.tensor([0.5])
        >>> RankScore()(S, t, u)
        tensor([2.], dtype=torch.float64)
    """

    name = "rank"

    def mass(self, S: Tensor) -> Tensor:
        return torch.isfinite(S).double()

    def sizes(self, S: Tensor, threshold: Tensor, u: Tensor) -> Tensor:
        """Return the threshold rounded down, or up with the probability of its fraction."""
        limit = threshold.clamp(min=0, max=S.shape[1])
        whole = limit.floor()
        size = whole + (u <= limit - whole)
        return size.clamp(max=torch.isfinite(S).sum(1)).long()


@dataclass(frozen=True)
class AdaptiveScore(CumulativeScore):
    r"""Mass :math:`\mathrm{softmax}(s/\tau)_e`: sets are small where a model is certain (APS).

    τ is the temperature. Romano, Sesia, Candès: Classification with valid and adaptive coverage,
    2020.
    """

    name = "aps"
    temperature: float = 1.0

    @classmethod
    def fit(cls, data: FitData) -> Self:
        return cls(data.temperature)

    def mass(self, S: Tensor) -> Tensor:
        return torch.softmax(S.double() / self.temperature, dim=1)


@dataclass(frozen=True)
class RegularizedAdaptiveScore(CumulativeScore):
    r"""Mass :math:`\mathrm{softmax}(s/\tau)_e + \lambda`: adaptive without very large sets (RAPS).

    Angelopoulos, Bates, Jordan, Malik: Uncertainty sets for image classifiers using conformal
    prediction, 2021, with the penalty from the first candidate on.
    """

    name = "raps"
    temperature: float = 1.0
    penalty: float = 0.03

    @classmethod
    def fit(cls, data: FitData) -> Self:
        return cls(data.temperature)

    def mass(self, S: Tensor) -> Tensor:
        softmax = torch.softmax(S.double() / self.temperature, dim=1)
        return softmax + self.penalty * torch.isfinite(S)
