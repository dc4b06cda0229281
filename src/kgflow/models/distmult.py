"""DistMult: relations as scalings of points."""

from typing import ClassVar

from torch import Tensor

from kgflow.flows import InnerProduct, Point, Scaling
from kgflow.models.base import FlowModel
from kgflow.models.card import Card


class DistMult(FlowModel):
    r"""Scalings of the point 1, inner product.

    .. math:: f(h, r, t) = \sum_i h_i r_i t_i

    Rows: entity σ and relation σ, each ``(n,)``.

    Reference:
        Yang et al.: Embedding Entities and Relations for Learning and Inference, ICLR 2015.

    Example:
        >>> DistMult(entities=3, relations=2, dim=4).entity.weight.shape
        torch.Size([3, 4])
    """

    name = "distmult"
    entity_parts: ClassVar = ("sigma",)
    relation_parts: ClassVar = ("sigma",)
    f_entity = f_relation = Scaling
    x0, D = Point(1.0), InnerProduct()
    settings: ClassVar = {"margin": -4.0, "lr": 0.005, "epochs": 30, "decay": 0.95}
    card: ClassVar = Card(
        x0="1 ∈ ℝⁿ",
        f_entity="e ⊙ x",
        f_relation="r ⊙ x",
        D="⟨·, ·⟩",
        entity="n",
        relation="n",
        symmetry=True,
        antisymmetry=False,
        inverse=False,
        composition=False,
        year=2015,
    )

    def score_relations(self, h: Tensor, t: Tensor, r: Tensor) -> Tensor:
        """Bilinear."""
        return (h * t) @ r.T

    def inverse_relation(self, r: Tensor) -> Tensor:
        """Themselves."""
        return r
