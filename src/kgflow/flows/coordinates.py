r"""Closed forms: coordinates of quantile functions in a basis, and its Gram matrix.

In one dimension the squared Wasserstein distance is the squared L2 distance of the quantile
functions. If both are linear combinations :math:`\sum_j c_j \phi_j` of one basis, it is
:math:`(c-d)^T G (c-d)` with :math:`G_{ij} = \int_0^1 \phi_i \phi_j`, and with :math:`G = LL^T` the
squared Euclidean distance :math:`|L^T c - L^T d|^2`.
"""

import math
from functools import cache, singledispatch
from typing import NamedTuple

import torch
from torch import Tensor

from kgflow.flows.basis import Basis
from kgflow.flows.flow import Flow
from kgflow.flows.functions import Affine, Function, Scaling, Translation
from kgflow.flows.quadrature import EDGE, integrate
from kgflow.flows.spline import Spline
from kgflow.flows.variables import SQRT3, Normal, Point, Uniform, Variable

Interval = tuple[float, float]
LINE, LEFT, RIGHT = (-math.inf, math.inf), (-math.inf, 0.0), (0.0, math.inf)


class Coordinates(NamedTuple):
    """Coordinates of quantile functions in a basis, with the Gram matrix of the basis.

    Two of them are comparable if their `basis` is equal: the same family of functions and x0.
    """

    basis: tuple[str | Basis, Variable | None]
    parts: tuple[Tensor, ...]
    gram: tuple[tuple[float, ...], ...]

    def euclidean(self) -> Tensor:
        r"""Return :math:`L^T c`, whose squared Euclidean distance is W, ``(..., J n)``."""
        if len(self.parts) == 1:
            return self.parts[0] * math.sqrt(self.gram[0][0])
        factor = cholesky(self.gram)
        mixed = [
            _combine([(factor[i][j], self.parts[i]) for i in range(j, len(self.parts))])
            for j in range(len(self.parts))
        ]
        # A part may be a scalar on another device: the first has the dtype and device of the flow.
        alike = [part.to(self.parts[0]) for part in mixed]
        return torch.cat(torch.broadcast_tensors(*alike), dim=-1)


def coordinates(flow: Flow) -> Coordinates | None:
    """Return the coordinates of a flow's quantile functions, or None without a closed form.

    Example:
        >>> f = Affine(mu=torch.tensor([1.0]), sigma=torch.tensor([-2.0]))
        >>> coordinates(Flow(Normal(), f)).parts
        (tensor([1.]), tensor([2.]))
    """
    if isinstance(flow.x0, Point):
        parts = flow.real_components
        return Coordinates((f"point of {len(parts)}", None), parts, identity(len(parts)))
    if not flow.x0.symmetric:
        return None
    flow = flow.unscaled()
    return _coordinates(flow.f, flow.variable)


@singledispatch
def _coordinates(f: Function, x0: Variable) -> Coordinates | None:
    return None


@_coordinates.register
def _(f: Translation, x0: Variable) -> Coordinates:
    # The quantile function of x0 itself is the same for both flows and cancels.
    return Coordinates(("translation", x0), (f.mu,), ((1.0,),))


@_coordinates.register
def _(f: Scaling, x0: Variable) -> Coordinates:
    return Coordinates(("scaling", x0), (f.sigma.abs(),), ((moment(x0, 2, LINE),),))


@_coordinates.register
def _(f: Affine, x0: Variable) -> Coordinates:
    return Coordinates(("affine", x0), (f.mu, f.sigma.abs()), affine_gram(x0))


@_coordinates.register
def _(f: Spline, x0: Variable) -> Coordinates | None:
    if not f.basis.symmetric:
        return None
    return Coordinates((f.basis, x0), (f.mu, *f.increasing_scales()), spline_gram(x0, f.basis))


