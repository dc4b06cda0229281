"""NagE: relations as elements of the non-Abelian groups SO(3) and SU(2)."""

import math
from dataclasses import replace
from typing import Literal

import torch
from pydantic import Field
from torch import Tensor

from kgflow.flows import BlockNorm, Orthogonal, Point, SquaredWasserstein, Translation
from kgflow.models.card import Card, Variant, recommended
from kgflow.models.flow_model import FlowModel
from kgflow.models.options import ModelOptions, Option

SO3_CARD = Card("0", "x + μ", "Rx, R in SO(3)", "-Σ‖· - ·‖", "n", "n", 2020, pairwise=True)
SU2_CARD = replace(SO3_CARD, f_relation="Ux, U in SU(2)", relation="3*n//4")


def squared_variant(card: Card) -> Variant:
    """Return the variant with squared distances."""
    squared = replace(card, D="-‖· - ·‖²", pairwise=False)
    return Variant({"norm": "squared-l2"}, squared, recommended(dim=96, dropout=0.1, epochs=50))


class NagEModel(FlowModel):
    r"""Orthogonal maps of blocks of `dim_multiple` coordinates, three angles per block.

    Angles are initialized uniformly in [-π, π).

    Reference:
        Yang, Sha, Hong: NagE: Non-Abelian Group Embedding for Knowledge Graphs, CIKM 2020.
    """

    class Options(ModelOptions):
        """Options of NagE."""

        norm: Literal["l2", "squared-l2"] = Field(
            "l2", description="Norm of the blocks' distances; squared-l2 is a matrix product."
        )

    options: Options
    entity_parts = ("mu",)
    f_entity = Translation
    x0 = Point(0.0)

    def __init__(self, entities: int, relations: int, dim: int, **options: Option) -> None:
        super().__init__(entities, relations, dim, **options)
        squared = self.options.norm == "squared-l2"
        self.D = SquaredWasserstein() if squared else BlockNorm(self.dim_multiple)
        self.relation.weight.data.uniform_(-math.pi, math.pi)

    def relation_sizes(self, dim: int) -> dict[str, int]:
        return dict.fromkeys(self.relation_parts, dim // self.dim_multiple)


def so3(phi: Tensor, theta: Tensor, psi: Tensor) -> Orthogonal:
    """Return the rotation with Euler angles: about z by φ, about x by θ, about z by ψ."""

    def about_z(angle: Tensor) -> Tensor:
        cos, sin, zero, one = _entries(angle)
        return _matrix([cos, sin, zero], [-sin, cos, zero], [zero, zero, one])

    cos, sin, zero, one = _entries(theta)
    about_x = _matrix([one, zero, zero], [zero, cos, sin], [zero, -sin, cos])
    return Orthogonal(about_z(psi) @ about_x @ about_z(phi))


def su2(alpha: Tensor, theta: Tensor, phi: Tensor) -> Orthogonal:
    r"""Return the unitary map :math:`\cos\alpha + i \sin\alpha\, n^T\sigma` of two complex numbers.

    n is the unit vector of latitude θ and longitude φ, σ are the Pauli matrices; a block is the
    real and imaginary part of the first number, then of the second.
    """
    a, length = alpha.cos(), alpha.sin() * theta.cos()
    b, c, d = alpha.sin() * theta.sin(), length * phi.sin(), length * phi.cos()
    # [[a + ib, c + id], [-c + id, a - ib]], each number x + iy as [[x, -y], [y, x]].
    return Orthogonal(_matrix([a, -b, c, -d], [b, a, d, c], [-c, -d, a, b], [d, -c, -b, a]))


class NagESO3(NagEModel):
    r"""Rotations of three-dimensional blocks, under the sum of their distances.

    .. math:: f(h, r, t) = -\sum_l \|R_l h_l - t_l\|, \quad R_l = Z(\psi_l) X(\theta_l) Z(\phi_l)

    or of their squared distances. Reference as `NagEModel`.

    Embeddings: entity μ ``(n,)``; relation the Euler angles φ, θ, ψ ``(n/3,)`` each.

    Example:
        >>> NagESO3(entities=3, relations=2, dim=6).relation.weight.shape
        torch.Size([2, 6])
    """

    name = "nage-so3"
    relation_parts = ("phi", "theta", "psi")
    dim_multiple = 3
    f_relation = staticmethod(so3)
    settings = recommended(dim=60, dropout=0.1, decay=0.95, epochs=50)
    card = SO3_CARD
    variants = (squared_variant(SO3_CARD),)

    def inverse_relation(self, r: Tensor) -> Tensor:
        phi, theta, psi = self.relation.split(r)
        return torch.cat([-psi, -theta, -phi], dim=-1)


class NagESU2(NagEModel):
    r"""Unitary maps of pairs of complex numbers, under the sum of their distances.

    .. math:: f(h, r, t) = -\sum_l \|U_l h_l - t_l\|, \quad U = \begin{pmatrix}
              \cos\alpha + i \sin\alpha \sin\theta & i e^{-i\phi} \sin\alpha \cos\theta \\
              i e^{i\phi} \sin\alpha \cos\theta & \cos\alpha - i \sin\alpha \sin\theta
              \end{pmatrix}

    or of their squared distances. Reference as `NagEModel`.

    Embeddings: entity μ ``(n,)``, in blocks of four the real and imaginary parts of a pair;
    relation the angles α, θ, φ ``(n/4,)`` each.

    Example:
        >>> NagESU2(entities=3, relations=2, dim=8).relation.weight.shape
        torch.Size([2, 6])
    """

    name = "nage-su2"
    relation_parts = ("alpha", "theta", "phi")
    dim_multiple = 4
    f_relation = staticmethod(su2)
    settings = recommended(dim=64, dropout=0.1, decay=0.95, epochs=50)
    card = SU2_CARD
    variants = (squared_variant(SU2_CARD),)

    def inverse_relation(self, r: Tensor) -> Tensor:
        alpha, theta, phi = self.relation.split(r)
        return torch.cat([-alpha, theta, phi], dim=-1)


def _entries(angle: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return cosine, sine, 0 and 1."""
    return angle.cos(), angle.sin(), torch.zeros_like(angle), torch.ones_like(angle)


def _matrix(*rows: list[Tensor]) -> Tensor:
    """Return matrices ``(..., k, k)`` of entries ``(...)`` each."""
    return torch.stack([torch.stack(row, dim=-1) for row in rows], dim=-2)
