"""Models whose entities are Gaussians."""

import torch
from torch import Tensor

from kgflow.flows import Affine, Flow, Normal
from kgflow.models.base import PairwiseModel

LOW, HIGH = 0.05, 5.0
"""The bounds within which KG2E keeps its variances."""


def variance(spread: Tensor) -> Tensor:
    r"""A variance within its bounds, of a number without any.

    .. math:: \sigma^2 = c_{\min}^{1 - g}\, c_{\max}^g, \quad g = \frac1{1 + e^{-s}}

    The published models clamp, which leaves no gradient at the bounds; this is smooth, strictly
    increasing, and the geometric mean of the bounds at zero.

    Example:
        >>> import torch
        >>> variance(torch.tensor([-100.0, 0.0, 100.0]))
        tensor([0.0500, 0.5000, 5.0000])
    """
    return LOW * (HIGH / LOW) ** spread.sigmoid()


class GaussianModel(PairwiseModel):
    """A model whose entity rows are a mean μ and the spread s of a `variance`."""

    def flow(self, t: Tensor) -> Flow:
        """The random vector N(μ, σ²) of entity rows ``(..., w)``."""
        mu, spread = self.entity.split(t)
        return Flow(Normal(), Affine(mu, variance(spread).sqrt()))

    def inverse_relation(self, r: Tensor) -> Tensor:
        """The opposite means, and all else as it is."""
        mu, other = self.relation.split(r)
        return torch.cat([-mu, other], dim=-1)
