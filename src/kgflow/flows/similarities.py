"""D: similarities of two flows, and their encoding as Q, a and K, b for matrix products."""

from abc import ABC, abstractmethod
from typing import NamedTuple

import torch
from torch import Tensor

from kgflow.flows.coordinates import Coordinates, coordinates
from kgflow.flows.flow import Flow
from kgflow.flows.functions import Linear
from kgflow.flows.quadrature import integrate
from kgflow.flows.spline import TwoPiece
from kgflow.flows.variables import Normal, Point


class Query(NamedTuple):
    """Encoded queries of S = QKᵀ + a + b: query vectors Q ``(B, m)``, bias terms a ``(B,)``."""

    Q: Tensor
    a: Tensor


class Keys(NamedTuple):
    """Encoded entities of S = QKᵀ + a + b: key vectors K ``(E, m)``, bias terms b ``(E,)``."""

    K: Tensor
    b: Tensor


class Similarity(ABC):
    r"""A similarity of two flows, higher for more similar ones.

    .. math:: D(p, q) = Q \cdot K + a + b

    Shapes: parameters ``(..., n)`` of both flows, broadcast; the result is ``(...)``.
    """

    @abstractmethod
    def __call__(self, p: Flow, q: Flow) -> Tensor:
        """Compute D(p, q)."""

    @abstractmethod
    def encode_query(self, p: Flow) -> Query:
        """Return Q ``(..., m)`` and a ``(...)`` of p."""

    @abstractmethod
    def encode_keys(self, q: Flow) -> Keys:
        """Return K ``(..., m)`` and b ``(...)`` of q."""


class PairwiseInteraction(ABC):
    """Interaction g of query vectors and key vectors that is no inner product."""

    @abstractmethod
    def pairwise(self, Q: Tensor, K: Tensor) -> Tensor:
        """Compute g of Q ``(..., m)`` and K ``(..., l)``, broadcast, ``(...)``."""

    def interaction(self, Q: Tensor, K: Tensor) -> Tensor:
        """Compute g of every Q ``(B, m)`` and every K ``(N, l)``, ``(B, N)``."""
        return self.pairwise(Q[:, None], K)


class PairwiseSimilarity(Similarity, PairwiseInteraction):
    r"""A similarity that is no inner product: :math:`D(p, q) = g(Q, K) + a + b`.

    By default Q and K are the points p and q, and a and b are zero.
    """

    def encode_query(self, p: Flow) -> Query:
        return Query(*_point(p))

    def encode_keys(self, q: Flow) -> Keys:
        return Keys(*_point(q))

    def __call__(self, p: Flow, q: Flow) -> Tensor:
        (Q, a), (K, b) = self.encode_query(p), self.encode_keys(q)
        return self.pairwise(Q, K) + a + b


class SquaredWasserstein(Similarity):
    r"""The negative squared 2-Wasserstein distance (Eq. 9), a sum over independent coordinates.

    .. math:: D(p, q) = -\sum_i \int_0^1 (F_i^{-1}(z) - G_i^{-1}(z))^2 dz

    In closed form where both quantile functions have coordinates in the same basis, else integrated
    numerically. For real or complex points it is the negative squared Euclidean distance.

    Example:
        >>> from kgflow.flows import Affine, Flow, Normal
        >>> def gauss(mu, sigma):
        ...     return Flow(Normal(), Affine(torch.tensor([mu]), torch.tensor([sigma])))
        >>> SquaredWasserstein()(gauss(0.0, 1.0), gauss(3.0, -2.0))  # -(3² + 1²)
        tensor(-10.)
    """

    def __call__(self, p: Flow, q: Flow) -> Tensor:
        c, d = coordinates(p), coordinates(q)
        if c is None or d is None or c.basis != d.basis:
            return -integrate_wasserstein(p, q)
        return -(c.euclidean() - d.euclidean()).square().sum(-1)

    def encode_query(self, p: Flow) -> Query:
        """Return Q = 2u, a = -|u|², with the Euclidean coordinates u."""
        u = _require_closed_form(coordinates(p)).euclidean()
        return Query(2 * u, -u.square().sum(-1))

    def encode_keys(self, q: Flow) -> Keys:
        """Return K = u, b = -|u|², with the Euclidean coordinates u."""
        u = _require_closed_form(coordinates(q)).euclidean()
        return Keys(u, -u.square().sum(-1))


