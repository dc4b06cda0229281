"""Both directions of a triple: the mean of their scores, and tied inverse relations."""

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from kgflow.errors import KgflowError
from kgflow.flows import Keys, Query
from kgflow.models.base import Model
from kgflow.models.protocols import InverseQueries, InvertibleRelations
from kgflow.models.wrappers.base import Wrapper


class Bidirectional(Wrapper):
    r"""Model that scores answers by the mean of both directions; only for evaluation.

    .. math:: \bar f(h, r, t) = \tfrac12 \big(f(h, r, t) + f(t, r^{-1}, h)\big)

    With inverse relations a triple has two scores, which are learned independently. Their mean is
    like an ensemble of two models, and the same in both directions. It is a matrix product again,

    .. math:: \bar f = \tfrac12 (Q + \overleftarrow Q_K) K^T + \tfrac12 \overleftarrow Q_F F^T
              + \tfrac12 (a + \overleftarrow a) + b,

    with :math:`\overleftarrow Q, \overleftarrow a` of the queries in the other direction and
    additional key vectors F (see `InverseQueries`). Losses use the wrapped model, `trained`.

    Args:
        model: matrix product with inverse relations in closed form.

    Example:
        >>> from kgflow.models import build
        >>> model = Bidirectional(build("nfe-1", entities=3, relations=2, dim=4))
        >>> h, r, t = torch.tensor([[0], [0], [2]])
        >>> torch.allclose(model.score(h, r, t), model.score(t, r + 1, h))
        True
    """

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        able = isinstance(model.base, InvertibleRelations | InverseQueries)
        if model.interaction is not None or not able:
            raise KgflowError(
                f"{model.name} has no bidirectional scoring: leave it out, or use nfe-1,"
                " nfe-1-complex, complex or another model that has it"
            )

    @property
    def trained(self) -> Model:
        return self.model

    def encode_query(self, h: Tensor, r: Tensor) -> Query:
        """Encode queries of both directions.

        Args:
            h: head embeddings, ``(B, w)``.
            r: embeddings of relations and of their inverse relations side by side, ``(B, 2v)``.
        """
        there, back = r.chunk(2, dim=-1)
        return self._mean(self.model.encode_query(h, there), h, back)

    def encode_query_ids(self, h: Tensor, r: Tensor) -> Query:
        back = self.relation(self.inverse_ids(r))
        return self._mean(self.model.encode_query_ids(h, r), h, back)

    def encode_keys(self, t: Tensor) -> Keys:
        (K, b), base = self.model.encode_keys(t), self.base
        F = base.extra_keys(t) if isinstance(base, InverseQueries) else t[:, :0]
        return Keys(torch.cat([K, F], dim=1), b)

    def _mean(self, query: Query, h: Tensor, back: Tensor) -> Query:
        inverse, width = self._inverse_query(h, back), query.Q.shape[1]
        Q = torch.cat([query.Q + inverse.Q[:, :width], inverse.Q[:, width:]], dim=1)
        return Query(Q / 2, (query.a + inverse.a) / 2)

    def _inverse_query(self, h: Tensor, r: Tensor) -> Query:
        base = self.base
        if isinstance(base, InverseQueries):
            return base.encode_inverse_query(h, r)
        assert isinstance(base, InvertibleRelations)
        return self.model.encode_query(h, base.inverse_relation(r))


def tie_inverse_relations(model: Model) -> None:
    r"""Compute the embeddings of inverse relations from those of the relations.

    .. math:: f(t, r^{-1}, h) = f(h, r, t)

    Half of the relation embeddings remain as parameters, and a triple has the same score in both
    directions. The relation table keeps its size: its second half is computed on access.

    Args:
        model: model whose relations are followed by their inverse relations.

    Example:
        >>> from kgflow.models import build
        >>> model = build("complex", entities=3, relations=2, dim=2)
        >>> tie_inverse_relations(model)
        >>> h, r, t = torch.tensor([[0], [0], [2]])
        >>> torch.allclose(model.score(h, r, t), model.score(t, r + 1, h))
        True
    """
    table, base = model.relation, model.base
    if len(table) % 2:
        raise KgflowError(f"{len(table)} relations: inverse relations need an even number")
    if not isinstance(base, InvertibleRelations):
        raise KgflowError(
            f"{model.name} cannot compute inverse relations: leave 'inverse_relations' on"
        )
    parametrize.register_parametrization(table, "weight", _TiedInverse(base))


class _TiedInverse(nn.Module):
    """Append the inverse relations to relation embeddings, ``(R, v)`` to ``(2R, v)``."""

    def __init__(self, model: InvertibleRelations) -> None:
        super().__init__()
        # The bound method, since assigning the model would register it as a submodule.
        self.inverse_relation = model.inverse_relation

    def forward(self, r: Tensor) -> Tensor:
        return torch.cat([r, self.inverse_relation(r)])

    def right_inverse(self, weight: Tensor) -> Tensor:
        return weight[: len(weight) // 2]
