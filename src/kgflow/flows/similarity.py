"""D: how alike two images of x0 are, and how each D lowers to a matrix product."""

from abc import ABC, abstractmethod
from typing import NamedTuple

import torch
from torch import Tensor

from kgflow.flows.coordinates import Coordinates, coordinates
from kgflow.flows.flow import Flow
from kgflow.flows.function import Linear
from kgflow.flows.quadrature import integrate
from kgflow.flows.spline import TwoPiece
from kgflow.flows.variable import Normal, Point


class Query(NamedTuple):
    """The left side of S = QKᵀ + a + b: Q ``(B, m)``, a ``(B,)``."""

    Q: Tensor
    a: Tensor


class Keys(NamedTuple):
    """The right side of S = QKᵀ + a + b: K ``(E, m)``, b ``(E,)``."""

    K: Tensor
    b: Tensor


class Similarity(ABC):
    """A number for two images of x0, higher where they are more alike.

    Shapes: parameters ``(..., n)`` on both sides, broadcast; the result is ``(...)``.
    """

    @abstractmethod
    def __call__(self, p: Flow, q: Flow) -> Tensor:
        """D(p, q)."""


class Lowered(Similarity):
    """A similarity that is an inner product of features of p and of q, plus one number for each."""

    @abstractmethod
    def query(self, p: Flow) -> Query:
        """What p brings to the matrix product."""

    @abstractmethod
    def keys(self, q: Flow) -> Keys:
        """What q brings to the matrix product."""


class Paired(Similarity):
    r"""A similarity of two rows that is no inner product: :math:`D(p, q) = g(Q, K) + a + b`.

    The rows are the points p and q themselves where nothing else is said.
    """

    def query(self, p: Flow) -> Query:
        """The row Q of p, ``(..., m)``, and a number a."""
        return Query(*_point(p))

    def keys(self, q: Flow) -> Keys:
        """The row K of q, ``(..., l)``, and a number b."""
        return Keys(*_point(q))

    @abstractmethod
    def pairwise(self, Q: Tensor, K: Tensor) -> Tensor:
        """G of rows ``(..., m)`` and ``(..., l)``, broadcast, ``(...)``."""

    def matrix(self, Q: Tensor, K: Tensor) -> Tensor:
        """G of every Q ``(B, m)`` and every K ``(N, l)``, ``(B, N)``; held in memory at once."""
        return self.pairwise(Q[:, None], K)

    def __call__(self, p: Flow, q: Flow) -> Tensor:
        """D(p, q)."""
        (Q, a), (K, b) = self.query(p), self.keys(q)
        return self.pairwise(Q, K) + a + b


class SquaredWasserstein(Lowered):
    r"""The negative squared 2-Wasserstein distance (Eq. 9), a sum over independent coordinates.

    .. math:: D(p, q) = -\sum_i \int_0^1 (F_i^{-1}(z) - G_i^{-1}(z))^2 dz

    In closed form where both quantile functions stand in one basis, else integrated. For points
    it is the negative squared Euclidean distance, of complex numbers as of pairs of reals.

    Example:
        >>> from kgflow.flows import Affine, Flow, Normal
        >>> def gauss(mu, sigma):
        ...     return Flow(Normal(), Affine(torch.tensor([mu]), torch.tensor([sigma])))
        >>> SquaredWasserstein()(gauss(0.0, 1.0), gauss(3.0, -2.0))  # -(3² + 1²)
        tensor(-10.)
    """

    def __call__(self, p: Flow, q: Flow) -> Tensor:
        """D(p, q)."""
        c, d = coordinates(p), coordinates(q)
        if c is None or d is None or c.basis != d.basis:
            return -integrate_wasserstein(p, q)
        return -(c.euclidean() - d.euclidean()).square().sum(-1)

    def query(self, p: Flow) -> Query:
        """Q = 2u, a = -|u|², with the Euclidean coordinates u."""
        u = _closed(coordinates(p)).euclidean()
        return Query(2 * u, -u.square().sum(-1))

    def keys(self, q: Flow) -> Keys:
        """K = u, b = -|u|², with the Euclidean coordinates u."""
        u = _closed(coordinates(q)).euclidean()
        return Keys(u, -u.square().sum(-1))


