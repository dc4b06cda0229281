"""Regularizers of the embeddings of the facts of a batch."""

from abc import abstractmethod
from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor

from kgflow.config import REGULARIZERS, Component, Group
from kgflow.errors import KgflowError
from kgflow.kernels import TILE, blocks
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


class IvrSettings(WeightedRegularizerSettings):
    """Settings of intermediate variables regularization."""

    name: Literal["ivr"] = "ivr"
    product_weight: Annotated[
        float, Field(ge=0, description="Weight of the products of two embeddings.")
    ] = 0.05
    exponent: Annotated[float, Field(gt=1, le=8, description="Exponent α of the norms.")] = 3.0

    def build(self, model: Model) -> "Ivr":
        return Ivr(model, self.weight, self.product_weight, self.exponent)


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
        square = squared_moduli(table, rows)
        # The root has an infinite slope at 0; so close to 0 the slope is finite.
        return (square * (square + 1e-30).sqrt()).sum(-1)


def squared_moduli(table: Embedding, rows: Tensor) -> Tensor:
    """Return the squared modulus of every coordinate of embeddings ``(P, w)``, ``(P, n)``.

    Parts of one size are the parts of a coordinate; otherwise every number is a coordinate.
    """
    parts = table.split(rows)
    if len({part.shape[-1] for part in parts}) > 1:
        return table.without_bias(rows).square()
    return sum((part.square() for part in parts), rows.new_zeros(()))


class Ivr(Term):
    r"""Intermediate variables regularization: norms of embeddings and of products of two of them.

    .. math:: \lambda \sum_i |h_i|^\alpha + |r_i|^\alpha + |t_i|^\alpha
              + \lambda_2 \sum_i |h_i r_i|^\alpha + |r_i t_i|^\alpha + |t_i h_i|^\alpha

    the mean over a batch. The products are what is computed on the way to a score of ComplEx; the
    modulus of a product is the product of the moduli. Coordinates are those of `N3`; entities and
    relations must have the same number of them. λ is the `weight`, λ₂ the `product_weight`, α the
    `exponent`.

    Reference:
        Xiao, Cao: Knowledge Graph Completion by Intermediate Variables Regularization, NeurIPS
        2024.
    """

    def __init__(self, model: Model, weight: float, product_weight: float, exponent: float) -> None:
        super().__init__(model, weight)
        self.product_weight, self.exponent = product_weight, exponent
        tables = (model.entity, model.relation)
        widths = {squared_moduli(table, table.weight[:1]).shape[-1] for table in tables}
        if product_weight and len(widths) > 1:
            raise KgflowError(
                f"embeddings of entities and relations of {model.name} differ in size:"
                " regularize by n3, or set training.regularizer.product_weight=0"
            )

    def parts(self, facts: Facts, entity: Lookup) -> Iterator[Tensor]:
        size = max(1, TILE // self.model.entity.weight.shape[1])
        for low, high in blocks(len(facts.h), size):
            h, r, t, weight = (x[low:high] for x in facts)
            H, T = (self.powers(self.model.entity, entity(ids)) for ids in (h, t))
            R = self.powers(self.model.relation, self.model.relation(r))
            norms = self.weight * sum(x.sum(-1) for x in (H, R, T))
            if self.product_weight:
                norms = norms + self.product_weight * (H * R + R * T + T * H).sum(-1)
            yield (norms * weight).sum()

    def powers(self, table: Embedding, rows: Tensor) -> Tensor:
        """Return the modulus of every coordinate, raised to the power α."""
        return (squared_moduli(table, rows) + 1e-30).pow(self.exponent / 2)


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
        super().__init__(model, weight)
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
