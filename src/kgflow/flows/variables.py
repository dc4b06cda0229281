"""x0: the random variables and points that the functions of entities and relations act on."""

import copy
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.distributions import Distribution, constraints
from torch.distributions.constraints import Constraint
from torch.nn.functional import logsigmoid

SQRT3, SQRT6 = math.sqrt(3.0), math.sqrt(6.0)


class Variable(Distribution, ABC):
    r"""A random x0 on the real line; an embedding of size n uses n independent copies of it.

    It is a `torch.distributions.Distribution` without tensors, so its results have the dtype and
    device of its arguments. To add one, write the quantile function, the distribution function,
    the density and the entropy; if it is symmetric with mean 0, every closed form of the squared
    Wasserstein distance holds for it (the Gram matrix is integrated numerically).

    Shapes: every method is elementwise, ``(...) -> (...)``.
    """

    arg_constraints: ClassVar[dict[str, Constraint]] = {}
    support = constraints.real
    has_rsample = True
    symmetric: bool
    """Whether x0 and -x0 have the same distribution; every subclass sets it."""
    continuous: bool = True
    """Whether x0 has a density, and so a finite differential entropy."""

    def __init__(self) -> None:
        super().__init__(validate_args=False)

    @abstractmethod
    def icdf(self, value: Tensor) -> Tensor:
        """Return the quantile function at ``value`` in (0, 1)."""

    @abstractmethod
    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of x0 <= ``value``."""

    @abstractmethod
    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density at ``value``."""

    @abstractmethod
    def entropy(self) -> Tensor:
        """Return the differential entropy of one copy, a scalar."""

    def jumps(self) -> Tensor:
        """Return the probabilities z where the quantile function jumps, in float64."""
        return torch.empty(0, dtype=torch.float64)

    def rsample(self, sample_shape: Any = ()) -> Tensor:  # noqa: ANN401  (torch's signature)
        """Sample by inversion: the quantile function of a uniform variable."""
        z = torch.rand(self._extended_shape(torch.Size(sample_shape)))
        return self.icdf(z.clamp(min=torch.finfo(z.dtype).tiny))

    def expand(self, batch_shape: Any, _instance: Any = None) -> "Variable":  # noqa: ANN401
        new = copy.copy(self)
        new._batch_shape = torch.Size(batch_shape)
        return new

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash((type(self), self._key()))

    def _key(self) -> tuple[Any, ...]:
        hidden = ("_batch_shape", "_event_shape", "_validate_args")
        return tuple(sorted((k, v) for k, v in vars(self).items() if k not in hidden))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v}' for k, v in self._key())})"


class Normal(Variable):
    r"""The standard normal distribution, :math:`x_0 \sim \mathcal N(0, 1)`.

    Example:
        >>> Normal().icdf(torch.tensor(0.5))
        tensor(0.)
    """

    symmetric = True

    def icdf(self, value: Tensor) -> Tensor:
        r""":math:`\Phi^{-1}(z)`."""
        return torch.special.ndtri(value)

    def cdf(self, value: Tensor) -> Tensor:
        r""":math:`\Phi(x)`."""
        return torch.special.ndtr(value)

    def log_prob(self, value: Tensor) -> Tensor:
        r""":math:`-x^2/2 - \log\sqrt{2\pi}`."""
        return -0.5 * value.square() - 0.5 * math.log(2 * math.pi)

    def entropy(self) -> Tensor:
        r""":math:`\tfrac12 \log(2\pi e)`."""
        return torch.tensor(0.5 * math.log(2 * math.pi * math.e), dtype=torch.float64)


class Uniform(Variable):
    r"""The uniform distribution on :math:`[-\sqrt 3, \sqrt 3]`, with mean 0 and variance 1.

    Example:
        >>> Uniform().icdf(torch.tensor([0.0, 0.5, 1.0]))
        tensor([-1.7321,  0.0000,  1.7321])
    """

    symmetric = True

    def icdf(self, value: Tensor) -> Tensor:
        r""":math:`\sqrt 3 (2z - 1)`."""
        return SQRT3 * (2 * value - 1)

    def cdf(self, value: Tensor) -> Tensor:
        r""":math:`(x/\sqrt 3 + 1)/2`, clamped to [0, 1]."""
        return ((value / SQRT3 + 1) / 2).clamp(0, 1)

    def log_prob(self, value: Tensor) -> Tensor:
        r""":math:`-\log 2\sqrt 3` inside, :math:`-\infty` outside."""
        inside = torch.full_like(value, -math.log(2 * SQRT3))
        return inside.masked_fill(value.abs() > SQRT3, -math.inf)

    def entropy(self) -> Tensor:
        r""":math:`\log 2\sqrt 3`."""
        return torch.tensor(math.log(2 * SQRT3), dtype=torch.float64)


class Triangular(Variable):
    r"""The triangular distribution on :math:`[-\sqrt 6, \sqrt 6]`, with mean 0 and variance 1.

    Example:
        >>> Triangular().icdf(torch.tensor([0.0, 0.5, 1.0]))
        tensor([-2.4495,  0.0000,  2.4495])
    """

    symmetric = True

    def icdf(self, value: Tensor) -> Tensor:
        r""":math:`\pm\sqrt 6 (1 - \sqrt{1 - |2z - 1|})`, with the sign of :math:`2z - 1`."""
        return SQRT6 * (value - 0.5).sign() * (1 - torch.sqrt(1 - (2 * value - 1).abs()))

    def cdf(self, value: Tensor) -> Tensor:
        r""":math:`\tfrac12 + y - \tfrac12 y|y|` of :math:`y = x/\sqrt 6`, clamped to [-1, 1]."""
        y = (value / SQRT6).clamp(-1, 1)
        return 0.5 + y - 0.5 * y * y.abs()

    def log_prob(self, value: Tensor) -> Tensor:
        r""":math:`\log((\sqrt 6 - |x|) / 6)` inside, :math:`-\infty` outside."""
        return torch.log((SQRT6 - value.abs()).clamp_min(0) / 6)

    def entropy(self) -> Tensor:
        r""":math:`\tfrac12 + \log\sqrt 6`."""
        return torch.tensor(0.5 + math.log(SQRT6), dtype=torch.float64)