class PrintedWasserstein(Lowered):
    r"""Eq. 11 and Eq. 12 to the letter: left scales meet left scales, whatever the orientation.

    The squared Wasserstein distance of two-piece functions wherever both increase (the restriction
    of the paper's appendix); elsewhere a similarity of its own.
    """

    def __call__(self, p: Flow, q: Flow) -> Tensor:
        """D(p, q)."""
        return self._wasserstein(_unfolded(p), _unfolded(q))

    def query(self, p: Flow) -> Query:
        """As the Wasserstein distance of the scales' absolute values."""
        return self._wasserstein.query(_unfolded(p))

    def keys(self, q: Flow) -> Keys:
        """As the Wasserstein distance of the scales' absolute values."""
        return self._wasserstein.keys(_unfolded(q))

    _wasserstein = SquaredWasserstein()


class KullbackLeibler(Lowered):
    r"""The negative Kullback-Leibler divergence (Eq. 8); Eq. 15 for a normal x0 and linear f.

    .. math:: D(p, q) = -\sum_i \Big( \log\frac{\sigma_q}{\sigma_p}
              + \frac{\sigma_p^2 + (\mu_p - \mu_q)^2}{2 \sigma_q^2} - \frac12 \Big)

    It is -infinity where a scale of q is zero, and refused for a bounded x0 (uniform, triangular,
    discrete), whose images seldom share their support.

    Example:
        >>> from kgflow.flows import Affine, Flow, Normal
        >>> p = Flow(Normal(), Affine(torch.tensor([0.0]), torch.tensor([1.0])))
        >>> q = Flow(Normal(), Affine(torch.tensor([1.0]), torch.tensor([-1.0])))
        >>> KullbackLeibler()(p, q)
        tensor(-0.5000)
    """

    def __call__(self, p: Flow, q: Flow) -> Tensor:
        """D(p, q)."""
        p, q = p.unscaled(), q.unscaled()
        if not (_gaussian(p) and _gaussian(q)):
            return -integrate_kl(p, q)
        (m, s), (mu, sigma) = _moments(p), _moments(q)
        gap = (s.square() + (m - mu).square()) / (2 * sigma.square())
        kl = sigma.log() - s.log() + gap - 0.5
        # log 0 - log 0 and 0/0 are not numbers: where a scale is zero KL is infinite.
        return -kl.masked_fill((sigma == 0) | (s == 0), torch.inf).sum(-1)

    def query(self, p: Flow) -> Query:
        """Q = (-(σ² + μ²)/2, μ), a = Σ (log σ + 1/2)."""
        m, s = _moments(_needs_gaussian(p))
        Q = torch.cat([-0.5 * (s.square() + m.square()), m], dim=-1)
        return Query(Q, (s.log() + 0.5).sum(-1))

    def keys(self, q: Flow) -> Keys:
        """K = (1/σ², μ/σ²), b = -Σ (log σ + μ²/2σ²)."""
        mu, sigma = _moments(_needs_gaussian(q))
        precision = sigma.square().reciprocal()
        K = torch.cat([precision, mu * precision], dim=-1)
        return Keys(K, -(sigma.log() + 0.5 * mu.square() * precision).sum(-1))


