"""Flow models: f(h, r, t) = D(f_r ∘ f_h (x0), f_t (x0)), the paper's Eq. 2."""

from collections.abc import Callable, Sequence

from torch import Tensor

from kgflow.flows import (
    Flow,
    Function,
    Keys,
    PairwiseInteraction,
    PaperWasserstein,
    Point,
    Query,
    Similarity,
    SquaredWasserstein,
    Variable,
)
from kgflow.models.base import Model
from kgflow.models.options import Option, RandomVariableOptions


class FlowModel(Model):
    r"""Model given by x0, the functions f and the similarity D, as in the paper's Table 3.

    A new model has a name, the names of the parts of its embeddings, and the functions that the
    parts parametrize:

    Example:
        >>> import torch
        >>> from kgflow.flows import Affine, Normal, SquaredWasserstein
        >>> from kgflow.models import MODELS
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
    """Initial random variable or point."""
    D: Similarity
    """Similarity of two flows."""
    f_entity: Callable[..., Function]
    """f_h and f_t, of the parts of entity embeddings, each ``(..., n)``."""
    f_relation: Callable[..., Function]
    """f_r, of the parts of relation embeddings, each ``(..., n)``."""

    @property
    def interaction_function(self) -> PairwiseInteraction | None:
        return self.D if isinstance(self.D, PairwiseInteraction) else None

    @property
    def is_squared_distance(self) -> bool:
        return isinstance(self.D, SquaredWasserstein | PaperWasserstein)

    def encode_query(self, h: Tensor, r: Tensor) -> Query:
        return self.D.encode_query(self.composed(h, r))

    def encode_path(self, h: Tensor, path: Sequence[Tensor]) -> Query:
        """Compose the functions: that of the head, then those of the relations in order."""
        f = self.flow(h).f
        for r in path:
            f = self.relation_flow(r).f @ f
        return self.D.encode_query(Flow(self.x0, f))

    def encode_keys(self, t: Tensor) -> Keys:
        return self.D.encode_keys(self.flow(t))

    def flow(self, t: Tensor) -> Flow:
        return Flow(self.x0, self.f_entity(*self.entity.split(t)))

    def relation_flow(self, r: Tensor) -> Flow:
        return Flow(self.x0, self.f_relation(*self.relation.split(r)))

    def composed(self, h: Tensor, r: Tensor) -> Flow:
        return Flow(self.x0, self.relation_flow(r).f @ self.flow(h).f)


class RandomFlowModel(FlowModel):
    r"""Flow model whose random variable :math:`x_k = x_0 / k` is chosen by options."""

    Options = RandomVariableOptions
    options: RandomVariableOptions

    def __init__(self, entities: int, relations: int, dim: int, **options: Option) -> None:
        super().__init__(entities, relations, dim, **options)
        self.x0 = self.options.variable()