@cache
def identity(size: int) -> tuple[tuple[float, ...], ...]:
    """Return the Gram matrix of an orthonormal basis."""
    return tuple(tuple(float(i == j) for j in range(size)) for i in range(size))


@cache
def affine_gram(x0: Variable) -> tuple[tuple[float, ...], ...]:
    """Return the Gram matrix of {1, F⁻¹} for the quantile function F⁻¹ of x0."""
    return ((1.0, 0.0), (0.0, moment(x0, 2, LINE)))


@cache
def spline_gram(x0: Variable, basis: Basis) -> tuple[tuple[float, ...], ...]:
    """Return the Gram matrix of {1, φ₁(F⁻¹), …, φ_K(F⁻¹)} by numerical integration."""
    knots = [x0.cdf(torch.tensor(knot, dtype=torch.float64)) for knot in basis.knots]

    def products(z: Tensor) -> Tensor:
        z = z.flatten()
        functions = torch.stack([torch.ones_like(z), *basis.values(x0.icdf(z))], dim=1)
        return functions[:, :, None] * functions[:, None, :]

    found = integrate(products, 2, [*knots, *x0.jumps()])
    return tuple(tuple(row) for row in found.tolist())


@cache
def cholesky(gram: tuple[tuple[float, ...], ...]) -> tuple[tuple[float, ...], ...]:
    """Return the Cholesky factor L of a Gram matrix, G = L Lᵀ, lower triangular.

    A linearly dependent basis function, as with a discrete x0, gets a column of zeros.
    """
    size = range(len(gram))
    L = [[0.0 for _ in size] for _ in size]
    for j in size:
        rest = [gram[i][j] - sum(L[i][k] * L[j][k] for k in range(j)) for i in size]
        if rest[j] > 1e-12 * gram[j][j]:
            for i in size[j:]:
                L[i][j] = rest[i] / math.sqrt(rest[j])
    return tuple(map(tuple, L))


@singledispatch
def moment(x0: Variable, power: int, interval: Interval) -> float:
    r"""Compute the partial moment :math:`\mathbb E[x_0^p; x_0 \in I]`, by default numerically.

    Example:
        >>> round(moment(Normal(), 1, RIGHT), 4)  # 1 / sqrt(2 pi)
        0.3989
    """
    lo, hi = (float(x0.cdf(torch.tensor(x, dtype=torch.float64))) for x in interval)

    if lo == hi:
        return 0.0

    def inside(z: Tensor) -> Tensor:
        return (lo + (hi - lo) * z).clamp(EDGE, 1 - EDGE)

    middle = torch.tensor([0.5], dtype=torch.float64)
    breaks = ((torch.cat([middle, x0.jumps()]) - lo) / (hi - lo)).clamp(0, 1)
    return (hi - lo) * float(integrate(lambda z: x0.icdf(inside(z)) ** power, breaks=[*breaks]))


@moment.register
def _(x0: Normal, power: int, interval: Interval) -> float:
    def antiderivative(x: float) -> float:
        bell = math.exp(-x * x / 2) / math.sqrt(2 * math.pi)
        step = 0.5 * math.erfc(-x / math.sqrt(2))
        edge = 0.0 if math.isinf(x) else x * bell
        return (step, -bell, step - edge)[power]

    if power > 2:
        raise NotImplementedError(
            "partial moments of the normal distribution are implemented up to power 2"
        )
    return antiderivative(interval[1]) - antiderivative(interval[0])


@moment.register
def _(x0: Uniform, power: int, interval: Interval) -> float:
    lo, hi = (min(max(x, -SQRT3), SQRT3) for x in interval)
    return float((hi ** (power + 1) - lo ** (power + 1)) / ((power + 1) * 2 * SQRT3))


def _combine(terms: list[tuple[float, Tensor]]) -> Tensor:
    total = None
    for factor, part in terms:
        if factor != 0:
            term = part if factor == 1 else factor * part
            total = term if total is None else total + term
    return torch.zeros_like(terms[0][1]) if total is None else total
