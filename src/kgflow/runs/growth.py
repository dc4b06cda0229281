"""Models with rows for further entities and relations."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from kgflow.config import ModelSettings, RunConfig, TrainingSettings
from kgflow.models import Ensemble, Model
from kgflow.runs.build import sized_model

TABLE = re.compile(r"(.*\.)?(entity|relation)\.(weight|parametrizations\.weight\.original)")
"""Names of the embedding tables in the state of a model."""


@dataclass(frozen=True, eq=False)
class Part:
    """A model that was trained on its own: that of a run, or one of an ensemble.

    Args:
        settings: settings of the model.
        training: settings of its training.
        model: the model, whose parameters other than the tables are used.
        entity: embeddings of entities, ``(E, w)``.
        relation: embeddings of relations and of their inverse relations, ``(2R, v)``.
    """

    settings: ModelSettings
    training: TrainingSettings
    model: nn.Module
    entity: Tensor
    relation: Tensor

    def grown(self, entities: int, relations: int) -> Model:
        """Return the model with tables of more entities and relations, which are not yet fitted.

        Rows of earlier entities and relations keep their values; inverse relations follow all
        relations.

        Args:
            entities: number of entities.
            relations: number of relations, without inverse relations.
        """
        like = self.entity
        model = sized_model(self.settings, entities, 2 * relations).to(like.device, like.dtype)
        others = {k: v for k, v in self.model.state_dict().items() if not _is_table(k)}
        model.load_state_dict(others, strict=False)
        with torch.no_grad():
            model.entity.weight[: len(like)] = like
            (raw,) = model.relation.parameters()
            for first, rows in zip((0, relations), self.relation.chunk(2), strict=True):
                if first < len(raw):  # tied inverse relations are computed
                    raw[first : first + len(rows)] = rows
        return model.eval()


def parts(config: RunConfig, model: Model) -> list[Part]:
    """Return the models of a run that were trained on their own."""
    if not isinstance(model, Ensemble):
        entity, relation = model.entity.weight.detach(), model.relation.weight.detach()
        return [Part(config.model, config.training, model, entity, relation)]
    members = zip(
        config.model.members,
        model.models,
        model.entity.split(model.entity.weight.detach()),
        model.relation.split(model.relation.weight.detach()),
        strict=True,
    )
    return [Part(m.model, m.training, own, e, r) for m, own, e, r in members]


def _is_table(name: str) -> bool:
    return TABLE.fullmatch(name) is not None


def joined(models: Sequence[Model]) -> Model:
    """Return the model of a run from those that were trained on their own."""
    return models[0] if len(models) == 1 else Ensemble(models)
