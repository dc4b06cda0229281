"""Any model with a number for every entity that is added where it is the tail."""

from functools import cache

from torch import Tensor

from kgflow.flows import Keys, Query
from kgflow.models.base import Model


class Biased(Model):
    r"""What stands before a model to give it a bias.

    .. math:: f(h, r, t) + \beta_t, \quad S = QK^T + a + (b + \beta)

    The bias is the last number of an entity's row, and part of b: so whatever is written against
    `encode_query` and `encode_keys` knows it, and whatever looks at the parts of a row does not.
    That an entity answers many questions, whatever they are, need not be said by its other numbers.
    """

    def encode_query(self, h: Tensor, r: Tensor) -> Query:
        """The model's own, of rows without their bias."""
        return super().encode_query(self.entity.plain(h), r)  # type: ignore[safe-super]

    def ask(self, h: Tensor, r: Tensor) -> Query:
        """The model's own, of rows without their bias."""
        return super().ask(self.entity.plain(h), r)

    def encode_keys(self, t: Tensor) -> Keys:
        """The model's own, and the bias."""
        K, b = super().encode_keys(self.entity.plain(t))  # type: ignore[safe-super]
        return Keys(K, b + self.entity.bias(t))

    def score_relations(self, h: Tensor, t: Tensor, r: Tensor) -> Tensor | None:
        """The model's own, and the bias of the tail."""
        found = super().score_relations(self.entity.plain(h), self.entity.plain(t), r)
        return None if found is None else found + self.entity.bias(t)[:, None]


@cache
def biased(kind: type[Model]) -> type[Model]:
    """The class of a kind of model that knows biases; its tables have none before `add_bias`.

    Example:
        >>> from kgflow.models.distmult import DistMult
        >>> found = biased(DistMult)
        >>> found.__name__, issubclass(found, DistMult), found.name
        ('BiasedDistMult', True, 'distmult')
    """
    return type(f"Biased{kind.__name__}", (Biased, kind), {})