class PaperWasserstein(Similarity):
    r"""Eq. 11 and Eq. 12 as printed: left scales are compared with left scales, right with right.

    It is the negative squared Wasserstein distance of two-piece functions if both increase, as the
    paper's appendix requires, and another similarity if one decreases.
    """

    def __call__(self, p: Flow, q: Flow) -> Tensor:
        return self._wasserstein(_increasing(p), _increasing(q))

    def encode_query(self, p: Flow) -> Query:
        return self._wasserstein.encode_query(_increasing(p))

    def encode_keys(self, q: Flow) -> Keys:
        return self._wasserstein.encode_keys(_increasing(q))

    _wasserstein = SquaredWasserstein()


class KullbackLeibler(Similarity):
    r"""The negative Kullback-Leibler divergence (Eq. 8); Eq. 15 for a normal x0 and linear f.

    .. math:: D(p, q) = -\sum_i \Big( \log\frac{\sigma_q}{\sigma_p}
              + \frac{\sigma_p^2 + (\mu_p - \mu_q)^2}{2 \sigma_q^2} - \frac12 \Big)

    It is -infinity where a scale of q is zero. A bounded x0 (uniform, triangular, discrete) raises
    ValueError, since its images seldom share their support.

    Example:
        >>> from kgflow.flows import Affine, Flow, Normal
        >>> p = Flow(Normal(), Affine(torch.tensor([0.0]), torch.tensor([1.0])))
        >>> q = Flow(Normal(), Affine(torch.tensor([1.0]), torch.tensor([-1.0])))
        >>> KullbackLeibler()(p, q)
        tensor(-0.5000)
    """

    def __call__(self, p: Flow, q: Flow) -> Tensor:
        p, q = p.unscaled(), q.unscaled()
        if not (_is_gaussian(p) and _is_gaussian(q)):
            return -integrate_kl(p, q)
        (m, s), (mu, sigma) = _moments(p), _moments(q)
        gap = (s.square() + (m - mu).square()) / (2 * sigma.square())
        kl = sigma.log() - s.log() + gap - 0.5
        # log 0 - log 0 and 0/0 are NaN: where a scale is zero KL is infinite.
        return -kl.masked_fill((sigma == 0) | (s == 0), torch.inf).sum(-1)

    def encode_query(self, p: Flow) -> Query:
        """Return Q = (-(σ² + μ²)/2, μ), a = Σ (log σ + 1/2)."""
        m, s = _moments(_require_gaussian(p))
        Q = torch.cat([-0.5 * (s.square() + m.square()), m], dim=-1)
        return Query(Q, (s.log() + 0.5).sum(-1))

    def encode_keys(self, q: Flow) -> Keys:
        """Return K = (1/σ², μ/σ²), b = -Σ (log σ + μ²/2σ²)."""
        mu, sigma = _moments(_require_gaussian(q))
        precision = sigma.square().reciprocal()
        K = torch.cat([precision, mu * precision], dim=-1)
        return Keys(K, -(sigma.log() + 0.5 * mu.square() * precision).sum(-1))


class InnerProduct(Similarity):
    r""":math:`D(x, y) = x^T y` for points, DistMult's similarity.

    For complex points it is :math:`\mathrm{Re}(x^T \bar y)`, ComplEx's.

    Example:
        >>> from kgflow.flows import Flow, Point, Scaling
        >>> p = Flow(Point(1.0), Scaling(torch.tensor([1.0, 2.0])))
        >>> InnerProduct()(p, p)
        tensor(5.)
    """

    def __call__(self, p: Flow, q: Flow) -> Tensor:
        return (torch.cat(p.real_components, dim=-1) * torch.cat(q.real_components, dim=-1)).sum(-1)

    def encode_query(self, p: Flow) -> Query:
        return Query(*_point(p))

    def encode_keys(self, q: Flow) -> Keys:
        return Keys(*_point(q))


