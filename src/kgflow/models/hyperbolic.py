r"""RotH and AttH: rotations and reflections in hyperbolic space, one curvature per relation.

The Poincaré ball of curvature -c holds the points x with :math:`c \|x\|^2 < 1`. In the functions of
this module vectors are ``(..., n)`` and curvatures c ``(..., 1)``.
"""

import math

import torch
from torch import Tensor
from torch.nn.functional import softplus

from kgflow.flows import Keys, PairwiseInteraction, Query
from kgflow.models.base import Model
from kgflow.models.card import NO_FLOW, Card, recommended
from kgflow.models.options import Option

MAX_NORM = 1 - 4e-3
"""Largest norm of a point, relative to the radius; single precision needs some distance from 1."""


class HyperbolicDistance(PairwiseInteraction):
    """Negative squared distance in the Poincaré ball of curvature c, with Q = (point, c)."""

    def pairwise(self, Q: Tensor, K: Tensor) -> Tensor:
        x, c = Q[..., :-1], Q[..., -1]
        return -squared_distance(x.square().sum(-1), K.square().sum(-1), (x * K).sum(-1), c)

    def interaction(self, Q: Tensor, K: Tensor) -> Tensor:
        """Return all negative squared distances by a matrix product."""
        x, c = Q[:, :-1], Q[:, -1:]
        return -squared_distance(x.square().sum(-1)[:, None], K.square().sum(-1), x @ K.T, c)


class HyperbolicModel(Model):
    r"""Query point in the Poincaré ball of its relation's curvature, tails as tangent vectors.

    .. math:: f(h, r, t) = -d_c(q, \exp_0^c(t))^2 + b_h + b_t

    The point of the tail depends on c of the relation, so K is the tangent vector and Q contains c.
    """

    entity_parts = ("mu", "head", "tail")
    dim_multiple = 2
    interaction_function = HyperbolicDistance()

    def entity_sizes(self, dim: int) -> dict[str, int]:
        return {"mu": dim, "head": 1, "tail": 1}

    def encode_keys(self, t: Tensor) -> Keys:
        mu, _, tail = self.entity.split(t)
        return Keys(mu, tail[..., 0])