class Logistic(Variable):
    r"""The logistic distribution with scale :math:`s = \sqrt 3/\pi`: mean 0, variance 1.

    Example:
        >>> Logistic().cdf(Logistic().icdf(torch.tensor(0.75)))
        tensor(0.7500)
    """

    symmetric = True

    def icdf(self, value: Tensor) -> Tensor:
        r""":math:`s \log(z / (1 - z))`."""
        return SQRT3 / math.pi * torch.logit(value)

    def cdf(self, value: Tensor) -> Tensor:
        r""":math:`1 / (1 + e^{-x/s})`."""
        return torch.sigmoid(value * math.pi / SQRT3)

    def log_prob(self, value: Tensor) -> Tensor:
        r""":math:`-x/s - 2 \log(1 + e^{-x/s}) - \log s`."""
        y = value * math.pi / SQRT3
        return logsigmoid(y) + logsigmoid(-y) - math.log(SQRT3 / math.pi)

    def entropy(self) -> Tensor:
        r""":math:`2 + \log s`."""
        return torch.tensor(2 + math.log(SQRT3 / math.pi), dtype=torch.float64)


class Discrete(Variable):
    r"""The uniform distribution on k equidistant points, with mean 0 and variance 1.

    It has no density; its differential entropy is :math:`-\infty`, like that of a point.

    Args:
        points: number k of points.

    Example:
        >>> Discrete(5).icdf(torch.tensor([0.1, 0.3, 0.5, 0.7, 0.9]))
        tensor([-1.4142, -0.7071,  0.0000,  0.7071,  1.4142])
    """

    symmetric, continuous = True, False

    def __init__(self, points: int = 5) -> None:
        if points < 2:
            raise ValueError(
                f"a discrete x0 with {points} points is not random: give 2 points or more"
            )
        super().__init__()
        self.points = points

    def jumps(self) -> Tensor:
        r""":math:`1/k, \dots, (k-1)/k`."""
        return torch.arange(1, self.points, dtype=torch.float64) / self.points

    def icdf(self, value: Tensor) -> Tensor:
        """Return the quantile; at a jump, the midpoint of both points."""
        place = value * self.points
        low, high = (x.clamp(0, self.points - 1) for x in (place.ceil() - 1, place.floor()))
        return self._point((low + high) / 2)

    def cdf(self, value: Tensor) -> Tensor:
        """Return the fraction of points that are at most ``value``."""
        points = self._point(torch.arange(self.points, dtype=value.dtype, device=value.device))
        return (value[..., None] >= points).to(value).mean(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        raise ValueError("a discrete x0 has no density")

    def entropy(self) -> Tensor:
        r""":math:`-\infty`."""
        return torch.tensor(-math.inf, dtype=torch.float64)

    def _point(self, place: Tensor) -> Tensor:
        return math.sqrt(12 / (self.points**2 - 1)) * (place - (self.points - 1) / 2)


class Scaled(Variable):
    r"""The variable :math:`x_k = x_0 / k` of Proposition 5, given the factor :math:`1/k`.

    Factor 0 is the Dirac limit: it has distances, but no density.

    Example:
        >>> Scaled(Uniform(), factor=0.5).icdf(torch.tensor(1.0))
        tensor(0.8660)
    """

    def __init__(self, x0: Variable, factor: float) -> None:
        if not 0 <= factor < math.inf:
            raise ValueError(f"the factor 1/k must be 0 or more and finite, not {factor}")
        super().__init__()
        self.x0, self.factor = x0, factor
        self.symmetric, self.continuous = x0.symmetric, x0.continuous

    def jumps(self) -> Tensor:
        return self.x0.jumps()

    def icdf(self, value: Tensor) -> Tensor:
        return self.factor * self.x0.icdf(value)

    def cdf(self, value: Tensor) -> Tensor:
        """Return the distribution function at ``k * value``; a step in the Dirac limit."""
        return self.x0.cdf(value / (self.factor or 1e-30))

    def log_prob(self, value: Tensor) -> Tensor:
        if self.factor == 0:
            raise ValueError("x0/k has no density in the Dirac limit")
        return self.x0.log_prob(value / self.factor) - math.log(self.factor)

    def entropy(self) -> Tensor:
        return self.x0.entropy() + (math.log(self.factor) if self.factor else -math.inf)

    def _key(self) -> tuple[Any, ...]:
        return (("x0", self.x0), ("factor", self.factor))


@dataclass(frozen=True)
class Point:
    r"""A constant (Dirac) x0, as in TransE (:math:`x_0 = 0`) and DistMult (:math:`x_0 = 1`).

    Example:
        >>> Point(1.0)
        Point(value=1.0)
    """

    value: float


VARIABLES: dict[str, Variable] = {
    "normal": Normal(),
    "uniform": Uniform(),
    "triangular": Triangular(),
    "logistic": Logistic(),
    "discrete": Discrete(),
}
"""Random x0 by the names that a configuration uses."""
