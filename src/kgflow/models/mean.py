"""Several models as one: the mean of their scores."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from kgflow.errors import KgflowError
from kgflow.flows import Keys, Query
from kgflow.models.base import Model
from kgflow.models.card import Card
from kgflow.models.embedding import Embedding


class Mean(Model):
    r"""Models of the same entities and relations, each trained by itself.

    .. math:: f = \frac1k \sum_i f_i, \quad
              S = \tfrac1k (Q_1, \dots, Q_k)(K_1, \dots, K_k)^T
              + \tfrac1k \sum_i a_i + \tfrac1k \sum_i b_i

    The mean of logits is the geometric mean of what the models hold for probable. Where all are
    NFE-1, the mean is NFE-1 of all their coordinates, scaled: a product of independent flows, whose
    squared distances add up. So it is a matrix product, too, and whatever works with one model
    works with several.

    Rows: those of the models, side by side. The models keep what else they have learned.

    Args:
        models: two or more, all matrix products; their rows move to this one.

    Example:
        >>> from kgflow.models import build
        >>> one, other = (build(name, 3, 2, 4) for name in ("nfe-1", "complex"))
        >>> ids = torch.tensor([[0], [1], [2]])
        >>> wanted = (one.score(*ids) + other.score(*ids)) / 2
        >>> torch.allclose(Mean([one, other]).score(*ids), wanted)
        True
    """

    card: ClassVar = Card(
        x0="–",
        f_entity="–",
        f_relation="–",
        D="(f₁ + … + f_k) / k",
        entity="–",
        relation="–",
        symmetry=False,
        antisymmetry=False,
        inverse=False,
        composition=False,
        year=2026,
    )

    def __init__(self, models: Sequence[Model]) -> None:
        nn.Module.__init__(self)
        if len({(len(model.entity), len(model.relation)) for model in models}) != 1:
            raise KgflowError("a mean is of models of the same entities and relations")
        for model in models:
            if model.interaction is not None:
                raise KgflowError(
                    f"{model.name} is no matrix product, which a mean must be made of"
                )
        self.dim = sum(model.dim for model in models)
        self.entity = _joined(model.entity for model in models)
        self.relation = _joined(model.relation for model in models)
        self.models = nn.ModuleList(models)

    def encode_query(self, h: Tensor, r: Tensor) -> Query:
        """Side by side, over how many there are."""
        parts = zip(self._models(), self.entity.split(h), self.relation.split(r), strict=True)
        return self._query([model.encode_query(x, y) for model, x, y in parts])

    def encode_answer_query(self, h: Tensor, r: Tensor, back: Tensor) -> Query:
        """Likewise, as each model scores answers."""
        rows = self.entity.split(h), self.relation.split(r), self.relation.split(back)
        parts = zip(self._models(), *rows, strict=True)
        return self._query([model.encode_answer_query(x, y, z) for model, x, y, z in parts])

    def query(self, h: Tensor, r: Tensor) -> Query:
        """Q and a of head and relation ids, each ``(B,)``, to meet `answer_keys`."""
        back = self.relation(self.reciprocal(r))
        return self.encode_answer_query(self.entity(h), self.relation(r), back)

    def encode_keys(self, t: Tensor) -> Keys:
        """Side by side."""
        parts = zip(self._models(), self.entity.split(t), strict=True)
        return self._keys([model.encode_keys(x) for model, x in parts])

    def answer_keys(self, t: Tensor) -> Keys:
        """Likewise, as each model scores answers."""
        parts = zip(self._models(), self.entity.split(t), strict=True)
        return self._keys([model.answer_keys(x) for model, x in parts])

    def _query(self, found: Sequence[Query]) -> Query:
        Q = torch.cat([query.Q for query in found], dim=1)
        return Query(Q / len(found), torch.stack([query.a for query in found]).mean(0))

    def _keys(self, found: Sequence[Keys]) -> Keys:
        K = torch.cat([keys.K for keys in found], dim=1)
        return Keys(K, torch.stack([keys.b for keys in found]).mean(0))

    def _models(self) -> list[Model]:
        return [model for model in self.models if isinstance(model, Model)]


# Not in its class, which would put it among those that are built from a name and sizes.
Mean.name = "mean"


def _joined(tables: Iterable[Embedding]) -> Embedding:
    """A table of all rows side by side; the others are left without."""
    tables = list(tables)
    weights = [table.weight.detach() for table in tables]
    joined = Embedding(0, {str(i): x.shape[1] for i, x in enumerate(weights, 1)})
    joined.rows, joined.weight = len(tables[0]), nn.Parameter(torch.cat(weights, dim=1))
    for table in tables:
        if parametrize.is_parametrized(table):
            parametrize.remove_parametrizations(table, "weight")
        table.weight = nn.Parameter(table.weight.detach()[:0])
    return joined
