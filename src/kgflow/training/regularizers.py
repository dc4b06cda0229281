"""Regularizers of the embeddings of the facts of a batch."""

from abc import abstractmethod
from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor

from kgflow.config import REGULARIZERS, Component, Group
from kgflow.errors import KgflowError
from kgflow.models import Embedding, Model
from kgflow.training.losses.base import Facts
from kgflow.training.losses.terms import Term
from kgflow.training.row_updates import Lookup


class RegularizerSettings(Component):
    """Base class of the settings of regularizers."""

    group: ClassVar[Group] = REGULARIZERS

    @abstractmethod
    def build(self, model: Model) -> Term | None:
        """Create the regularizer of a model, or None for no regularization."""


class NoRegularizerSettings(RegularizerSettings):
    """No regularization."""

    name: Literal["none"] = "none"

    def build(self, model: Model) -> None:
        """Return None."""


class WeightedRegularizerSettings(RegularizerSettings):
    """Settings of regularizers with a weight."""

    weight: Annotated[float, Field(gt=0, description="Weight λ of the regularizer.")] = 0.01


class N3Settings(WeightedRegularizerSettings):
    """Settings of the nuclear 3-norm."""

    name: Literal["n3"] = "n3"

    def build(self, model: Model) -> "N3":
        return N3(model, self.weight)


class DuraSettings(WeightedRegularizerSettings):
    """Settings of DURA."""

    name: Literal["dura"] = "dura"

    def build(self, model: Model) -> "Dura":
        return Dura(model, self.weight)


class N3(Term):
    r"""Nuclear 3-norm, :math:`\lambda \sum_i |h_i|^3 + |r_i|^3 + |t_i|^3`, the mean over a facts.

    The modulus of a coordinate is taken over the parts of an embedding where these have one size:
    re and im of ComplEx, μ and σ of NFE-1; otherwise every number is a coordinate. Biases do not
    count. Entities and relations that a batch holds several times are evaluated once. λ is the
    `weight`.

    Reference:
        Lacroix, Usunier, Obozinski: Canonical Tensor Decomposition for Knowledge Base Completion,
        ICML 2018.
    """

    def __init__(self, model: Model, weight: float) -> None:
        self.model, self.weight = model, weight

    def parts(self, facts: Facts, entity: Lookup) -> Iterator[Tensor]:
        ends, twice = torch.cat([facts.h, facts.t]), facts.weight.repeat(2)
        for table, lookup, ids, weight in (
            (self.model.entity, entity, ends, twice),
            (self.model.relation, self.model.relation, facts.r, facts.weight),
        ):
            once, share = _distinct(ids, weight)
            yield self.weight * (self.penalty(table, lookup(once)) * share).sum()

    def penalty(self, table: Embedding, rows: Tensor) -> Tensor:
        """Return the sum of cubed moduli of embeddings ``(P, w)``, ``(P,)``."""
        parts = table.split(rows)
        if len({part.shape[-1] for part in parts}) > 1:
            return table.without_bias(rows).abs().pow(3).sum(-1)
        square = sum((part.square() for part in parts), rows.new_zeros(()))
        # The root has an infinite slope at 0; so close to 0 the slope is finite.
        return (square * (square + 1e-30).sqrt()).sum(-1)


class Dura(Term):
    r"""DURA, :math:`\lambda (|q|^2 + |k|^2)` of the query vector q and key vector k of a triple.

    For bilinear models q is h∘r and k is t; for squared distances q and k are the two points: for
    NFE-1, :math:`|f_r \circ f_h(x_0)|^2 + |f_t(x_0)|^2 = \sum \mu^2 + \sigma^2` of both sides.
    With inverse relations each triple is penalised in both directions. λ is the `weight`; the model
    must score by an inner product.

    Reference:
        Zhang, Cai, Wang: Duality-Induced Regularizer for Tensor Factorization Based Knowledge Graph
        Completion, NeurIPS 2020.
    """

    def __init__(self, model: Model, weight: float) -> None:
        self.model, self.weight = model, weight
        if model.interaction is not None:
            raise KgflowError(f"{model.name} does not score by an inner product: regularize by n3")
        self.scale = 0.25 if model.is_squared_distance else 1.0

    def parts(self, facts: Facts, entity: Lookup) -> Iterator[Tensor]:
        relations = len(self.model.relation)
        pairs, share = _distinct(facts.h * relations + facts.r, facts.weight)
        heads, relation = pairs // relations, pairs % relations
        Q = self.model.encode_query_ids(entity(heads), relation).Q
        yield self.weight * self.scale * (Q.square().sum(-1) * share).sum()
        tails, share = _distinct(facts.t, facts.weight)
        K = self.model.encode_keys(entity(tails)).K
        yield self.weight * (K.square().sum(-1) * share).sum()


def _distinct(ids: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    """Return the distinct ids, and the sum of the weights of each."""
    once, place = ids.unique(return_inverse=True)
    return once, weight.new_zeros(len(once)).index_add(0, place, weight)
