r"""The Poincaré ball of curvature -c: the points x with :math:`c \|x\|^2 < 1`.

Vectors are ``(..., n)``, curvatures c ``(..., 1)``. The norm of a point is at most `MAX_NORM` of
the radius of the ball: nearer to its boundary single precision is not sufficient.
"""

import torch
from torch import Tensor

MAX_NORM = 1 - 4e-3


def exp_0(v: Tensor, c: Tensor) -> Tensor:
    r"""Return the exponential map at the origin of a tangent vector v.

    .. math:: \exp_0(v) = \tanh(\sqrt c \|v\|) \frac{v}{\sqrt c \|v\|}

    Example:
        >>> exp_0(torch.tensor([3.0, 4.0]), torch.tensor([1e-8]))  # almost flat: v itself
        tensor([3.0000, 4.0000])
    """
    return relative_norm(c * v.square().sum(-1, keepdim=True))[1] * v


def relative_norm(z: Tensor) -> tuple[Tensor, Tensor]:
    r"""Return √c ‖exp₀(v)‖ for :math:`z = c\|v\|^2`, and its ratio to √z."""
    root = _root(z)
    norm = root.tanh().clamp_max(MAX_NORM)
    return norm, norm / root


def mobius_add(x: Tensor, y: Tensor, c: Tensor) -> Tensor:
    r"""Return the Möbius sum of two points, clipped to `MAX_NORM`.

    .. math:: x \oplus y = \frac{(1 + 2c\langle x, y\rangle + c\|y\|^2) x + (1 - c\|x\|^2) y}
              {1 + 2c\langle x, y\rangle + c^2 \|x\|^2 \|y\|^2}

    Example:
        >>> x = torch.tensor([0.3, 0.4])
        >>> mobius_add(x, -x, torch.tensor([1.0]))
        tensor([0., 0.])
    """
    x2, y2, xy = (part.sum(-1, keepdim=True) for part in (x * x, y * y, x * y))
    total = (1 + 2 * c * xy + c * y2) * x + (1 - c * x2) * y
    total = total / (1 + 2 * c * xy + c.square() * x2 * y2)
    return total * (MAX_NORM / _root(c * total.square().sum(-1, keepdim=True))).clamp_max(1)


def squared_distance(x2: Tensor, v2: Tensor, xv: Tensor, c: Tensor) -> Tensor:
    r"""Return the squared distance of a point x and exp₀(v) from their inner products.

    .. math:: d(x, y)^2 = \frac4c\, \mathrm{arsinh}^2 \sqrt{
              \frac{c \|x - y\|^2}{(1 - c\|x\|^2)(1 - c\|y\|^2)}}, \quad y = \exp_0(v)

    which is :math:`d = \frac2{\sqrt c} \mathrm{artanh}(\sqrt c \|{-x} \oplus y\|)`, but smooth
    at x = y.

    Args:
        x2: :math:`\|x\|^2`.
        v2: :math:`\|v\|^2`.
        xv: :math:`\langle x, v\rangle`.
        c: curvature; all four are broadcast.

    Example:
        >>> one = torch.ones(1)
        >>> squared_distance(0 * one, one, 0 * one, one)  # from the origin: (2 ‖v‖)²
        tensor([4.])
    """
    norm, scale = relative_norm(c * v2)
    gap = x2 + scale.square() * v2 - 2 * scale * xv
    ratio = c * gap / ((1 - c * x2) * (1 - norm.square()))
    return 4 / c * _root(ratio).asinh().square()


def _root(x: Tensor) -> Tensor:
    # Above zero, where the root has an infinite slope though even functions of it have not.
    return x.clamp_min(torch.finfo(x.dtype).tiny).sqrt()
