"""What a model is: Eq. 2, f(h, r, t) = D(f_r ∘ f_h(x0), f_t(x0)), told as Q, a, K, b."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar

from torch import Tensor, nn

from kgflow.algebra import Flow, Function, Keys, Lowered, Point, Query, Variable
from kgflow.errors import KgflowError
from kgflow.models.table import Table

MODELS: dict[str, type["Model"]] = {}
"""Every model that has a name."""


class Model(nn.Module, ABC):
    r"""A scoring function that lowers to :math:`S = QK^T + a + b`.

    A model owns one row of numbers per entity and per relation (reciprocal relations included) and
    says two things about rows: what a head and a relation bring to the matrix product (once per
    batch, may hold anything), and what a tail brings (row by row, deterministic). Training,
    ranking, prediction and indexing are written once, against these two.

    Args:
        entities: how many entities, E.
        relations: how many relations with their reciprocals, R.
        dim: the paper's n, the size of each part.
    """

    name: ClassVar[str]
    """What configurations call it; a class with a name is known to `MODELS` from then on."""
    entity_parts: ClassVar[Sequence[str]]
    relation_parts: ClassVar[Sequence[str]]
    nonzero_parts: ClassVar[Sequence[str]] = ()
    """Parts of entity rows at which zero is no choice, so that dropout spares them."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "name" in vars(cls):
            MODELS[cls.name] = cls

    def __init__(self, entities: int, relations: int, dim: int) -> None:
        super().__init__()
        if dim < 1:
            raise KgflowError(f"dimension {dim} is too small: give 1 or more")
        self.dim = dim
        self.entity = Table(entities, dict.fromkeys(self.entity_parts, dim), self.nonzero_parts)
        self.relation = Table(relations, dict.fromkeys(self.relation_parts, dim))

    @abstractmethod
    def lower_query(self, h: Tensor, r: Tensor) -> Query:
        """Q ``(B, m)`` and a ``(B,)`` of entity rows ``(B, w)`` and relation rows ``(B, v)``."""

    @abstractmethod
    def lower_keys(self, t: Tensor) -> Keys:
        """K ``(N, m)`` and b ``(N,)`` of entity rows ``(N, w)``."""

    def query(self, h: Tensor, r: Tensor) -> Query:
        """Q and a of head and relation ids, each ``(B,)``."""
        return self.lower_query(self.entity(h), self.relation(r))

    def keys(self, ids: Tensor) -> Keys:
        """K and b of entity ids ``(N,)``."""
        return self.lower_keys(self.entity(ids))

    def score(self, h: Tensor, r: Tensor, t: Tensor) -> Tensor:
        """The scores of triples of ids, ``(B,)``."""
        query, keys = self.query(h, r), self.keys(t)
        return (query.Q * keys.K).sum(-1) + query.a + keys.b


class FlowModel(Model):
    r"""A model given as a row of the paper's Table 3: x0, the functions f, the similarity D.

    A new one gives itself a name, names the parts of its rows, and says which functions they make:

    Example:
        >>> import torch
        >>> from kgflow.algebra import Affine, Normal, SquaredWasserstein
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
    D: Lowered
    f_entity: Callable[..., Function]
    """f_h and f_t, of the parts of entity rows, each ``(..., n)``."""
    f_relation: Callable[..., Function]
    """f_r, of the parts of relation rows, each ``(..., n)``."""

    def lower_query(self, h: Tensor, r: Tensor) -> Query:
        """D's side of f_r ∘ f_h (x0)."""
        f_h = self.f_entity(*self.entity.split(h))
        f_r = self.f_relation(*self.relation.split(r))
        return self.D.query(Flow(self.x0, f_r @ f_h))

    def lower_keys(self, t: Tensor) -> Keys:
        """D's side of f_t (x0)."""
        return self.D.keys(self.flow(t))

    def flow(self, t: Tensor) -> Flow:
        """The random vector f(x0) of entity rows ``(..., w)``."""
        return Flow(self.x0, self.f_entity(*self.entity.split(t)))
