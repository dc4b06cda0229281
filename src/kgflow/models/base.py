"""Base class of all models: f(h, r, t) as query vectors Q, key vectors K and biases a, b."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from torch import Tensor, nn

from kgflow.errors import KgflowError
from kgflow.flows import Keys, PairwiseInteraction, Query
from kgflow.models.card import Card, Variant
from kgflow.models.embedding import Embedding
from kgflow.models.options import ModelOptions, Option

MODELS: dict[str, type["Model"]] = {}
"""Registered models by name."""


class Model(nn.Module, ABC):
    r"""Scoring function :math:`S = QK^T + a + b`, or :math:`g(Q, K) + a + b` with an interaction g.

    A model has a table of entity embeddings and a table of relation embeddings (inverse relations
    included), and encodes them by two methods: `encode_query` for heads with relations, and
    `encode_keys` for tails, each tail on its own. Training, ranking, prediction and nearest-
    neighbour search are written against these two. What only some models can do is in
    `kgflow.models.protocols`.

    A subclass with a `name` is registered under it. An option that needs another class is a
    `Variant` whose class is declared with ``register=False``.

    Args:
        entities: number of entities, E.
        relations: number of relations with their inverse relations, R.
        dim: dimension n of the embedding parts.
        options: options of the model, see `Options`.
    """

    name: str
    """Name in configurations."""
    Options: type[ModelOptions] = ModelOptions
    """Options of the model, with defaults and descriptions."""
    entity_parts: Sequence[str]
    """Names of the parts of an entity embedding."""
    relation_parts: Sequence[str]
    """Names of the parts of a relation embedding."""
    no_dropout: Sequence[str] = ()
    """Entity parts that must not be zero, to which dropout is not applied."""
    dim_multiple: int = 1
    """The dimension must be a multiple of this."""
    reals_per_coordinate: int = 1
    """2 for complex and 4 for quaternion coordinates; every part has n / reals_per_coordinate."""
    card: Card = Card(patterns=frozenset())
    """Entry of the paper's Table 3."""
    settings: Mapping[str, float] = MappingProxyType({})
    """Recommended training settings, where they differ from the general defaults."""
    variants: Sequence[Variant] = ()
    """Cards and recommended settings for other values of the options than the defaults."""

    def __init_subclass__(cls, register: bool = True) -> None:
        super().__init_subclass__()
        if "name" in vars(cls) and register:
            MODELS[cls.name] = cls

    def __init__(self, entities: int, relations: int, dim: int, **options: Option) -> None:
        super().__init__()
        _check_dim(self.name, dim, self.dim_multiple)
        self.dim, self.options = dim, self.Options.parse(self.name, options)
        self.entity = Embedding(entities, self.entity_sizes(dim), self.no_dropout)
        self.relation = Embedding(relations, self.relation_sizes(dim))

    @classmethod
    def variant(cls, options: ModelOptions) -> Variant:
        """Return the card, the recommended settings and the class for some options."""
        chosen = options.model_dump().items()
        default = Variant({}, cls.card, cls.settings)
        return next((v for v in cls.variants if v.options.items() <= chosen), default)

    def entity_sizes(self, dim: int) -> dict[str, int]:
        """Return the width of each part of an entity embedding."""
        return dict.fromkeys(self.entity_parts, dim // self.reals_per_coordinate)

    def relation_sizes(self, dim: int) -> dict[str, int]:
        """Return the width of each part of a relation embedding."""
        return dict.fromkeys(self.relation_parts, dim // self.reals_per_coordinate)

    @abstractmethod
    def encode_query(self, h: Tensor, r: Tensor) -> Query:
        """Encode queries (h, r, ?).

        Args:
            h: head embeddings, ``(B, w)``.
            r: relation embeddings, ``(B, v)``.

        Returns:
            Q ``(B, m)`` and a ``(B,)``.
        """

    @abstractmethod
    def encode_keys(self, t: Tensor) -> Keys:
        """Encode tails: K ``(N, m)`` and b ``(N,)`` of entity embeddings ``(N, w)``."""

    def encode_query_ids(self, h: Tensor, r: Tensor) -> Query:
        """Encode queries of head embeddings ``(B, w)`` and relation ids ``(B,)``.

        Override it if relation embeddings are too large to copy one for each query.
        """
        return self.encode_query(h, self.relation(r))

    @property
    def interaction_function(self) -> PairwiseInteraction | None:
        """Interaction of query and key vectors, or None for the inner product."""
        return None

    @property
    def is_squared_distance(self) -> bool:
        """Whether the score is -|q - k|² with Q = 2q, K = k and b = -|k|², except for a bias."""
        return False

    @property
    def interaction(self) -> Callable[[Tensor, Tensor], Tensor] | None:
        """Interaction of all Q ``(B, m)`` with all K ``(N, l)``, or None for the matrix product."""
        return None if self.interaction_function is None else self.interaction_function.interaction

    def pairwise(self, Q: Tensor, K: Tensor) -> Tensor:
        """Return the interaction ``(...)`` of vectors Q ``(..., m)`` and K ``(..., l)``."""
        if self.interaction_function is None:
            return (Q * K).sum(-1)
        return self.interaction_function.pairwise(Q, K)

    def query(self, h: Tensor, r: Tensor) -> Query:
        """Encode queries of head ids and relation ids, each ``(B,)``."""
        return self.encode_query_ids(self.entity(h), r)

    def keys(self, ids: Tensor) -> Keys:
        """Encode tails of entity ids ``(N,)``."""
        return self.encode_keys(self.entity(ids))

    def score(self, h: Tensor, r: Tensor, t: Tensor) -> Tensor:
        """Score triples of ids ``(B,)``, ``(B,)``."""
        query, keys = self.query(h, r), self.keys(t)
        return self.pairwise(query.Q, keys.K) + query.a + keys.b

    def inverse_ids(self, r: Tensor) -> Tensor:
        """Return the id of r⁻¹ for each relation r, and of r for each r⁻¹, ``(B,)``."""
        return (r + len(self.relation) // 2) % len(self.relation)

    @property
    def base(self) -> "Model":
        """Innermost model, inside all wrappers; it has the capabilities in `protocols`."""
        return self

    @property
    def trained(self) -> "Model":
        """Model that is trained: the wrapped one, for wrappers that only change evaluation."""
        return self


def _check_dim(name: str, dim: int, multiple: int) -> None:
    if dim < 1:
        raise KgflowError(f"dimension {dim} is too small: give {multiple} or more")
    if dim % multiple:
        below, above = (multiple * (dim // multiple + i) for i in (0, 1))
        nearest = f"{below} or {above}" if below else str(above)
        raise KgflowError(
            f"dimension {dim} does not fit {name}, which needs a multiple of {multiple}:"
            f" take {nearest}"
        )
