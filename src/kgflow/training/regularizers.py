"""Penalties on the rows of a batch's triples."""

from abc import abstractmethod
from collections.abc import Iterator

import torch
from torch import Tensor

from kgflow.errors import KgflowError
from kgflow.models import Embedding, Model
from kgflow.training.base import Facts
from kgflow.training.rows import Lookup
from kgflow.training.term import Term


class Regularizer(Term):
    r""":math:`\lambda\, \Omega(h, r, t)` of every true triple, the batch's mean.

    Ω is a sum of what entities, relations and queries have each, and a batch names many of them
    often: each is taken once, times the shares of its triples.

    Args:
        model: what is trained.
        weight: λ.
    """

    def __init__(self, model: Model, weight: float) -> None:
        self.model, self.weight = model, weight


class RowRegularizer(Regularizer):
    r""":math:`\Omega = \omega(h) + \omega(r) + \omega(t)`."""

    @abstractmethod
    def penalty(self, table: Embedding, rows: Tensor) -> Tensor:
        """ω of rows ``(P, w)`` of a table, ``(P,)``."""

    def parts(self, facts: Facts, entity: Lookup) -> Iterator[Tensor]:
        """Entities, then relations."""
        ends, twice = torch.cat([facts.h, facts.t]), facts.weight.repeat(2)
        for table, lookup, ids, weight in (
            (self.model.entity, entity, ends, twice),
            (self.model.relation, self.model.relation, facts.r, facts.weight),
        ):
            once, share = _shares(ids, weight)
            yield self.weight * (self.penalty(table, lookup(once)) * share).sum()


class L2(RowRegularizer):
    r""":math:`\Omega = |h|^2 + |r|^2 + |t|^2`, of the numbers in the rows, biases aside."""

    def penalty(self, table: Embedding, rows: Tensor) -> Tensor:
        """The squared norm."""
        return table.without_bias(rows).square().sum(-1)


class N3(RowRegularizer):
    r""":math:`\Omega = \sum_i |h_i|^3 + |r_i|^3 + |t_i|^3`, the nuclear 3-norm.

    A coordinate's modulus is over the parts of its row, where these are of one size: re and im of
    ComplEx, μ and σ of NFE-1; else every number is a coordinate. Biases do not count.

    Reference:
        Lacroix, Usunier, Obozinski: Canonical Tensor Decomposition for Knowledge Base Completion,
        ICML 2018.
    """

    def penalty(self, table: Embedding, rows: Tensor) -> Tensor:
        """The cubes of the moduli."""
        parts = table.split(rows)
        if len({part.shape[-1] for part in parts}) > 1:
            return table.without_bias(rows).abs().pow(3).sum(-1)
        square = sum((part.square() for part in parts), rows.new_zeros(()))
        # At 0 a root has no slope that is a number; this near to it it has, and is as good.
        return (square * (square + 1e-30).sqrt()).sum(-1)


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
        if model.interaction is not None:
            raise KgflowError(f"{model.name} is no matrix product: regularize it by l2 or n3")
        self.scale = 0.25 if model.is_squared_distance else 1.0

    def parts(self, facts: Facts, entity: Lookup) -> Iterator[Tensor]:
        """Queries, then keys."""
        relations = len(self.model.relation)
        pairs, share = _shares(facts.h * relations + facts.r, facts.weight)
        heads, relation = pairs // relations, pairs % relations
        Q = self.model.encode_query_ids(entity(heads), relation).Q
        yield self.weight * self.scale * (Q.square().sum(-1) * share).sum()
        tails, share = _shares(facts.t, facts.weight)
        K = self.model.encode_keys(entity(tails)).K
        yield self.weight * (K.square().sum(-1) * share).sum()


def _shares(ids: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    """Each id once, and the sum of its weights."""
    once, place = ids.unique(return_inverse=True)
    return once, weight.new_zeros(len(once)).index_add(0, place, weight)