class RotH(HyperbolicModel):
    r"""Rotations and translations in the Poincaré ball.

    .. math:: f(h, r, t) = -d_c\big(\exp_0^c(R_\theta h) \oplus_c \exp_0^c(r),
              \exp_0^c(t)\big)^2 + b_h + b_t, \quad c = \log(1 + e^\kappa)

    :math:`R_\theta` rotates coordinates i and n/2 + i by :math:`\theta_i`. Rotation and
    exponential map commute.

    Embeddings: entity μ ``(n,)`` and two biases; relation θ ``(n/2,)``, μ ``(n,)``, κ ``(1,)``.

    Reference:
        Chami et al.: Low-Dimensional Hyperbolic Knowledge Graph Embeddings, ACL 2020.

    Example:
        >>> RotH(entities=3, relations=2, dim=4).relation.weight.shape
        torch.Size([2, 7])
    """

    name = "roth"
    relation_parts = ("theta", "mu", "curvature")
    settings = recommended(dim=32, margin=0.0, dropout=0.1, epochs=30)
    card = Card(*NO_FLOW, "-d_c(R_θ h ⊕ r, t)² + b_h + b_t", "n+2", "3*n//2+1", 2020, pairwise=True)

    def __init__(self, entities: int, relations: int, dim: int, **options: Option) -> None:
        super().__init__(entities, relations, dim, **options)
        self.relation.split(self.relation.weight.data)[0].uniform_(-math.pi, math.pi)

    def relation_sizes(self, dim: int) -> dict[str, int]:
        return {"theta": dim // 2, "mu": dim, "curvature": 1}

    def encode_query(self, h: Tensor, r: Tensor) -> Query:
        """Encode Q = (transformed head, c), a = b_h."""
        (h_mu, head, _), (theta, r_mu, curvature) = self.entity.split(h), self.relation.split(r)
        c = softplus(curvature)
        x = mobius_add(exp_0(rotate(theta, h_mu), c), exp_0(r_mu, c), c)
        return Query(torch.cat([x, c], dim=-1), head[..., 0])


class AttH(HyperbolicModel):
    r"""Attention over rotations and reflections, and translations, in the Poincaré ball.

    .. math:: f(h, r, t) = -d_c\big(\exp_0^c(\alpha R_\theta h + (1 - \alpha) S_\phi h) \oplus_c
              \exp_0^c(r), \exp_0^c(t)\big)^2 + b_h + b_t, \quad
              (\alpha, 1 - \alpha) = \mathrm{softmax}(w^T R_\theta h, w^T S_\phi h)

    :math:`R_\theta` rotates coordinates i and n/2 + i by :math:`\theta_i`, :math:`S_\phi`
    reflects them at the line of angle :math:`\phi_i / 2`; attention averages tangent vectors.
    :math:`c = \log(1 + e^\kappa)`.

    Embeddings: entity μ ``(n,)`` and two biases; relation θ, φ each ``(n/2,)``, w, μ each ``(n,)``,
    κ ``(1,)``.

    Reference:
        Chami et al.: Low-Dimensional Hyperbolic Knowledge Graph Embeddings, ACL 2020.

    Example:
        >>> AttH(entities=3, relations=2, dim=4).relation.weight.shape
        torch.Size([2, 13])
    """

    name = "atth"
    relation_parts = ("theta", "phi", "context", "mu", "curvature")
    settings = recommended(dim=32, epochs=30)
    card = Card(
        D="-d_c(att(R_θ h, S_φ h) ⊕ r, t)² + b_h + b_t",
        entity="n+2",
        relation="3*n+1",
        year=2020,
        patterns={"antisymmetry", "composition"},
        pairwise=True,
    )

    def __init__(self, entities: int, relations: int, dim: int, **options: Option) -> None:
        super().__init__(entities, relations, dim, **options)
        for angles in self.relation.split(self.relation.weight.data)[:2]:
            angles.uniform_(-math.pi, math.pi)

    def relation_sizes(self, dim: int) -> dict[str, int]:
        halves = {"theta": dim // 2, "phi": dim // 2}
        return halves | {"context": dim, "mu": dim, "curvature": 1}

    def encode_query(self, h: Tensor, r: Tensor) -> Query:
        """Encode Q = (transformed head, c), a = b_h."""
        h_mu, head, _ = self.entity.split(h)
        theta, phi, context, r_mu, curvature = self.relation.split(r)
        c = softplus(curvature)
        transformed = torch.stack([rotate(theta, h_mu), reflect(phi, h_mu)], dim=-2)
        attention = (transformed * context[..., None, :]).sum(-1, keepdim=True).softmax(-2)
        x = mobius_add(exp_0((attention * transformed).sum(-2), c), exp_0(r_mu, c), c)
        return Query(torch.cat([x, c], dim=-1), head[..., 0])


def rotate(theta: Tensor, v: Tensor) -> Tensor:
    """Rotate the coordinates i and n/2 + i of v ``(..., n)`` by θ_i ``(..., n/2)``.

    Example:
        >>> rotate(torch.tensor([torch.pi / 2]), torch.tensor([1.0, 0.0])).round()
        tensor([-0.,  1.])
    """
    x, y = v.chunk(2, dim=-1)
    cos, sin = theta.cos(), theta.sin()
    return torch.cat([cos * x - sin * y, sin * x + cos * y], dim=-1)


def reflect(phi: Tensor, v: Tensor) -> Tensor:
    """Reflect the coordinates i and n/2 + i of v ``(..., n)`` at the line of angle φ_i / 2.

    Example:
        >>> reflect(torch.tensor([0.0]), torch.tensor([1.0, 1.0]))
        tensor([ 1., -1.])
    """
    x, y = v.chunk(2, dim=-1)
    return rotate(phi, torch.cat([x, -y], dim=-1))


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
