"""TransE: relations as translations of points."""

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, Literal

from pydantic import Field
from torch import Tensor

from kgflow.flows import (
    FactorizedSimilarity,
    Norm,
    PairwiseSimilarity,
    Point,
    SquaredWasserstein,
    Translation,
)
from kgflow.models.card import ALL_PATTERNS, Card, Variant
from kgflow.models.flow_model import FlowModel
from kgflow.models.options import ModelOptions, Option

NORMS: Mapping[str, FactorizedSimilarity | PairwiseSimilarity] = {
    "squared-l2": SquaredWasserstein(),
    "l1": Norm(1),
    "l2": Norm(2),
}

CARD = Card(
    x0="0 ∈ ℝⁿ",
    f_entity="x + e",
    f_relation="x + r",
    D="-‖· - ·‖²",
    entity="n",
    relation="n",
    patterns=ALL_PATTERNS - {"symmetry"},
    year=2013,
)


class TransE(FlowModel):
    r"""Translations of points.

    .. math:: f(h, r, t) = -\|h + r - t\|

    with the squared Euclidean norm, or with the Euclidean or the Manhattan norm as published.

    Embeddings: entity μ and relation μ, each ``(n,)``.

    Reference:
        Bordes et al.: Translating Embeddings for Modeling Multi-relational Data, NIPS 2013.

    Example:
        >>> TransE(entities=3, relations=2, dim=4, norm="l1").entity.weight.shape
        torch.Size([3, 4])
    """

    class Options(ModelOptions):
        """Options of TransE."""

        norm: Literal["squared-l2", "l1", "l2"] = Field(
            "squared-l2", description="Norm of the distance; squared-l2 is a matrix product."
        )

    options: Options
    name = "transe"
    entity_parts: ClassVar = ("mu",)
    relation_parts: ClassVar = ("mu",)
    f_entity = f_relation = Translation
    x0 = Point(0.0)
    card = CARD
    variants: ClassVar = (
        Variant(
            {"norm": "l1"},
            replace(CARD, D="-‖· - ·‖₁", pairwise=True),
            {
                "model.dim": 64,
                "training.loss.margin": 6.0,
                "training.loss.dropout": 0.1,
                "training.epochs": 60,
            },
        ),
        Variant(
            {"norm": "l2"},
            replace(CARD, D="-‖· - ·‖₂", pairwise=True),
            {
                "model.dim": 64,
                "training.loss.margin": 6.0,
                "training.loss.dropout": 0.0,
                "training.optimizer.lr": 0.05,
                "training.epochs": 60,
            },
        ),
    )

    def __init__(self, entities: int, relations: int, dim: int, **options: Option) -> None:
        super().__init__(entities, relations, dim, **options)
        self.D = NORMS[self.options.norm]

    def inverse_relation(self, r: Tensor) -> Tensor:
        """Return the opposite translations."""
        return -r

    def score_relations(self, h: Tensor, t: Tensor, r: Tensor) -> Tensor:
        """Score by the distances of r from t - h."""
        (Q, a), (K, b) = self.D.encode_query(self.flow(t - h)), self.D.encode_keys(self.flow(r))
        S = Q @ K.T if self.interaction is None else self.interaction(Q, K)
        return S + a[:, None] + b
