"""TransE: relations as translations of points."""

from dataclasses import replace
from typing import ClassVar

import torch
from torch import Tensor

from kgflow.flows import Norm, Point, SquaredWasserstein, Translation
from kgflow.models.base import FlowModel
from kgflow.models.card import Card
from kgflow.models.score_relations import moved


class TransE(FlowModel):
    r"""Translations of the origin, squared Euclidean distance.

    .. math:: f(h, r, t) = -\|h + r - t\|^2

    Rows: entity μ and relation μ, each ``(n,)``.

    Reference:
        Bordes et al.: Translating Embeddings for Modeling Multi-relational Data, NIPS 2013.

    Example:
        >>> TransE(entities=3, relations=2, dim=4).entity.weight.shape
        torch.Size([3, 4])
    """

    name = "transe"
    entity_parts: ClassVar = ("mu",)
    relation_parts: ClassVar = ("mu",)
    f_entity = f_relation = Translation
    x0, D = Point(0.0), SquaredWasserstein()
    card: ClassVar = Card(
        x0="0 ∈ ℝⁿ",
        f_entity="x + e",
        f_relation="x + r",
        D="-‖· - ·‖²",
        entity="n",
        relation="n",
        symmetry=False,
        antisymmetry=True,
        inverse=True,
        composition=True,
        year=2013,
    )

    def score_relations(self, h: Tensor, t: Tensor, r: Tensor) -> Tensor:
        """Relations are translations."""
        return moved(self.encode_keys(h).K, self.encode_keys(t).K, torch.ones_like(r), r)


class TransEL1(FlowModel):
    r"""Translations of the origin, Manhattan distance, as published.

    .. math:: f(h, r, t) = -\|h + r - t\|_1

    Rows and reference as `TransE`.

    Example:
        >>> TransEL1(entities=3, relations=2, dim=4).entity.weight.shape
        torch.Size([3, 4])
    """

    name = "transe-l1"
    entity_parts: ClassVar = ("mu",)
    relation_parts: ClassVar = ("mu",)
    f_entity = f_relation = Translation
    x0, D = Point(0.0), Norm(1)
    settings: ClassVar = {"dim": 64, "margin": 6.0, "dropout": 0.1, "epochs": 60}
    card: ClassVar = replace(TransE.card, D="-‖· - ·‖₁")


class TransEL2(FlowModel):
    r"""Translations of the origin, Euclidean distance, as published.

    .. math:: f(h, r, t) = -\|h + r - t\|_2

    Rows and reference as `TransE`.

    Example:
        >>> TransEL2(entities=3, relations=2, dim=4).entity.weight.shape
        torch.Size([3, 4])
    """

    name = "transe-l2"
    entity_parts: ClassVar = ("mu",)
    relation_parts: ClassVar = ("mu",)
    f_entity = f_relation = Translation
    x0, D = Point(0.0), Norm(2)
    settings: ClassVar = {"dim": 64, "margin": 6.0, "dropout": 0.0, "lr": 0.05, "epochs": 60}
    card: ClassVar = replace(TransE.card, D="-‖· - ·‖₂")
