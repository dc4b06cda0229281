"""NFE-1, NFE-2 and NFE-3 as interactions of PyKEEN, and trained runs as its models."""

from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from kgflow.errors import KgflowError, require
from kgflow.flows import Flow
from kgflow.models import build
from kgflow.models.flow_model import FlowModel
from kgflow.models.options import Option
from kgflow.runs.run import Run

_modules = require("pykeen.nn.modules", "kgflow.interop.pykeen", "peers")
_models = require("pykeen.models", "kgflow.interop.pykeen", "peers")
_init = require("pykeen.nn.init", "kgflow.interop.pykeen", "peers")


class FlowInteraction(_modules.Interaction):  # type: ignore[misc, name-defined]
    r"""Interaction :math:`f(h, r, t) = D(f_r \circ f_h(x_0), f_t(x_0))` of a flow model.

    A subclass names the model, and the shapes of its representations, one for each part of an
    embedding.

    Args:
        options: options of the model, as in ``kgflow models``.
    """

    model: ClassVar[str]

    def __init__(self, **options: Option) -> None:
        super().__init__()
        chosen = build(self.model, 1, 2, 1, options)
        if not isinstance(chosen, FlowModel):
            raise KgflowError(f"{self.model} with {options} has no interaction in PyKEEN")
        self.flow_model = (chosen,)  # in a tuple: its embeddings are no parameters of this module

    def forward(self, h: Sequence[Tensor], r: Sequence[Tensor], t: Sequence[Tensor]) -> Tensor:
        """Score triples of the parts of embeddings, each ``(*batch_dims, d)``, broadcast."""
        (model,) = self.flow_model
        head, tail = model.f_entity(*h), model.f_entity(*t)
        return model.D(Flow(model.x0, model.f_relation(*r) @ head), Flow(model.x0, tail))


class NFE1Interaction(FlowInteraction):
    """NFE-1: entity μ, σ and relation μ, σ.

    Example:
        >>> parts = torch.ones(2), torch.ones(2)
        >>> NFE1Interaction()(parts, parts, parts)  # -(1 + 1 - 1)² in each of two coordinates
        tensor(-2.)
    """

    model = "nfe-1"
    entity_shape = relation_shape = ("d", "d")


class NFE2Interaction(FlowInteraction):
    """NFE-2: entity μ, σ₁, σ₂ and relation μ, σ."""

    model = "nfe-2"
    entity_shape = ("d", "d", "d")
    relation_shape = ("d", "d")


class NFE3Interaction(FlowInteraction):
    """NFE-3: entity μ, σ and relation μ, σ. Scales should be initialized away from zero."""

    model = "nfe-3"
    entity_shape = relation_shape = ("d", "d")


INTERACTIONS = {c.model: c for c in (NFE1Interaction, NFE2Interaction, NFE3Interaction)}


def to_pykeen(run: Run, triples_factory: Any) -> Any:  # noqa: ANN401
    """Return a run as a model of PyKEEN with the same scores, for example to evaluate it there.

    Args:
        run: run of NFE-1, NFE-2 or NFE-3, without bias and bidirectional scoring.
        triples_factory: factory whose entities and relations the model is for; with
            ``create_inverse_triples=True``, its inverse relations get the run's.
    """
    model, settings = run.model, run.config.model
    if settings.name not in INTERACTIONS or not isinstance(model, FlowModel) or settings.bias:
        known = ", ".join(INTERACTIONS)
        raise KgflowError(
            f"{run.directory}: only runs of {known} without bias and bidirectional scoring have "
            "an interaction in PyKEEN"
        )
    return _models.ERModel(
        triples_factory=triples_factory,
        interaction=INTERACTIONS[settings.name](**model.options.model_dump()),
        entity_representations_kwargs=_pretrained(model.entity, _entity_rows(run, triples_factory)),
        relation_representations_kwargs=_pretrained(
            model.relation, _relation_rows(run, triples_factory)
        ),
    )


def _pretrained(table: Any, rows: Tensor) -> list[dict[str, Any]]:  # noqa: ANN401
    """Return the arguments of one PyKEEN embedding for each part of a table."""
    parts = [part.contiguous() for part in table.split(table.weight.detach()[rows])]
    return [
        {"shape": part.shape[1:], "initializer": _init.PretrainedInitializer(tensor=part)}
        for part in parts
    ]


def _entity_rows(run: Run, factory: Any) -> Tensor:  # noqa: ANN401
    ids = factory.entity_to_id
    return torch.from_numpy(run.data.entities.ids(sorted(ids, key=ids.__getitem__)))


def _relation_rows(run: Run, factory: Any) -> Tensor:  # noqa: ANN401
    """Return the rows of relations; in PyKEEN, inverse relations follow their relations."""
    ids = factory.relation_to_id
    names = sorted(ids, key=ids.__getitem__)[: factory.real_num_relations]
    rows = torch.from_numpy(run.data.relations.ids(names))
    if not factory.create_inverse_triples:
        return rows
    return torch.stack([rows, rows + len(run.data.relations)], dim=1).flatten()
