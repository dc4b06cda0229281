"""MöbiusE: translations on Möbius rings."""

from typing import ClassVar

import torch

from kgflow.flows import MobiusRing, Point, Translation
from kgflow.models.base import FlowModel
from kgflow.models.card import Card


class MobiusE(FlowModel):
    r"""Translations of points on n/2 Möbius rings, the rings' flat distance.

    .. math:: f(h, r, t) = -\sum_{i=1}^{n/2} d\big((h_i^x + r_i^x, h_i^u + r_i^u),
              (t_i^x, t_i^u)\big)

    where x runs along the ring and u around its cross-section, both in turns, and after one turn
    of x the cross-section has turned by `twist`: :math:`(x + 1, u) \sim (x, u + \text{twist})`,
    half a turn on a Möbius ring. In space the point is :math:`((R + \rho \cos\phi) \cos 2\pi x,
    (R + \rho \cos\phi) \sin 2\pi x, \rho \sin\phi)` with :math:`\phi = 2\pi (u + \text{twist}\,
    x)`. The distance is the least :math:`|\Delta x| + |\Delta u|` over all that is the same
    difference (see `MobiusRing`).

    Rows: entity μ and relation μ, each ``(n,)``: the n/2 numbers x, then the n/2 numbers u.

    Args:
        entities: how many entities.
        relations: how many relations, with their inverse_relations.
        dim: n, even.
        twist: 1/2 for the Möbius ring, q/p for the paper's other rings, 0 for the torus.

    Reference:
        Chen et al.: MöbiusE: Knowledge Graph Embedding on Möbius Ring, Knowledge-Based Systems
        2021.

    Example:
        >>> MobiusE(entities=3, relations=2, dim=4).entity.weight.shape
        torch.Size([3, 4])
    """

    name = "mobiuse"
    entity_parts: ClassVar = ("mu",)
    relation_parts: ClassVar = ("mu",)
    multiple: ClassVar = 2
    f_entity = f_relation = Translation
    x0 = Point(0.0)
    settings: ClassVar = {"dim": 64, "margin": 6.0, "dropout": 0.0, "lr": 0.005, "epochs": 30}
    card: ClassVar = Card(
        x0="0",
        f_entity="x + μ (mod 1)",
        f_relation="x + μ (mod 1)",
        D="-Σ min(|x| + |u|, |x - 1| + |u + 1/2|)",
        entity="n",
        relation="n",
        symmetry=True,
        antisymmetry=True,
        inverse=True,
        composition=True,
        year=2021,
    )

    def __init__(self, entities: int, relations: int, dim: int, twist: float = 0.5) -> None:
        super().__init__(entities, relations, dim)
        self.D = MobiusRing(twist)
        # All around the rings: from a corner of them, no one would find the way round.
        for table in (self.entity, self.relation):
            torch.nn.init.uniform_(table.weight, -0.5, 0.5)
