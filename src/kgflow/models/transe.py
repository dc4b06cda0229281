"""TransE: relations as translations of points."""

from typing import ClassVar

from kgflow.algebra import Norm, Point, SquaredWasserstein, Translation
from kgflow.models.model import FlowModel


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


class TransEL1(FlowModel):
    r"""Translations of the origin, Manhattan distance, as published.

    .. math:: f(h, r, t) = -\|h + r - t\|_1

    Rows: entity μ and relation μ, each ``(n,)``.

    Reference:
        Bordes et al.: Translating Embeddings for Modeling Multi-relational Data, NIPS 2013.

    Example:
        >>> TransEL1(entities=3, relations=2, dim=4).entity.weight.shape
        torch.Size([3, 4])
    """

    name = "transe-l1"
    entity_parts: ClassVar = ("mu",)
    relation_parts: ClassVar = ("mu",)
    f_entity = f_relation = Translation
    x0, D = Point(0.0), Norm(1)
