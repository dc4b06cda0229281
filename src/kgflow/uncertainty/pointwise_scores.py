"""Nonconformity scores that are functions of the score of each candidate."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor

from kgflow.uncertainty.nonconformity import FitData, NonconformityScore


class PointwiseScore(NonconformityScore):
    """A function of the score of each candidate.

    Candidates with equal scores are all in the set or none is, so where there are ties coverage is
    at least, and not exactly, the nominal one.
    """

    @abstractmethod
    def values(self, S: Tensor) -> Tensor:
        """Return V of all candidates, ``(B, E)``; any number where the score is -inf."""

    def __call__(self, S: Tensor, t: Tensor, u: Tensor) -> Tensor:
        return self.values(S).gather(1, t[:, None])[:, 0]

    def within(self, ordered: Tensor, threshold: Tensor, u: Tensor) -> Tensor:
        return torch.isfinite(ordered) & (self.values(ordered) <= threshold[:, None])

    def sizes(self, S: Tensor, threshold: Tensor, u: Tensor) -> Tensor:
        return self.within(S, threshold, u).sum(1)  # no order is needed


class NegativeScore(PointwiseScore):
    """Negative score of the candidate, ``V = -s``.

    Zhu et al.: Conformalized answer set prediction for knowledge graph embedding, NAACL 2025.
    """

    name = "score"

    def values(self, S: Tensor) -> Tensor:
        return -S.double()


class MinMaxScore(PointwiseScore):
    r"""Negative score, scaled to the range of the candidates of its query.

    .. math:: V_t = -\frac{s_t - \min_e s_e}{\max_e s_e - \min_e s_e}

    Zhu et al.: Conformalized answer set prediction for knowledge graph embedding, NAACL 2025.
    """

    name = "minmax"

    def values(self, S: Tensor) -> Tensor:
        real, S = torch.isfinite(S), S.double()
        low = torch.where(real, S, torch.inf).amin(1, keepdim=True)
        high = torch.where(real, S, -torch.inf).amax(1, keepdim=True)
        return (low - S) / (high - low).clamp(min=1e-12)


@dataclass(frozen=True)
class SoftmaxScore(PointwiseScore):
    r"""Negative probability of the candidate, on the scale of its logarithm.

    .. math:: V_t = -\log \mathrm{softmax}(s/\tau)_t

    τ is the temperature. With the true probabilities, no other sets of this coverage are smaller in
    the mean (Sadinle, Lei, Wasserman: Least ambiguous set-valued classifiers with bounded error
    levels, 2019). A set may be empty.
    """

    name = "softmax"
    temperature: float = 1.0

    @classmethod
    def fit(cls, data: FitData) -> Self:
        return cls(data.temperature)

    def values(self, S: Tensor) -> Tensor:
        return -torch.log_softmax(S.double() / self.temperature, dim=1)
