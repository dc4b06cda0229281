"""RotH and AttH: rotations and reflections in hyperbolic spaces, one curvature per relation."""

import math
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn.functional import softplus

from kgflow.flows import Keys, Query
from kgflow.flows.poincare import exp_0, mobius_add, squared_distance
from kgflow.models.base import PairwiseModel
from kgflow.models.card import Card


class HyperbolicModel(PairwiseModel):
    r"""A query point in the Poincaré ball of its relation's curvature, tails as tangent vectors.

    .. math:: f(h, r, t) = -d_c(q, \exp_0^c(t))^2 + b_h + b_t

    The tail's point depends on the relation's c, so K keeps the tangent vector and Q brings c.
    """

    def entity_sizes(self, dim: int) -> dict[str, int]:
        """A tangent vector, and a bias for each end of a triple."""
        return {"mu": dim, "head": 1, "tail": 1}

    def encode_keys(self, t: Tensor) -> Keys:
        """K = t, b = b_t."""
        mu, _, tail = self.entity.split(t)
        return Keys(mu, tail[..., 0])

    def pairwise(self, Q: Tensor, K: Tensor) -> Tensor:
        """The negative squared distance."""
        x, c = Q[..., :-1], Q[..., -1]
        return -squared_distance(x.square().sum(-1), K.square().sum(-1), (x * K).sum(-1), c)

    def matrix(self, Q: Tensor, K: Tensor) -> Tensor:
        """The same with a matrix product."""
        x, c = Q[:, :-1], Q[:, -1:]
        return -squared_distance(x.square().sum(-1)[:, None], K.square().sum(-1), x @ K.T, c)


