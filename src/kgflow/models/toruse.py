"""TorusE and MöbiusE: relations as translations of points that wrap around."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from pydantic import Field
from torch import Tensor, nn

from kgflow.flows import MobiusRing, Point, Similarity, TorusChord, TorusNorm, Translation
from kgflow.models.card import Card, Variant, recommended
from kgflow.models.flow_model import FlowModel
from kgflow.models.options import ModelOptions, Option

NORMS: Mapping[str, Similarity] = {"l1": TorusNorm(1), "l2": TorusNorm(2), "el2": TorusChord()}

TORUSE = Card("[0] ∈ 𝕋ⁿ", "x + [e]", "x + [r]", "-2‖· - ·‖₁", "n", "n", 2018, pairwise=True)


class TorusE(FlowModel):
    r"""Translations on the torus of circumference 1.

    .. math:: f(h, r, t) = -2 \sum_i \min_{k \in \mathbb Z} |h_i + r_i - t_i - k|

    as published; with the norm ``l2`` :math:`-4 \sum_i \min_k (h_i + r_i - t_i - k)^2`, with
    ``el2`` :math:`-\tfrac14 \|e^{2\pi i (h + r)} - e^{2\pi i t}\|^2`, a matrix product.

    Embeddings: entity and relation angle in turns, each ``(n,)``, uniform on the torus at first.

    Reference:
        Ebisu, Ichise: TorusE: Knowledge Graph Embedding on a Lie Group, AAAI 2018.

    Example:
        >>> TorusE(entities=3, relations=2, dim=4).entity.weight.shape
        torch.Size([3, 4])
    """

    class Options(ModelOptions):
        """Options of TorusE."""

        norm: Literal["l1", "l2", "el2"] = Field(
            "l1", description="Norm of the distance: l1, l2, or the matrix product el2."
        )

    options: Options
    name = "toruse"
    entity_parts = ("angle",)
    relation_parts = ("angle",)
    f_entity = f_relation = Translation
    x0 = Point(0.0)
    settings = recommended(dim=64, margin=9.0, dropout=0.0, lr=0.01, epochs=30, decay=0.95)
    card = TORUSE
    variants = (
        Variant(
            {"norm": "l2"},
            replace(TORUSE, D="-4‖· - ·‖²"),
            recommended(dim=64, margin=4.0, dropout=0.0, epochs=30, decay=0.95),
        ),
        Variant(
            {"norm": "el2"},
            replace(TORUSE, D="-¼‖exp 2πi· - exp 2πi·‖²", pairwise=False),
            recommended(margin=6.0, dropout=0.0, epochs=30, decay=0.95),
        ),
    )

    def __init__(self, entities: int, relations: int, dim: int, **options: Option) -> None:
        super().__init__(entities, relations, dim, **options)
        self.D = NORMS[self.options.norm]
        for table in (self.entity, self.relation):
            table.weight.data.uniform_(-0.5, 0.5)

    def inverse_relation(self, r: Tensor) -> Tensor:
        return -r


class MobiusE(FlowModel):
    r"""Translations of points on n/2 Möbius rings, under the flat distance of the rings.

    .. math:: f(h, r, t) = -\sum_{i=1}^{n/2} d\big((h_i^x + r_i^x, h_i^u + r_i^u),
              (t_i^x, t_i^u)\big)

    with x the coordinate along the ring and u around its cross-section, both in turns; after one
    turn of x the cross-section is rotated by `twist`: :math:`(x + 1, u) \sim (x, u +
    \text{twist})`, half a turn on a Möbius ring. In space the point is
    :math:`((R + \rho \cos\phi) \cos 2\pi x, (R + \rho \cos\phi) \sin 2\pi x, \rho
    \sin\phi)` with :math:`\phi = 2\pi (u + \text{twist}\, x)`. The distance is the minimum of
    :math:`|\Delta x| + |\Delta u|` over all equivalent differences (see `MobiusRing`).

    Embeddings: entity μ and relation μ, each ``(n,)``: n/2 values of x, then n/2 values of u.

    Reference:
        Chen et al.: MöbiusE: Knowledge Graph Embedding on Möbius Ring, Knowledge-Based Systems
        2021.

    Example:
        >>> MobiusE(entities=3, relations=2, dim=4).entity.weight.shape
        torch.Size([3, 4])
    """

    class Options(ModelOptions):
        """Options of MöbiusE."""

        twist: float = Field(
            0.5,
            description="Rotation of the cross-section per turn of the ring: 1/2 for the Möbius"
            " ring, q/p for the paper's other rings, 0 for the torus.",
        )

    options: Options
    name = "mobiuse"
    entity_parts = ("mu",)
    relation_parts = ("mu",)
    dim_multiple = 2
    f_entity = f_relation = Translation
    x0 = Point(0.0)
    settings = recommended(dim=64, margin=6.0, dropout=0.0, lr=0.005, epochs=30)
    card = Card(
        x0="0",
        f_entity="x + μ (mod 1)",
        f_relation="x + μ (mod 1)",
        D="-Σ min(|x| + |u|, |x - 1| + |u + 1/2|)",
        entity="n",
        relation="n",
        year=2021,
        pairwise=True,
    )

    def __init__(self, entities: int, relations: int, dim: int, **options: Option) -> None:
        super().__init__(entities, relations, dim, **options)
        self.D = MobiusRing(self.options.twist)
        # Over the whole ring: from a small neighbourhood, gradients never lead around it.
        for table in (self.entity, self.relation):
            nn.init.uniform_(table.weight, -0.5, 0.5)

    def inverse_relation(self, r: Tensor) -> Tensor:
        return -r
