"""TorusE: relations as translations on a torus."""

from dataclasses import replace
from typing import ClassVar

from kgflow.flows import Point, TorusChord, TorusNorm, Translation
from kgflow.models.base import FlowModel
from kgflow.models.card import Card


class TorusModel(FlowModel):
    """Translations of the torus of circumference 1, whose points start anywhere on it."""

    f_entity = f_relation = Translation
    x0 = Point(0.0)

    def __init__(self, entities: int, relations: int, dim: int) -> None:
        super().__init__(entities, relations, dim)
        for table in (self.entity, self.relation):
            table.weight.data.uniform_(-0.5, 0.5)


class TorusEL1(TorusModel):
    r"""Translations on the torus, twice the Manhattan distance.

    .. math:: f(h, r, t) = -2 \sum_i \min_{k \in \mathbb Z} |h_i + r_i - t_i - k|

    Rows: entity and relation angle in turns, each ``(n,)``; only its fractional part counts.

    Reference:
        Ebisu, Ichise: TorusE: Knowledge Graph Embedding on a Lie Group, AAAI 2018.

    Example:
        >>> TorusEL1(entities=3, relations=2, dim=4).entity.weight.shape
        torch.Size([3, 4])
    """

    name = "toruse-l1"
    entity_parts: ClassVar = ("angle",)
    relation_parts: ClassVar = ("angle",)
    D = TorusNorm(1)
    settings: ClassVar = {
        "dim": 64,
        "margin": 9.0,
        "dropout": 0.0,
        "lr": 0.01,
        "epochs": 30,
        "decay": 0.95,
    }
    card: ClassVar = Card(
        x0="[0] ∈ 𝕋ⁿ",
        f_entity="x + [e]",
        f_relation="x + [r]",
        D="-2‖· - ·‖₁",
        entity="n",
        relation="n",
        symmetry=True,
        antisymmetry=True,
        inverse=True,
        composition=True,
        year=2018,
    )


class TorusEL2(TorusModel):
    r"""Translations on the torus, four times the squared Euclidean distance.

    .. math:: f(h, r, t) = -4 \sum_i \min_{k \in \mathbb Z} (h_i + r_i - t_i - k)^2

    Rows and reference as `TorusEL1`.

    Example:
        >>> TorusEL2(entities=3, relations=2, dim=4).entity.weight.shape
        torch.Size([3, 4])
    """

    name = "toruse-l2"
    entity_parts: ClassVar = ("angle",)
    relation_parts: ClassVar = ("angle",)
    D = TorusNorm(2)
    settings: ClassVar = {"dim": 64, "margin": 4.0, "dropout": 0.0, "epochs": 30, "decay": 0.95}
    card: ClassVar = replace(TorusEL1.card, D="-4‖· - ·‖²")


class TorusEEL2(TorusModel):
    r"""Translations on the torus, distance straight through the plane: a matrix product.

    .. math:: f(h, r, t) = -\tfrac14 \|e^{2\pi i (h + r)} - e^{2\pi i t}\|^2

    Rows and reference as `TorusEL1`.

    Example:
        >>> TorusEEL2(entities=3, relations=2, dim=4).entity.weight.shape
        torch.Size([3, 4])
    """

    name = "toruse-el2"
    entity_parts: ClassVar = ("angle",)
    relation_parts: ClassVar = ("angle",)
    D = TorusChord()
    settings: ClassVar = {"margin": 6.0, "dropout": 0.0, "epochs": 30, "decay": 0.95}
    card: ClassVar = replace(TorusEL1.card, D="-¼‖exp 2πi· - exp 2πi·‖²")
