"""RotatE: relations as rotations of complex points."""

import math
from dataclasses import replace
from typing import ClassVar

from kgflow.flows import ComplexNorm, Rotation, SquaredWasserstein
from kgflow.models.card import Card
from kgflow.models.planar import PlanarModel


class RotationModel(PlanarModel):
    """Rotations by phases, which start anywhere on the circle."""

    f_relation = Rotation

    def __init__(self, entities: int, relations: int, dim: int) -> None:
        super().__init__(entities, relations, dim)
        self.relation.weight.data.uniform_(-math.pi, math.pi)


class RotatE(RotationModel):
    r"""Rotations of complex points, sum of moduli, as published.

    .. math:: f(h, r, t) = -\sum_i |h_i e^{i \theta_i} - t_i|

    Rows: entity re, im and relation phase θ, each ``(n/2,)``.

    Reference:
        Sun et al.: RotatE: Knowledge Graph Embedding by Relational Rotation in Complex Space,
        ICLR 2019.

    Example:
        >>> RotatE(entities=3, relations=2, dim=4).relation.weight.shape
        torch.Size([2, 2])
    """

    name = "rotate"
    entity_parts: ClassVar = ("re", "im")
    relation_parts: ClassVar = ("phase",)
    D = ComplexNorm()
    settings: ClassVar = {
        "dim": 64,
        "margin": 6.0,
        "dropout": 0.0,
        "lr": 0.05,
        "epochs": 30,
        "decay": 0.95,
    }
    card: ClassVar = Card(
        x0="1 ∈ ℂⁿᐟ²",
        f_entity="e ⊙ x",
        f_relation="r ⊙ x, |r| = 1",
        D="-Σ|· - ·|",
        entity="n",
        relation="n // 2",
        symmetry=True,
        antisymmetry=True,
        inverse=True,
        composition=True,
        year=2019,
    )


class RotatESquared(RotationModel):
    r"""Rotations of complex points, squared distance: a matrix product.

    .. math:: f(h, r, t) = -\|h \odot e^{i \theta} - t\|^2

    Rows and reference as `RotatE`.

    Example:
        >>> RotatESquared(entities=3, relations=2, dim=4).entity.weight.shape
        torch.Size([3, 4])
    """

    name = "rotate-squared"
    entity_parts: ClassVar = ("re", "im")
    relation_parts: ClassVar = ("phase",)
    D = SquaredWasserstein()
    settings: ClassVar = {"margin": 6.0, "dropout": 0.0, "lr": 0.05, "epochs": 30, "decay": 0.95}
    card: ClassVar = replace(RotatE.card, D="-‖· - ·‖²")
