"""NagE: relations as elements of the non-Abelian groups SO(3) and SU(2)."""

import math
from dataclasses import replace
from typing import ClassVar

import torch
from torch import Tensor

from kgflow.flows import BlockNorm, Orthogonal, Point, SquaredWasserstein, Translation
from kgflow.models.base import FlowModel
from kgflow.models.card import Card

ROW = Card(
    x0="0",
    f_entity="x + μ",
    f_relation="Rx, R in SO(3)",
    D="-Σ‖· - ·‖",
    entity="n",
    relation="n",
    symmetry=True,
    antisymmetry=True,
    inverse=True,
    composition=True,
    year=2020,
)


class NagE(FlowModel):
    """Points in blocks of `multiple` coordinates, turned by three angles for each block.

    The angles start uniform in [-π, π).
    """

    f_entity = Translation
    x0 = Point(0.0)

    def __init__(self, entities: int, relations: int, dim: int) -> None:
        super().__init__(entities, relations, dim)
        self.relation.weight.data.uniform_(-math.pi, math.pi)

    def relation_sizes(self, dim: int) -> dict[str, int]:
        """An angle of each kind for each block."""
        return dict.fromkeys(self.relation_parts, dim // self.multiple)


def so3(phi: Tensor, theta: Tensor, psi: Tensor) -> Orthogonal:
    """The rotation of space with these Euler angles: about z by φ, about x by θ, about z by ψ."""

    def about_z(angle: Tensor) -> Tensor:
        cos, sin, zero, one = _parts(angle)
        return _matrix([cos, sin, zero], [-sin, cos, zero], [zero, zero, one])

    cos, sin, zero, one = _parts(theta)
    about_x = _matrix([one, zero, zero], [zero, cos, sin], [zero, -sin, cos])
    return Orthogonal(about_z(psi) @ about_x @ about_z(phi))


def su2(alpha: Tensor, theta: Tensor, phi: Tensor) -> Orthogonal:
    r"""The unitary :math:`\cos\alpha + i \sin\alpha\, n^T\sigma` of two complex numbers.

    n is the unit vector of latitude θ and longitude φ, σ are the Pauli matrices; a block is the
    real and imaginary part of the first number, then of the second.
    """
    a, length = alpha.cos(), alpha.sin() * theta.cos()
    b, c, d = alpha.sin() * theta.sin(), length * phi.sin(), length * phi.cos()
    # [[a + ib, c + id], [-c + id, a - ib]], each number x + iy as [[x, -y], [y, x]].
    return Orthogonal(_matrix([a, -b, c, -d], [b, a, d, c], [-c, -d, a, b], [d, -c, -b, a]))


class Turning(NagE):
    """Relations are turns of three-dimensional blocks."""

    relation_parts: ClassVar = ("phi", "theta", "psi")
    multiple: ClassVar = 3
    f_relation = staticmethod(so3)

    def inverse_relation(self, r: Tensor) -> Tensor:
        """The three turns back, the last one first."""
        phi, theta, psi = self.relation.split(r)
        return torch.cat([-psi, -theta, -phi], dim=-1)


class Unitary(NagE):
    """Relations are unitary maps of pairs of complex numbers."""

    relation_parts: ClassVar = ("alpha", "theta", "phi")
    multiple: ClassVar = 4
    f_relation = staticmethod(su2)

    def inverse_relation(self, r: Tensor) -> Tensor:
        """The turns about the same axes, back."""
        alpha, theta, phi = self.relation.split(r)
        return torch.cat([-alpha, theta, phi], dim=-1)


class NagESO3(Turning):
    r"""Rotations of three-dimensional blocks, the sum of their distances.

    .. math:: f(h, r, t) = -\sum_l \|R_l h_l - t_l\|, \quad R_l = Z(\psi_l) X(\theta_l) Z(\phi_l)

    Rows: entity μ ``(n,)``; relation the Euler angles φ, θ, ψ ``(n/3,)`` each.

    Reference:
        Yang, Sha, Hong: NagE: Non-Abelian Group Embedding for Knowledge Graphs, CIKM 2020.

    Example:
        >>> NagESO3(entities=3, relations=2, dim=6).relation.weight.shape
        torch.Size([2, 6])
    """

    name = "nage-so3"
    entity_parts: ClassVar = ("mu",)
    D = BlockNorm(3)
    settings: ClassVar = {"dim": 60, "dropout": 0.1, "decay": 0.95, "epochs": 50}
    card: ClassVar = ROW


class NagESO3Squared(Turning):
    r"""Rotations of three-dimensional blocks, squared distance.

    .. math:: f(h, r, t) = -\sum_l \|R_l h_l - t_l\|^2

    Rows and reference as `NagESO3`.

    Example:
        >>> NagESO3Squared(entities=3, relations=2, dim=6).relation.weight.shape
        torch.Size([2, 6])
    """

    name = "nage-so3-squared"
    entity_parts: ClassVar = ("mu",)
    D = SquaredWasserstein()
    settings: ClassVar = {"dim": 96, "dropout": 0.1, "epochs": 50}
    card: ClassVar = replace(ROW, D="-‖· - ·‖²")


class NagESU2(Unitary):
    r"""Unitary maps of pairs of complex numbers, the sum of their distances.

    .. math:: f(h, r, t) = -\sum_l \|U_l h_l - t_l\|, \quad U = \begin{pmatrix}
              \cos\alpha + i \sin\alpha \sin\theta & i e^{-i\phi} \sin\alpha \cos\theta \\
              i e^{i\phi} \sin\alpha \cos\theta & \cos\alpha - i \sin\alpha \sin\theta
              \end{pmatrix}

    Rows: entity μ ``(n,)``, each four numbers the real and imaginary parts of a pair; relation
    the angles α, θ, φ ``(n/4,)`` each.

    Reference:
        Yang, Sha, Hong: NagE: Non-Abelian Group Embedding for Knowledge Graphs, CIKM 2020.

    Example:
        >>> NagESU2(entities=3, relations=2, dim=8).relation.weight.shape
        torch.Size([2, 6])
    """

    name = "nage-su2"
    entity_parts: ClassVar = ("mu",)
    D = BlockNorm(4)
    settings: ClassVar = {"dim": 64, "dropout": 0.1, "decay": 0.95, "epochs": 50}
    card: ClassVar = replace(ROW, f_relation="Ux, U in SU(2)", relation="3*n//4")


class NagESU2Squared(Unitary):
    r"""Unitary maps of pairs of complex numbers, squared distance.

    .. math:: f(h, r, t) = -\sum_l \|U_l h_l - t_l\|^2

    Rows and reference as `NagESU2`.

    Example:
        >>> NagESU2Squared(entities=3, relations=2, dim=8).relation.weight.shape
        torch.Size([2, 6])
    """

    name = "nage-su2-squared"
    entity_parts: ClassVar = ("mu",)
    D = SquaredWasserstein()
    settings: ClassVar = {"dim": 96, "dropout": 0.1, "epochs": 50}
    card: ClassVar = replace(ROW, f_relation="Ux, U in SU(2)", D="-‖· - ·‖²", relation="3*n//4")


def _parts(angle: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Cosine, sine, 0 and 1."""
    return angle.cos(), angle.sin(), torch.zeros_like(angle), torch.ones_like(angle)


def _matrix(*rows: list[Tensor]) -> Tensor:
    """Matrices of entries ``(...)`` each."""
    return torch.stack([torch.stack(row, dim=-1) for row in rows], dim=-2)