class Norm(PairwiseSimilarity):
    r""":math:`D(x, y) = -\|x - y\|_p` for points, TransE's published similarity.

    Example:
        >>> from kgflow.flows import Flow, Point, Translation
        >>> p = Flow(Point(0.0), Translation(torch.tensor([3.0, -4.0])))
        >>> q = Flow(Point(0.0), Translation(torch.tensor([0.0, 0.0])))
        >>> Norm(1)(p, q), Norm(2)(p, q)
        (tensor(-7.), tensor(-5.))
    """

    def __init__(self, p: int) -> None:
        self.p = p

    def pairwise(self, Q: Tensor, K: Tensor) -> Tensor:
        return -torch.linalg.vector_norm(Q - K, ord=self.p, dim=-1)

    def interaction(self, Q: Tensor, K: Tensor) -> Tensor:
        """Return the same for all pairs, without a tensor of all differences."""
        # Not as |Q|² - 2 QKᵀ + |K|², which loses half of the digits for near points.
        return -torch.cdist(Q, K, p=self.p, compute_mode="donot_use_mm_for_euclid_dist")


def integrate_wasserstein(p: Flow, q: Flow) -> Tensor:
    """Compute the squared 2-Wasserstein distance by integrating quantile functions."""
    if isinstance(p.x0, Point) and isinstance(q.x0, Point):
        return (p.value - q.value).abs().square().sum(-1)
    ndim, breaks = len(torch.broadcast_shapes(p.f.shape, q.f.shape)), p.kinks() + q.kinks()

    def gap(z: Tensor) -> Tensor:
        return (p.quantile(z) - q.quantile(z)).square()

    return integrate(gap, ndim, breaks, p.f.device).sum(-1)


def integrate_kl(p: Flow, q: Flow) -> Tensor:
    """Compute the KL divergence by integrating log p - log q along p's quantile function."""
    for side in (p, q):
        if side.variable.icdf(torch.tensor([0.0, 1.0])).isfinite().any():
            raise ValueError(
                "KL needs distributions with the same support: use a normal x0, or Wasserstein"
            )

    def gap(z: Tensor) -> Tensor:
        x = p.quantile(z)
        return p.marginals.log_prob(x) - q.marginals.log_prob(x)

    # The density of q jumps at the images of its kinks.
    jumps = [p.marginals.cdf(q.f.forward(x)) for x in q.f.kinks()]
    ndim = len(torch.broadcast_shapes(p.f.shape, q.f.shape))
    return integrate(gap, ndim, p.kinks() + jumps, p.f.device).sum(-1)


def _point(flow: Flow) -> tuple[Tensor, Tensor]:
    """Return the point as one real vector, and a bias of zero."""
    x = torch.cat(flow.real_components, dim=-1)
    return x, x.new_zeros(x.shape[:-1])


def _increasing(flow: Flow) -> Flow:
    if not isinstance(flow.f, TwoPiece):
        raise TypeError("Eq. 11 and 12 hold for two-piece functions only: use SquaredWasserstein")
    return Flow(flow.x0, TwoPiece(flow.f.mu, flow.f.left.abs(), flow.f.right.abs()))


def _require_closed_form(found: Coordinates | None) -> Coordinates:
    if found is None:
        raise TypeError("this x0 and f have no closed form and cannot be encoded: call D(p, q)")
    return found


def _is_gaussian(flow: Flow) -> bool:
    return isinstance(flow.x0, Normal) and isinstance(flow.f, Linear)


def _require_gaussian(flow: Flow) -> Flow:
    flow = flow.unscaled()
    if not _is_gaussian(flow):
        raise TypeError("KL can be encoded for a normal x0 and linear functions only: call D(p, q)")
    return flow


def _moments(flow: Flow) -> tuple[Tensor, Tensor]:
    f = flow.f
    assert isinstance(f, Linear)
    return f.mu.expand(f.shape), f.sigma.abs().expand(f.shape)
