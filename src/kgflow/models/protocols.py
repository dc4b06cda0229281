"""Capabilities that a model may have: check them with ``isinstance(model.base, EntityFlow)``."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from torch import Tensor

from kgflow.flows import Flow, Query


@runtime_checkable
class EntityFlow(Protocol):
    """Entities are distributions f(x0)."""

    def flow(self, t: Tensor) -> Flow:
        """Return f_t(x0) of entity embeddings ``(..., w)``."""


@runtime_checkable
class RelationFlow(EntityFlow, Protocol):
    """Relations are functions of a random variable as well."""

    def relation_flow(self, r: Tensor) -> Flow:
        """Return f_r(x0) of relation embeddings ``(..., v)``."""

    def composed(self, h: Tensor, r: Tensor) -> Flow:
        """Return f_r ∘ f_h (x0) of embeddings ``(..., w)`` and ``(..., v)``."""


@runtime_checkable
class ComposableRelations(Protocol):
    """A chain of relations is one function, which is encoded as a query like a single relation."""

    def encode_path(self, h: Tensor, path: Sequence[Tensor]) -> Query:
        r"""Encode the queries of :math:`f_{r_k} \circ \dots \circ f_{r_1} \circ f_h (x_0)`.

        Args:
            h: head embeddings, ``(B, w)``.
            path: embeddings of the first, the second, … relation, ``(B, v)`` each.

        Returns:
            Q ``(B, m)`` and a ``(B,)``; for one relation those of `Model.encode_query`.
        """


@runtime_checkable
class RelationScores(Protocol):
    """Scores of entity pairs with all relations, (h, ?, t), are one matrix product."""

    def score_relations(self, h: Tensor, t: Tensor, r: Tensor) -> Tensor:
        """Score all pairs with all relations.

        Args:
            h: head embeddings, ``(P, w)``.
            t: tail embeddings, ``(P, w)``.
            r: relation embeddings, ``(R, v)``.

        Returns:
            Scores, ``(P, R)``.
        """


@runtime_checkable
class InvertibleRelations(Protocol):
    """Every relation has an inverse among the possible relation embeddings."""

    def inverse_relation(self, r: Tensor) -> Tensor:
        r"""Return embeddings r' with :math:`f(t, r', h) = f(h, r, t)` for all h and t.

        Args:
            r: relation embeddings, ``(R, v)``.

        Returns:
            Embeddings of the inverse relations, ``(R, v)``.
        """


@runtime_checkable
class InverseQueries(Protocol):
    """All heads of a tail are scored by one matrix product with additional key vectors."""

    def encode_inverse_query(self, h: Tensor, r: Tensor) -> Query:
        r"""Encode queries whose answers are scored by :math:`f(t, r, h)`, for all t.

        Args:
            h: entity embeddings, ``(B, w)``.
            r: relation embeddings, ``(B, v)``.

        Returns:
            Q ``(B, m + l)`` and a ``(B,)`` with :math:`f(t, r, h) = Q \cdot (K_t, F_t) + a + b_t`.
        """

    def extra_keys(self, t: Tensor) -> Tensor:
        """Return the additional key vectors F ``(N, l)`` of entity embeddings ``(N, w)``."""
