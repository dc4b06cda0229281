"""Penalties on the rows of a batch's triples."""

from abc import abstractmethod
from collections.abc import Iterator

import torch
from torch import Tensor

from kgflow.errors import KgflowError
from kgflow.models import Model, Table, is_distance
from kgflow.training.base import Facts
from kgflow.training.rows import Lookup
from kgflow.training.term import Term


class Regularizer(Term):
    r""":math:`\lambda\, \Omega(h, r, t)` of every true triple, the batch's mean.

    Args:
        model: what is trained.
        weight: λ.
    """

    def __init__(self, model: Model, weight: float) -> None:
        self.model, self.weight = model, weight

    @abstractmethod
    def penalty(self, h: Tensor, r: Tensor, t: Tensor) -> Tensor:
        """Ω of rows ``(P, w)``, ``(P, v)`` and ``(P, w)``, ``(P,)``."""

    def parts(self, facts: Facts, entity: Lookup) -> Iterator[Tensor]:
        """All in one."""
        found = self.penalty(entity(facts.h), self.model.relation(facts.r), entity(facts.t))
        yield self.weight * (found * facts.weight).sum()


class L2(Regularizer):
    r""":math:`\Omega = |h|^2 + |r|^2 + |t|^2`, of the numbers in the rows, biases aside."""

    def penalty(self, h: Tensor, r: Tensor, t: Tensor) -> Tensor:
        """The squared norms."""
        rows = (self.model.entity.plain(h), r, self.model.entity.plain(t))
        return sum((x.square().sum(-1) for x in rows), h.new_zeros(()))


class N3(Regularizer):
    r""":math:`\Omega = \sum_i |h_i|^3 + |r_i|^3 + |t_i|^3`, the nuclear 3-norm.

    A coordinate's modulus is over the parts of its row, where these are of one size: re and im of
    ComplEx, μ and σ of NFE-1; else every number is a coordinate. Biases do not count.

    Reference:
        Lacroix, Usunier, Obozinski: Canonical Tensor Decomposition for Knowledge Base Completion,
        ICML 2018.
    """

    def penalty(self, h: Tensor, r: Tensor, t: Tensor) -> Tensor:
        """The cubes of the moduli."""
        entity, relation = self.model.entity, self.model.relation
        sides = ((entity, h), (relation, r), (entity, t))
        return sum((_cubes(table, x) for table, x in sides), h.new_zeros(()))


class Dura(Regularizer):
    r""":math:`\Omega = |q|^2 + |k|^2`, of the query q and the key k that the triple lowers to.

    For bilinear models q is h∘r and k is t; for squared distances q and k are the two points: for
    NFE-1, :math:`|f_r \circ f_h(x_0)|^2 + |f_t(x_0)|^2 = \sum \mu^2 + \sigma^2` of both sides.
    With reciprocal relations each triple is penalised from both of its ends.

    Reference:
        Zhang, Cai, Wang: Duality-Induced Regularizer for Tensor Factorization Based Knowledge Graph
        Completion, NeurIPS 2020.
    """

    def __init__(self, model: Model, weight: float) -> None:
        super().__init__(model, weight)
        if model.meet is not None:
            raise KgflowError(f"{model.name} is no matrix product: regularize it by l2 or n3")
        self.scale = 0.25 if is_distance(model) else 1.0

    def penalty(self, h: Tensor, r: Tensor, t: Tensor) -> Tensor:
        """The squared norms of both sides."""
        Q, K = self.model.lower_query(h, r).Q, self.model.lower_keys(t).K
        return self.scale * Q.square().sum(-1) + K.square().sum(-1)


def _cubes(table: Table, rows: Tensor) -> Tensor:
    parts = table.split(rows)
    if len({part.shape[-1] for part in parts}) > 1:
        return table.plain(rows).abs().pow(3).sum(-1)
    square = torch.stack(parts).square().sum(0)
    # x^(3/2) has no slope that is a number at 0 if it is made of a root.
    return square.pow(1.5).sum(-1)
