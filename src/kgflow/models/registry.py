"""Models by name: look up classes, options and variants, and build models."""

from collections.abc import Mapping
from typing import Any

from kgflow.errors import KgflowError, suggest
from kgflow.models.base import MODELS, Model
from kgflow.models.card import Variant
from kgflow.models.options import Option
from kgflow.models.wrappers import Biased, Bidirectional, tie_inverse_relations


def model_class(name: str) -> type[Model]:
    """Return the class of a model.

    Example:
        >>> model_class("nfe-1").__name__
        'NFE1'
    """
    if name not in MODELS:
        hint = suggest(name, MODELS) or f"; known models: {', '.join(MODELS)}"
        raise KgflowError(f"unknown model '{name}'{hint}")
    return MODELS[name]


def variant(name: str, options: Mapping[str, Option] | None = None) -> Variant:
    """Return the card, the recommended settings and the class of a model with some options.

    Example:
        >>> variant("transe", {"norm": "l1"}).settings["training.loss.margin"]
        6.0
    """
    kind = model_class(name)
    return kind.variant(kind.Options.parse(name, options or {}))


def variants(name: str) -> list[dict[str, Any]]:
    """Return the options of all variants of a model, the defaults first.

    Example:
        >>> variants("transe")
        [{}, {'norm': 'l1'}, {'norm': 'l2'}]
    """
    return [{}, *(dict(found.options) for found in model_class(name).variants)]


def build(
    name: str,
    entities: int,
    relations: int,
    dim: int,
    options: Mapping[str, Option] | None = None,
    *,
    bias: bool = False,
    inverse_relations: bool = True,
    bidirectional: bool = False,
) -> Model:
    """Build a model by name.

    Args:
        name: name of the model.
        entities: number of entities.
        relations: number of relations with their inverse relations.
        dim: dimension n of the embedding parts.
        options: options of the model, such as ``{"x0": "uniform"}``.
        bias: whether entities have a bias that is added to the score of tails.
        inverse_relations: whether inverse relations have embeddings of their own.
        bidirectional: whether answers are scored by the mean of both directions.

    Example:
        >>> build("nfe-2", entities=5, relations=2, dim=4, options={"x0": "uniform"}).x0
        Uniform()
    """
    if bias and not inverse_relations:
        raise KgflowError("'bias' applies to tails only and needs inverse relations: leave out one")
    if bias and bidirectional:
        raise KgflowError("'bias' applies to tails only: leave out either it or 'bidirectional'")
    if bidirectional and not inverse_relations:
        raise KgflowError(
            "'bidirectional' needs inverse relations, otherwise both directions are the same:"
            " leave out one"
        )
    kind = model_class(name)
    chosen = kind.Options.parse(name, options or {})
    kind = kind.variant(chosen).model or kind
    model = kind(entities, relations, dim, **chosen.model_dump())
    if not inverse_relations:
        tie_inverse_relations(model)
    if bias:
        return Biased(model)
    return Bidirectional(model) if bidirectional else model
