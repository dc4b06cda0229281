"""f: the invertible functions of entities and relations, and their composition."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator

import torch
from torch import Tensor
from torch.distributions import constraints
from torch.distributions.transforms import Transform


class NotInvertibleError(ValueError):
    """The inverse or the density of a function that has none was requested."""


class Function(Transform, ABC):
    r"""An invertible function of the real line, applied to each of n coordinates separately.

    Functions form a group: ``f @ g`` is :math:`f \circ g` (in closed form where the two families
    allow it), ``f.inverse()`` is :math:`f^{-1}`. Each is a `torch.distributions` transform, so it
    builds a `TransformedDistribution`. To add one, write `forward`, `inverse`, `slope` and `sign`,
    and `kinks` if it has any.

    Shapes: parameters ``(..., n)``, broadcast against the argument.
    """

    domain = codomain = constraints.real
    bijective: bool = True

    @abstractmethod
    def forward(self, x: Tensor) -> Tensor:
        """Return f(x)."""

    @abstractmethod
    def inverse(self) -> "Function":
        """Return the inverse function, or raise `NotInvertibleError`."""

    @abstractmethod
    def slope(self, x: Tensor) -> Tensor:
        """Return the derivative at x."""

    @property
    @abstractmethod
    def sign(self) -> Tensor:  # type: ignore[override]
        """Sign of the slope: 1 for an increasing function, -1 for a decreasing one."""

    def kinks(self) -> list[Tensor]:
        """Return the x where the slope jumps, each ``(..., n)`` or a scalar."""
        return []

    def __matmul__(self, inner: "Function") -> "Function":
        return compose(self, inner)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return log|f'(x)| of each coordinate."""
        return self.slope(x).abs().log()

    def _call(self, x: Tensor) -> Tensor:
        return self.forward(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self.inverse().forward(y)

    def tensors(self) -> Iterator[Tensor]:
        """Yield all parameters."""
        for part in vars(self).values():
            if isinstance(part, Tensor):
                yield part
            elif isinstance(part, tuple):
                yield from part
            elif isinstance(part, Function):
                yield from part.tensors()

    @property
    def shape(self) -> torch.Size:
        """Broadcast shape of all parameters, ``(..., n)``."""
        return torch.broadcast_shapes(*(part.shape for part in self.tensors()))

    @property
    def device(self) -> torch.device:
        """Device of the parameters."""
        return next(self.tensors()).device

    def forward_shape(self, shape: torch.Size) -> torch.Size:
        return torch.broadcast_shapes(shape, self.shape)

    def inverse_shape(self, shape: torch.Size) -> torch.Size:
        return self.forward_shape(shape)


class Linear(Function):
    r"""The family :math:`x \mapsto \sigma x + \mu`; every member has `mu` and `sigma`."""

    mu: Tensor
    sigma: Tensor

    def forward(self, x: Tensor) -> Tensor:
        return self.sigma * x + self.mu

    def slope(self, x: Tensor) -> Tensor:
        return self.sigma.expand(torch.broadcast_shapes(self.sigma.shape, x.shape))

    @property
    def sign(self) -> Tensor:  # type: ignore[override]
        return self.sigma.sign()


class Translation(Linear):
    r""":math:`f(x) = x + \mu`, TransE's function.

    Example:
        >>> Translation(torch.tensor(2.0))(torch.tensor(1.0))
        tensor(3.)
    """

    def __init__(self, mu: Tensor) -> None:
        super().__init__()
        self.mu, self.sigma = mu, mu.new_ones(())

    def inverse(self) -> "Translation":
        return Translation(-self.mu)


class Scaling(Linear):
    r""":math:`f(x) = \sigma x`, DistMult's function.

    Example:
        >>> Scaling(torch.tensor(2.0)).inverse()(torch.tensor(1.0))
        tensor(0.5000)
    """

    def __init__(self, sigma: Tensor) -> None:
        super().__init__()
        self.mu, self.sigma = sigma.new_zeros(()), sigma

    def inverse(self) -> "Scaling":
        return Scaling(1 / require_nonzero(self.sigma))


class Affine(Linear):
    r""":math:`f(x) = \sigma x + \mu` (Eq. 4), NFE-1's function.

    Example:
        >>> f = Affine(mu=torch.tensor(1.0), sigma=torch.tensor(-2.0))
        >>> g = f @ f.inverse()
        >>> g.mu, g.sigma
        (tensor(0.), tensor(1.))
    """

    def __init__(self, mu: Tensor, sigma: Tensor) -> None:
        super().__init__()
        self.mu, self.sigma = mu, sigma

    def inverse(self) -> "Affine":
        sigma = require_nonzero(self.sigma)
        return Affine(-self.mu / sigma, 1 / sigma)


class Composition(Function):
    r""":math:`f \circ g` of two functions whose composition has no closed form.

    Example:
        >>> from kgflow.flows import TwoPiece
        >>> kink = TwoPiece(torch.tensor(1.0), torch.tensor(1.0), torch.tensor(2.0))
        >>> type(kink @ kink).__name__
        'Composition'
    """

    def __init__(self, outer: Function, inner: Function) -> None:
        super().__init__()
        self.outer, self.inner = outer, inner

    def forward(self, x: Tensor) -> Tensor:
        return self.outer.forward(self.inner.forward(x))

    def slope(self, x: Tensor) -> Tensor:
        return self.outer.slope(self.inner.forward(x)) * self.inner.slope(x)

    @property
    def sign(self) -> Tensor:  # type: ignore[override]
        return self.outer.sign * self.inner.sign

    def inverse(self) -> Function:
        return self.inner.inverse() @ self.outer.inverse()

    def kinks(self) -> list[Tensor]:
        """Return the kinks of the inner function, and the preimages of those of the outer one."""
        outer = self.outer.kinks()
        try:
            return self.inner.kinks() + [self.inner.inverse().forward(x) for x in outer]
        except NotInvertibleError:
            return self.inner.kinks()

    @property
    def shape(self) -> torch.Size:
        return torch.broadcast_shapes(self.outer.shape, self.inner.shape)


def require_nonzero(sigma: Tensor) -> Tensor:
    """Return the scale, or raise `NotInvertibleError` where it is zero."""
    if bool((sigma == 0).any()):
        raise NotInvertibleError("a function with scale zero has no inverse and no density")
    return sigma


def compose(outer: Function, inner: Function) -> Function:
    r"""Return :math:`outer \circ inner`, in the smallest family that contains it.

    Example:
        >>> f = Translation(torch.tensor(1.0)) @ Scaling(torch.tensor(3.0))
        >>> f.mu, f.sigma
        (tensor(1.), tensor(3.))
    """
    for left, right, rule in RULES:
        if isinstance(outer, left) and isinstance(inner, right):
            return rule(outer, inner)
    return Composition(outer, inner)


RULES: list[tuple[type, type, Callable[..., Function]]] = [
    (Translation, Translation, lambda f, g: Translation(f.mu + g.mu)),
    (Scaling, Scaling, lambda f, g: Scaling(f.sigma * g.sigma)),
    (Linear, Linear, lambda f, g: Affine(f.sigma * g.mu + f.mu, f.sigma * g.sigma)),
]
"""Compositions of two families; the first match is used, so the smaller families come first."""