class InnerProduct(Lowered):
    r""":math:`D(x, y) = x^T y` for points, DistMult's similarity.

    For complex points it is :math:`\mathrm{Re}(x^T \bar y)`, ComplEx's.

    Example:
        >>> from kgflow.flows import Flow, Point, Scaling
        >>> p = Flow(Point(1.0), Scaling(torch.tensor([1.0, 2.0])))
        >>> InnerProduct()(p, p)
        tensor(5.)
    """

    def __call__(self, p: Flow, q: Flow) -> Tensor:
        """D(p, q)."""
        return (torch.cat(p.reals, dim=-1) * torch.cat(q.reals, dim=-1)).sum(-1)

    def query(self, p: Flow) -> Query:
        """Q = x, a = 0."""
        return Query(*_point(p))

    def keys(self, q: Flow) -> Keys:
        """K = y, b = 0."""
        return Keys(*_point(q))


class Norm(Paired):
    r""":math:`D(x, y) = -\|x - y\|_p` for points, TransE's similarity as published.

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
        """The negative norm of the difference."""
        return -torch.linalg.vector_norm(Q - K, ord=self.p, dim=-1)

    def matrix(self, Q: Tensor, K: Tensor) -> Tensor:
        """The same without holding the differences."""
        # By differences: as |Q|² - 2 QKᵀ + |K|² near points would lose half of their digits.
        return -torch.cdist(Q, K, p=self.p, compute_mode="donot_use_mm_for_euclid_dist")


def integrate_wasserstein(p: Flow, q: Flow) -> Tensor:
    """The squared 2-Wasserstein distance by integrating quantile functions."""
    if isinstance(p.x0, Point) and isinstance(q.x0, Point):
        return (p.value - q.value).abs().square().sum(-1)
    ndim, breaks = len(torch.broadcast_shapes(p.f.shape, q.f.shape)), p.kinks() + q.kinks()

    def gap(z: Tensor) -> Tensor:
        return (p.quantile(z) - q.quantile(z)).square()

    return integrate(gap, ndim, breaks, p.f.device).sum(-1)


def integrate_kl(p: Flow, q: Flow) -> Tensor:
    """The Kullback-Leibler divergence by integrating log p - log q along p's quantile function."""
    for side in (p, q):
        if side.variable.icdf(torch.tensor([0.0, 1.0])).isfinite().any():
            raise ValueError("KL needs images of one support: choose a normal x0, or Wasserstein")

    def gap(z: Tensor) -> Tensor:
        x = p.quantile(z)
        return p.marginals.log_prob(x) - q.marginals.log_prob(x)

    # The density of q jumps at the images of its kinks.
    jumps = [p.marginals.cdf(q.f.forward(x)) for x in q.f.kinks()]
    ndim = len(torch.broadcast_shapes(p.f.shape, q.f.shape))
    return integrate(gap, ndim, p.kinks() + jumps, p.f.device).sum(-1)


def _point(flow: Flow) -> tuple[Tensor, Tensor]:
    """The point as one row of reals, and zero."""
    x = torch.cat(flow.reals, dim=-1)
    return x, x.new_zeros(x.shape[:-1])


def _unfolded(flow: Flow) -> Flow:
    if not isinstance(flow.f, TwoPiece):
        raise TypeError("Eq. 11 and 12 are about two-piece functions")
    return Flow(flow.x0, TwoPiece(flow.f.mu, flow.f.left.abs(), flow.f.right.abs()))


def _closed(found: Coordinates | None) -> Coordinates:
    if found is None:
        raise TypeError("this x0 and f have no closed form, so D does not lower; call D(p, q)")
    return found


def _gaussian(flow: Flow) -> bool:
    return isinstance(flow.x0, Normal) and isinstance(flow.f, Linear)


def _needs_gaussian(flow: Flow) -> Flow:
    flow = flow.unscaled()
    if not _gaussian(flow):
        raise TypeError("KL lowers for a normal x0 and linear functions only; call D(p, q)")
    return flow


def _moments(flow: Flow) -> tuple[Tensor, Tensor]:
    f = flow.f
    assert isinstance(f, Linear)
    return f.mu.expand(f.shape), f.sigma.abs().expand(f.shape)
