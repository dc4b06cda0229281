"""What a model is: Eq. 2, f(h, r, t) = D(f_r ∘ f_h(x0), f_t(x0)), told as Q, a, K, b."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from torch import Tensor, nn

from kgflow.errors import KgflowError
from kgflow.flows import (
    FactorizedSimilarity,
    Flow,
    Function,
    Keys,
    PairwiseSimilarity,
    Point,
    Query,
    Rotation,
    Translation,
    Variable,
)
from kgflow.models.card import Card
from kgflow.models.embedding import Embedding

MODELS: dict[str, type["Model"]] = {}
"""Every model that has a name."""


class Model(nn.Module, ABC):
    r"""A scoring function that lowers to :math:`S = QK^T + a + b`, or to a g(Q, K) in its place.

    A model owns one row of numbers per entity and per relation (reciprocal relations included) and
    says two things about rows: what a head and a relation bring to the matrix product (once per
    batch, may hold anything), and what a tail brings (row by row, deterministic). Training,
    ranking, prediction and indexing are written once, against these two.

    Args:
        entities: how many entities, E.
        relations: how many relations with their inverse_relations, R.
        dim: the paper's n, the size of each part.
    """

    name: ClassVar[str]
    """What configurations call it; a class with a name is known to `MODELS` from then on."""
    entity_parts: ClassVar[Sequence[str]]
    relation_parts: ClassVar[Sequence[str]]
    nonzero_parts: ClassVar[Sequence[str]] = ()
    """Parts of entity rows at which zero is no choice, so that dropout spares them."""
    multiple: ClassVar[int] = 1
    """What the dimension must be a multiple of: 2 for complex numbers, 4 for quaternions."""
    share: ClassVar[int] = 1
    """Every part of a row holds n/share numbers: 2 for the parts of complex numbers."""
    card: ClassVar[Card]
    """The model in the language of the paper's Table 3."""
    settings: ClassVar[Mapping[str, float]] = {}
    """Training settings that suit this model better than the general defaults."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "name" in vars(cls):
            MODELS[cls.name] = cls

    def __init__(self, entities: int, relations: int, dim: int) -> None:
        super().__init__()
        if dim < 1:
            raise KgflowError(f"dimension {dim} is too small: give {self.multiple} or more")
        if dim % self.multiple:
            below, above = (self.multiple * (dim // self.multiple + i) for i in (0, 1))
            nearest = f"{below} or {above}" if below else str(above)
            raise KgflowError(
                f"dimension {dim} does not fit {self.name}, which needs a multiple of"
                f" {self.multiple}: take {nearest}"
            )
        self.dim = dim
        self.entity = Embedding(entities, self.entity_sizes(dim), self.nonzero_parts)
        self.relation = Embedding(relations, self.relation_sizes(dim))

    def entity_sizes(self, dim: int) -> dict[str, int]:
        """The width of each part of an entity's row."""
        return dict.fromkeys(self.entity_parts, dim // self.share)

    def relation_sizes(self, dim: int) -> dict[str, int]:
        """The width of each part of a relation's row."""
        return dict.fromkeys(self.relation_parts, dim // self.share)

    @property
    def interaction(self) -> Callable[[Tensor, Tensor], Tensor] | None:
        """How all Q ``(B, m)`` meet all K ``(N, l)``, or None for the matrix product."""
        return None

    def pairwise(self, Q: Tensor, K: Tensor) -> Tensor:
        """How rows of Q ``(..., m)`` meet rows of K ``(..., l)``, broadcast, ``(...)``."""
        return (Q * K).sum(-1)

    @abstractmethod
    def encode_query(self, h: Tensor, r: Tensor) -> Query:
        """Q ``(B, m)`` and a ``(B,)`` of entity rows ``(B, w)`` and relation rows ``(B, v)``."""

    @abstractmethod
    def encode_keys(self, t: Tensor) -> Keys:
        """K ``(N, m)`` and b ``(N,)`` of entity rows ``(N, w)``."""

    def score_relations(self, h: Tensor, t: Tensor, r: Tensor) -> Tensor | None:
        """The scores of pairs with all relations, (h, ?, t), where they are one matrix product.

        Of entity rows ``(P, w)`` twice and relation rows ``(R, v)``: ``(P, R)``; or None.
        """
        return None

    def inverse_relation(self, r: Tensor) -> Tensor | None:
        r"""Rows r' of the relations read backwards, :math:`f(t, r', h) = f(h, r, t)` for all h, t.

        Of relation rows ``(R, v)``, ``(R, v)``; or None where the model has no such relations.
        """
        return None

    def encode_inverse_query(self, h: Tensor, r: Tensor) -> Query | None:
        r"""The scores :math:`f(t, r, h)` of all t, by the keys that tails have and `further` ones.

        Of entity rows ``(B, w)`` and relation rows ``(B, v)``: Q ``(B, m + l)`` and a ``(B,)`` such
        that :math:`f(t, r, h) = Q \cdot (K_t, F_t) + a + b_t`; or None where there are none.
        """
        back = self.inverse_relation(r)
        return None if back is None else self.encode_query(h, back)

    def extra_keys(self, t: Tensor) -> Tensor:
        """F ``(N, l)`` of entity rows ``(N, w)``: what `encode_inverse_query` needs beside K."""
        return t[:, :0]

    def flow(self, t: Tensor) -> Flow | None:
        """What entity rows ``(..., w)`` are as images of an x0, or None where they are none."""
        return None

    def relation_flow(self, r: Tensor) -> Flow | None:
        """What relation rows ``(..., v)`` make of x0, or None where they are no functions."""
        return None

    def composed(self, h: Tensor, r: Tensor) -> Flow | None:
        """f_r ∘ f_h (x0) of rows ``(..., w)`` and ``(..., v)``, or None where it is none."""
        return None

    def ask(self, h: Tensor, r: Tensor) -> Query:
        """Q and a of entity rows ``(B, w)`` and relation ids ``(B,)``.

        To be overridden where relations are too large to copy one for each query.
        """
        return self.encode_query(h, self.relation(r))

    def encode_answer_query(self, h: Tensor, r: Tensor, back: Tensor) -> Query:
        """Q and a, to meet `answer_keys`.

        Args:
            h: entity rows, ``(B, w)``.
            r: rows of their relations, ``(B, v)``.
            back: rows of the inverse_relations of these, ``(B, v)``.
        """
        return self.encode_query(h, r)

    def reciprocal(self, r: Tensor) -> Tensor:
        """The id of r⁻¹ for each relation r, and of r for each r⁻¹, ``(B,)``."""
        return (r + len(self.relation) // 2) % len(self.relation)

    def query(self, h: Tensor, r: Tensor) -> Query:
        """Q and a of head and relation ids, each ``(B,)``, to meet `answer_keys`."""
        return self.ask(self.entity(h), r)

    def answer_keys(self, t: Tensor) -> Keys:
        """K and b of entity rows ``(N, w)`` as answers; training does not know of these."""
        return self.encode_keys(t)

    def keys(self, ids: Tensor) -> Keys:
        """K and b of entity ids ``(N,)``, to meet `query`."""
        return self.answer_keys(self.entity(ids))

    def score(self, h: Tensor, r: Tensor, t: Tensor) -> Tensor:
        """The scores of triples of ids, ``(B,)``."""
        query, keys = self.query(h, r), self.keys(t)
        return self.pairwise(query.Q, keys.K) + query.a + keys.b


class PairwiseModel(Model):
    r"""A model whose scores are :math:`g(Q, K) + a + b` with a g that is no inner product."""

    @property
    def interaction(self) -> Callable[[Tensor, Tensor], Tensor]:
        """As `matrix`."""
        return self.matrix

    @abstractmethod
    def pairwise(self, Q: Tensor, K: Tensor) -> Tensor:
        """G of rows ``(..., m)`` and ``(..., l)``, broadcast, ``(...)``."""

    def matrix(self, Q: Tensor, K: Tensor) -> Tensor:
        """G of every Q ``(B, m)`` and every K ``(N, l)``, ``(B, N)``; all held at once."""
        return self.pairwise(Q[:, None], K)


class FlowModel(Model):
    r"""A model given as a row of the paper's Table 3: x0, the functions f, the similarity D.

    A new one gives itself a name, names the parts of its rows, and says which functions they make:

    Example:
        >>> import torch
        >>> from kgflow.flows import Affine, Normal, SquaredWasserstein
        >>> class Mine(FlowModel):
        ...     name = "mine"
        ...     entity_parts = ("mu", "sigma")
        ...     relation_parts = ("mu", "sigma")
        ...     x0, D = Normal(), SquaredWasserstein()
        ...     f_entity = f_relation = Affine
        >>> model = MODELS.pop("mine")(entities=10, relations=4, dim=8)
        >>> model.score(torch.tensor([0]), torch.tensor([1]), torch.tensor([2])).shape
        torch.Size([1])
    """

    x0: Variable | Point
    D: FactorizedSimilarity | PairwiseSimilarity
    f_entity: Callable[..., Function]
    """f_h and f_t, of the parts of entity rows, each ``(..., n)``."""
    f_relation: Callable[..., Function]
    """f_r, of the parts of relation rows, each ``(..., n)``."""

    @property
    def interaction(self) -> Callable[[Tensor, Tensor], Tensor] | None:
        """As D says."""
        return self.D.interaction if isinstance(self.D, PairwiseSimilarity) else None

    def pairwise(self, Q: Tensor, K: Tensor) -> Tensor:
        """As D says."""
        return (
            self.D.pairwise(Q, K)
            if isinstance(self.D, PairwiseSimilarity)
            else super().pairwise(Q, K)
        )

    def encode_query(self, h: Tensor, r: Tensor) -> Query:
        """D's side of f_r ∘ f_h (x0)."""
        return self.D.encode_query(self.composed(h, r))

    def encode_keys(self, t: Tensor) -> Keys:
        """D's side of f_t (x0)."""
        return self.D.encode_keys(self.flow(t))

    def inverse_relation(self, r: Tensor) -> Tensor | None:
        """Translations and rotations move back as far; no distance notices the difference."""
        return -r if self.f_relation in (Translation, Rotation) else None

    def flow(self, t: Tensor) -> Flow:
        """The random vector f(x0) of entity rows ``(..., w)``."""
        return Flow(self.x0, self.f_entity(*self.entity.split(t)))

    def relation_flow(self, r: Tensor) -> Flow:
        """The random vector f_r(x0) of relation rows ``(..., v)``."""
        return Flow(self.x0, self.f_relation(*self.relation.split(r)))

    def composed(self, h: Tensor, r: Tensor) -> Flow:
        """The random vector f_r ∘ f_h (x0) of rows ``(..., w)`` and ``(..., v)``."""
        return Flow(self.x0, self.relation_flow(r).f @ self.flow(h).f)
