"""The models by name, and how a configuration's options become constructor arguments."""

import inspect
from collections.abc import Mapping

from kgflow.errors import KgflowError, suggest
from kgflow.flows import VARIABLES, Variable
from kgflow.models.base import MODELS, Model
from kgflow.models.biased import biased
from kgflow.models.bidirectional import bidirectional as from_both_ends
from kgflow.models.bidirectional import check_bidirectional
from kgflow.models.embedding import START
from kgflow.models.mirror import mirror

Option = str | float | int | bool


def model_class(name: str) -> type[Model]:
    """The class behind a name.

    Example:
        >>> model_class("nfe-1").__name__
        'NFE1'
    """
    if name not in MODELS:
        hint = suggest(name, MODELS) or f"; known are {', '.join(MODELS)}"
        raise KgflowError(f"unknown model '{name}'{hint}")
    return MODELS[name]


def options(name: str) -> dict[str, inspect.Parameter]:
    """What a model can be told beyond its sizes.

    Example:
        >>> list(options("nfe-1"))
        ['x0', 'uncertainty']
    """
    parameters = inspect.signature(model_class(name).__init__).parameters
    return {k: p for k, p in parameters.items() if k not in ("self", *_SIZES)}


def build(
    name: str,
    entities: int,
    relations: int,
    dim: int,
    chosen: Mapping[str, Option] | None = None,
    bias: bool = False,
    inverse_relations: bool = True,
    start: float = 1.0,
    bidirectional: bool = False,
) -> Model:
    """A model by name, with options as a configuration file gives them.

    Args:
        name: the model's name.
        entities: how many entities.
        relations: how many relations, with their inverse_relations.
        dim: n.
        chosen: what only this model knows.
        bias: whether every entity has a number, at first zero, that is added where it is the tail.
        inverse_relations: whether inverse relations have embeddings of their own.
        start: what the first numbers of all rows are multiplied by; for models whose rows begin in
            [-0.1, 0.1].
        bidirectional: whether answers are scored by the mean of what head and tail say of a fact.

    Example:
        >>> build("nfe-2", entities=5, relations=2, dim=4, chosen={"x0": "uniform"}).x0
        Uniform()
        >>> build("distmult", entities=5, relations=2, dim=4, bias=True).entity
        Embedding(5 rows, sigma: 4, bias: 1)
    """
    if bias and not inverse_relations:
        raise KgflowError(
            "a bias counts for tails only, so it needs inverse_relations: leave out one"
        )
    if bias and bidirectional:
        raise KgflowError("a bias counts for tails only: leave out either it or both ends")
    if bidirectional and not inverse_relations:
        raise KgflowError(
            "without inverse relations both ends of a fact say the same: leave one out"
        )
    known = options(name)
    arguments = {k: _convert(name, k, v, known) for k, v in (chosen or {}).items()}
    constructor = model_class(name)
    kind = biased(constructor) if bias else constructor
    kind = from_both_ends(kind) if bidirectional else kind
    model = kind(entities, relations, dim, **arguments)
    if start != 1:
        _shrink(model, start)
    if bias and "bias" in model.entity.parts:
        raise KgflowError(f"{name} has a bias of every entity as it is: leave 'bias' out")
    if bias:
        model.entity.add_bias()
    if not inverse_relations:
        mirror(model)
    if bidirectional:
        check_bidirectional(model)
    return model


def _shrink(model: Model, start: float) -> None:
    tables = model.entity.weight.data, model.relation.weight.data
    if any(x.numel() and float(x.abs().max()) > START for x in tables):
        raise KgflowError(f"{model.name} begins its rows in a way of its own: leave 'start' out")
    for rows in tables:
        rows.mul_(start)


_SIZES = ("entities", "relations", "dim")


def _convert(
    model: str, key: str, value: Option, known: Mapping[str, inspect.Parameter]
) -> Option | Variable:
    if key not in known:
        hint = suggest(key, known) or f"; it takes {', '.join(known) or 'none'}"
        raise KgflowError(f"model {model} has no option '{key}'{hint}")
    kind = known[key].annotation
    if kind is Variable:
        if value not in VARIABLES:
            hint = suggest(str(value), VARIABLES) or f"; known are {', '.join(VARIABLES)}"
            raise KgflowError(f"unknown x0 '{value}'{hint}")
        return VARIABLES[str(value)]
    try:
        return kind(value)
    except (TypeError, ValueError):
        raise KgflowError(f"option {key} of {model} wants {kind.__name__}, not '{value}'") from None
