"""ComplEx: DistMult with complex numbers."""

from typing import ClassVar

import torch
from torch import Tensor

from kgflow.flows import InnerProduct
from kgflow.models.card import Card
from kgflow.models.planar import PlanarModel, complex_scaling, conjugate


class ComplEx(PlanarModel):
    r"""Complex scalings of the point 1, real part of the Hermitian product.

    .. math:: f(h, r, t) = \mathrm{Re} \sum_i h_i r_i \bar t_i

    Rows: entity re, im and relation re, im, each ``(n/2,)``.

    Reference:
        Trouillon et al.: Complex Embeddings for Simple Link Prediction, ICML 2016.

    Example:
        >>> ComplEx(entities=3, relations=2, dim=4).relation.weight.shape
        torch.Size([2, 4])
    """

    name = "complex"
    entity_parts: ClassVar = ("re", "im")
    relation_parts: ClassVar = ("re", "im")
    f_relation = staticmethod(complex_scaling)
    D = InnerProduct()
    settings: ClassVar = {"margin": -4.0, "dropout": 0.1, "lr": 0.01, "epochs": 30, "decay": 0.95}
    card: ClassVar = Card(
        x0="1 ∈ ℂⁿᐟ²",
        f_entity="e ⊙ x",
        f_relation="r ⊙ x",
        D="Re⟨·, ·⟩",
        entity="n",
        relation="n",
        symmetry=True,
        antisymmetry=True,
        inverse=True,
        composition=True,
        year=2016,
    )

    def score_relations(self, h: Tensor, t: Tensor, r: Tensor) -> Tensor:
        """Bilinear: the parts of h times the conjugate of t meet those of r."""
        (x, y), (u, v) = self.entity.split(h), self.entity.split(t)
        return torch.cat([x * u + y * v, x * v - y * u], dim=1) @ r.T

    def inverse_relation(self, r: Tensor) -> Tensor:
        """The conjugates."""
        return conjugate(r)
