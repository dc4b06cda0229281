"""Any model whose answers are scored from both ends of a fact."""

from functools import cache

import torch
from torch import Tensor

from kgflow.errors import KgflowError
from kgflow.flows import Keys, Query
from kgflow.models.backwards import reads_inverse
from kgflow.models.base import Model


class Bidirectional(Model):
    r"""What stands before a model to score answers by the mean of what both ends say.

    .. math:: \bar f(h, r, t) = \tfrac12 \big(f(h, r, t) + f(t, r^{-1}, h)\big)

    With reciprocal relations a fact has two scores, learned apart: that t is a tail of (h, r), and
    that h is one of :math:`(t, r^{-1})`. Their mean knows more than either, as two models together
    do, and is the same from both ends. It is a matrix product like every other,

    .. math:: \bar f = \tfrac12 (Q + \overleftarrow Q_K) K^T + \tfrac12 \overleftarrow Q_F F^T
              + \tfrac12 (a + \overleftarrow a) + b,

    with :math:`\overleftarrow Q, \overleftarrow a` of the model's `encode_inverse_query` and F, its
    `further` keys. Training does not know of it: losses meet `ask` and `encode_keys`, which stay.
    """

    def query(self, h: Tensor, r: Tensor) -> Query:
        """Half of what each end brings."""
        rows = self.entity(h)
        return self._both(self.ask(rows, r), rows, self.relation(self.reciprocal(r)))

    def encode_answer_query(self, h: Tensor, r: Tensor, back: Tensor) -> Query:
        """Half of what each end brings."""
        return self._both(self.encode_query(h, r), h, back)

    def _both(self, there: Query, h: Tensor, reciprocal: Tensor) -> Query:
        back, width = self.encode_inverse_query(h, reciprocal), there.Q.shape[1]
        assert back is not None
        Q = torch.cat([there.Q + back.Q[:, :width], back.Q[:, width:]], dim=1)
        return Query(Q / 2, (there.a + back.a) / 2)

    def answer_keys(self, t: Tensor) -> Keys:
        """The model's own, and its further ones."""
        K, b = self.encode_keys(t)
        return Keys(torch.cat([K, self.extra_keys(t)], dim=1), b)


@cache
def bidirectional(kind: type[Model]) -> type[Model]:
    """The class of a kind of model whose answers are scored from both ends.

    Example:
        >>> from kgflow.models.nfe1 import NFE1
        >>> model = bidirectional(NFE1)(entities=3, relations=2, dim=4)
        >>> h, r, t = torch.tensor([[0], [0], [2]])
        >>> torch.allclose(model.score(h, r, t), model.score(t, r + 1, h))
        True
    """
    return type(f"Bidirectional{kind.__name__}", (Bidirectional, kind), {})


def check_bidirectional(model: Model) -> None:
    """Refuse a model that cannot be read from the other end."""
    if model.interaction is not None or not reads_inverse(model):
        raise KgflowError(
            f"{model.name} cannot score facts from their tails: leave both ends out, or take nfe-1,"
            " nfe-1-complex, complex or another that can"
        )
