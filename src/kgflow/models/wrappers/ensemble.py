"""Ensemble of models: the mean of their scores."""

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from kgflow.errors import KgflowError
from kgflow.flows import Keys, Query
from kgflow.models.base import Model
from kgflow.models.card import Card
from kgflow.models.embedding import Embedding
from kgflow.models.options import ModelOptions
from kgflow.models.wrappers.bidirectional import Bidirectional


class Ensemble(Model, register=False):
    r"""Mean of the scores of models of the same entities and relations; only for evaluation.

    .. math:: f = \frac1k \sum_i f_i, \quad
              S = \tfrac1k (Q_1, \dots, Q_k)(K_1, \dots, K_k)^T
              + \tfrac1k \sum_i a_i + \tfrac1k \sum_i b_i

    The mean of logits is the geometric mean of the models' odds. An ensemble of NFE-1 models is
    NFE-1 of all their coordinates, scaled: a product of independent flows, whose squared distances
    add up. The ensemble is a matrix product like its models.

    Embeddings: those of the models side by side. The models keep their other parameters.

    Args:
        models: two or more models that are matrix products; their embeddings move to the ensemble.

    Example:
        >>> from kgflow.models import build
        >>> one, other = (build(name, 3, 2, 4) for name in ("nfe-1", "complex"))
        >>> ids = torch.tensor([[0], [1], [2]])
        >>> mean = (one.score(*ids) + other.score(*ids)) / 2
        >>> torch.allclose(Ensemble([one, other]).score(*ids), mean)
        True
    """

    name = "ensemble"
    card = Card(D="(f₁ + … + f_k) / k", patterns=frozenset())

    def __init__(self, models: Sequence[Model]) -> None:
        nn.Module.__init__(self)  # its tables are those of the models
        if len({(len(model.entity), len(model.relation)) for model in models}) != 1:
            raise KgflowError("an ensemble needs models of the same entities and relations")
        for model in models:
            if model.interaction is not None:
                raise KgflowError(f"{model.name} is no matrix product: leave it out of ensembles")
        self.dim, self.options = sum(model.dim for model in models), ModelOptions()
        self.entity = _join(model.entity for model in models)
        self.relation = _join(model.relation for model in models)
        self.models = nn.ModuleList(models)

    def encode_query(self, h: Tensor, r: Tensor) -> Query:
        """Encode queries by all models.

        Args:
            h: head embeddings, ``(B, w)``.
            r: embeddings of relations and of their inverse relations side by side, ``(B, 2v)``.
        """
        found = self._queries(h, r)
        Q = torch.cat([query.Q for query in found], dim=1)
        return Query(Q / len(found), torch.stack([query.a for query in found]).mean(0))

    @torch.no_grad()
    def member_scores(self, h: Tensor, r: Tensor) -> Tensor:
        """Score all entities by each model, for queries of ids ``(B,)``: ``(k, B, E)``."""
        pair = [self.relation(r), self.relation(self.inverse_ids(r))]
        queries = self._queries(self.entity(h), torch.cat(pair, dim=-1))
        tables = self.entity.split(self.entity.weight)
        keys = [model.encode_keys(t) for model, t in zip(self._models(), tables, strict=True)]
        pairs = zip(queries, keys, strict=True)
        return torch.stack([q.Q @ k.K.T + q.a[:, None] + k.b for q, k in pairs])

    def _queries(self, h: Tensor, r: Tensor) -> list[Query]:
        """Encode queries by each model; arguments as in `encode_query`."""
        there, back = (self.relation.split(x) for x in r.chunk(2, dim=-1))
        return [
            model.encode_query(
                x, torch.cat([y, z], dim=-1) if isinstance(model, Bidirectional) else y
            )
            for model, x, y, z in zip(
                self._models(), self.entity.split(h), there, back, strict=True
            )
        ]

    def encode_query_ids(self, h: Tensor, r: Tensor) -> Query:
        pair = [self.relation(r), self.relation(self.inverse_ids(r))]
        return self.encode_query(h, torch.cat(pair, dim=-1))

    def encode_keys(self, t: Tensor) -> Keys:
        parts = zip(self._models(), self.entity.split(t), strict=True)
        found = [model.encode_keys(x) for model, x in parts]
        K = torch.cat([keys.K for keys in found], dim=1)
        return Keys(K, torch.stack([keys.b for keys in found]).mean(0))

    def _models(self) -> list[Model]:
        return [model for model in self.models if isinstance(model, Model)]


def _join(tables: Iterable[Embedding]) -> Embedding:
    """Move the embeddings of several tables into one table, side by side."""
    tables = list(tables)
    weights = [table.weight.detach() for table in tables]
    joined = Embedding(0, {str(i): x.shape[1] for i, x in enumerate(weights, 1)})
    joined.count, joined.weight = len(tables[0]), nn.Parameter(torch.cat(weights, dim=1))
    for table in tables:
        if parametrize.is_parametrized(table):
            parametrize.remove_parametrizations(table, "weight")
        table.weight = nn.Parameter(table.weight.detach()[:0])
    return joined
