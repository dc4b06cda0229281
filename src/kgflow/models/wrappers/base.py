"""Base class of wrappers, and the entity bias."""

from torch import Tensor, nn

from kgflow.errors import KgflowError
from kgflow.flows import Keys, PairwiseInteraction, Query
from kgflow.models.base import Model
from kgflow.models.embedding import Embedding


class Wrapper(Model):
    """Model around another model, whose embedding tables and interaction it shares.

    Args:
        model: wrapped model.
    """

    def __init__(self, model: Model) -> None:
        nn.Module.__init__(self)  # no tables of its own
        self.model = model
        self.name, self.dim, self.options = model.name, model.dim, model.options

    @property
    def entity(self) -> Embedding:  # type: ignore[override]
        return self.model.entity

    @property
    def relation(self) -> Embedding:  # type: ignore[override]
        return self.model.relation

    @property
    def interaction_function(self) -> PairwiseInteraction | None:
        return self.model.interaction_function

    @property
    def base(self) -> Model:
        return self.model.base


class Biased(Wrapper):
    r"""Model with an entity bias that is added to the score of every tail.

    .. math:: f(h, r, t) + \beta_t, \quad S = QK^T + a + (b + \beta)

    The bias is one more column of the entity embedding table, initialized to zero, so that
    everything that works on one table includes it.

    Args:
        model: model without an entity bias.

    Example:
        >>> from kgflow.models import build
        >>> Biased(build("distmult", entities=5, relations=2, dim=4)).entity
        Embedding(5, sigma: 4, bias: 1)
    """

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        if "bias" in model.entity.parts:
            raise KgflowError(f"{model.name} already has an entity bias: leave 'bias' out")
        model.entity.add_bias()

    @property
    def is_squared_distance(self) -> bool:
        return self.model.is_squared_distance

    def encode_query(self, h: Tensor, r: Tensor) -> Query:
        return self.model.encode_query(self.entity.without_bias(h), r)

    def encode_query_ids(self, h: Tensor, r: Tensor) -> Query:
        return self.model.encode_query_ids(self.entity.without_bias(h), r)

    def encode_keys(self, t: Tensor) -> Keys:
        K, b = self.model.encode_keys(self.entity.without_bias(t))
        return Keys(K, b + self.entity.bias(t))
