"""TransE: relations as translations of points."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from pydantic import Field
from torch import Tensor

from kgflow.flows import Norm, Point, Similarity, SquaredWasserstein, Translation
from kgflow.models.card import ALL_PATTERNS, Card, Variant, recommended
from kgflow.models.flow_model import FlowModel
from kgflow.models.options import ModelOptions, Option

NORMS: Mapping[str, Similarity] = {"squared-l2": SquaredWasserstein(), "l1": Norm(1), "l2": Norm(2)}

CARD = Card("0 ∈ ℝⁿ", "x + e", "x + r", "-‖· - ·‖²", "n", "n", 2013, ALL_PATTERNS - {"symmetry"})


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
    entity_parts = ("mu",)
    relation_parts = ("mu",)
    f_entity = f_relation = Translation
    x0 = Point(0.0)
    card = CARD
    variants = (
        Variant(
            {"norm": "l1"},
            replace(CARD, D="-‖· - ·‖₁", pairwise=True),
            recommended(dim=64, margin=6.0, dropout=0.1, epochs=60),
        ),
        Variant(
            {"norm": "l2"},
            replace(CARD, D="-‖· - ·‖₂", pairwise=True),
            recommended(dim=64, margin=6.0, dropout=0.0, lr=0.05, epochs=60),
        ),
    )

    def __init__(self, entities: int, relations: int, dim: int, **options: Option) -> None:
        super().__init__(entities, relations, dim, **options)
        self.D = NORMS[self.options.norm]

    def inverse_relation(self, r: Tensor) -> Tensor:
        return -r

    def score_relations(self, h: Tensor, t: Tensor, r: Tensor) -> Tensor:
        """Score by the distances of r from t - h."""
        (Q, a), (K, b) = self.D.encode_query(self.flow(t - h)), self.D.encode_keys(self.flow(r))
        S = Q @ K.T if self.interaction is None else self.interaction(Q, K)
        return S + a[:, None] + b