class RotH(HyperbolicModel):
    r"""Rotations and translations in the Poincaré ball.

    .. math:: f(h, r, t) = -d_c\big(\exp_0^c(R_\theta h) \oplus_c \exp_0^c(r),
              \exp_0^c(t)\big)^2 + b_h + b_t, \quad c = \log(1 + e^\kappa)

    :math:`R_\theta` rotates coordinates i and n/2 + i by :math:`\theta_i`. Rotating before or
    after the exponential map is the same.

    Rows: entity μ ``(n,)`` and two biases; relation θ ``(n/2,)``, μ ``(n,)``, κ ``(1,)``.

    Reference:
        Chami et al.: Low-Dimensional Hyperbolic Knowledge Graph Embeddings, ACL 2020.

    Example:
        >>> RotH(entities=3, relations=2, dim=4).relation.weight.shape
        torch.Size([2, 7])
    """

    name = "roth"
    entity_parts: ClassVar = ("mu", "head", "tail")
    relation_parts: ClassVar = ("theta", "mu", "curvature")
    multiple: ClassVar = 2
    settings: ClassVar = {"dim": 32, "margin": 0.0, "dropout": 0.1, "epochs": 30}
    card: ClassVar = Card(
        x0="–",
        f_entity="–",
        f_relation="–",
        D="-d_c(R_θ h ⊕ r, t)² + b_h + b_t",
        entity="n + 2",
        relation="3*n//2 + 1",
        symmetry=True,
        antisymmetry=True,
        inverse=True,
        composition=True,
        year=2020,
    )

    def __init__(self, entities: int, relations: int, dim: int) -> None:
        super().__init__(entities, relations, dim)
        self.relation.split(self.relation.weight.data)[0].uniform_(-math.pi, math.pi)

    def relation_sizes(self, dim: int) -> dict[str, int]:
        """Angles, a translation, a curvature."""
        return {"theta": dim // 2, "mu": dim, "curvature": 1}

    def encode_query(self, h: Tensor, r: Tensor) -> Query:
        """Q = (the moved head, c), a = b_h."""
        (h_mu, head, _), (theta, r_mu, curvature) = self.entity.split(h), self.relation.split(r)
        c = softplus(curvature)
        x = mobius_add(exp_0(rotate(theta, h_mu), c), exp_0(r_mu, c), c)
        return Query(torch.cat([x, c], dim=-1), head[..., 0])


class AttH(HyperbolicModel):
    r"""Rotations and reflections, as attention weighs them, and translations.

    .. math:: f(h, r, t) = -d_c\big(\exp_0^c(\alpha R_\theta h + (1 - \alpha) S_\phi h) \oplus_c
              \exp_0^c(r), \exp_0^c(t)\big)^2 + b_h + b_t, \quad
              (\alpha, 1 - \alpha) = \mathrm{softmax}(w^T R_\theta h, w^T S_\phi h)

    :math:`R_\theta` rotates coordinates i and n/2 + i by :math:`\theta_i`, :math:`S_\phi`
    reflects them at the line of angle :math:`\phi_i / 2`; attention averages tangent vectors.
    :math:`c = \log(1 + e^\kappa)`.

    Rows: entity μ ``(n,)`` and two biases; relation θ, φ each ``(n/2,)``, w, μ each ``(n,)``,
    κ ``(1,)``.

    Reference:
        Chami et al.: Low-Dimensional Hyperbolic Knowledge Graph Embeddings, ACL 2020.

    Example:
        >>> AttH(entities=3, relations=2, dim=4).relation.weight.shape
        torch.Size([2, 13])
    """

    name = "atth"
    entity_parts: ClassVar = ("mu", "head", "tail")
    relation_parts: ClassVar = ("theta", "phi", "context", "mu", "curvature")
    multiple: ClassVar = 2
    settings: ClassVar = {"dim": 32, "epochs": 30}
    card: ClassVar = Card(
        x0="–",
        f_entity="–",
        f_relation="–",
        D="-d_c(att(R_θ h, S_φ h) ⊕ r, t)² + b_h + b_t",
        entity="n + 2",
        relation="3*n + 1",
        symmetry=False,
        antisymmetry=True,
        inverse=False,
        composition=True,
        year=2020,
    )

    def __init__(self, entities: int, relations: int, dim: int) -> None:
        super().__init__(entities, relations, dim)
        for angles in self.relation.split(self.relation.weight.data)[:2]:
            angles.uniform_(-math.pi, math.pi)

    def relation_sizes(self, dim: int) -> dict[str, int]:
        """Two kinds of angles, a context, a translation, a curvature."""
        halves = {"theta": dim // 2, "phi": dim // 2}
        return halves | {"context": dim, "mu": dim, "curvature": 1}

    def encode_query(self, h: Tensor, r: Tensor) -> Query:
        """Q = (the moved head, c), a = b_h."""
        h_mu, head, _ = self.entity.split(h)
        theta, phi, context, r_mu, curvature = self.relation.split(r)
        c = softplus(curvature)
        turned = torch.stack([rotate(theta, h_mu), reflect(phi, h_mu)], dim=-2)
        share = (turned * context[..., None, :]).sum(-1, keepdim=True).softmax(-2)
        x = mobius_add(exp_0((share * turned).sum(-2), c), exp_0(r_mu, c), c)
        return Query(torch.cat([x, c], dim=-1), head[..., 0])


def rotate(theta: Tensor, v: Tensor) -> Tensor:
    """The coordinates i and n/2 + i of v ``(..., n)`` turned by θ_i ``(..., n/2)``.

    Example:
        >>> rotate(torch.tensor([torch.pi / 2]), torch.tensor([1.0, 0.0])).round()
        tensor([-0.,  1.])
    """
    x, y = v.chunk(2, dim=-1)
    cos, sin = theta.cos(), theta.sin()
    return torch.cat([cos * x - sin * y, sin * x + cos * y], dim=-1)


def reflect(phi: Tensor, v: Tensor) -> Tensor:
    """The coordinates i and n/2 + i of v ``(..., n)`` mirrored at the line of angle φ_i / 2.

    Example:
        >>> reflect(torch.tensor([0.0]), torch.tensor([1.0, 1.0]))
        tensor([ 1., -1.])
    """
    x, y = v.chunk(2, dim=-1)
    return rotate(phi, torch.cat([x, -y], dim=-1))
