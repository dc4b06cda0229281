"""The models by name, and how a configuration's options become constructor arguments."""

import inspect
from collections.abc import Mapping

from kgflow.algebra import VARIABLES, Variable
from kgflow.errors import KgflowError, suggest
from kgflow.models.model import MODELS, Model

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
    name: str, entities: int, relations: int, dim: int, chosen: Mapping[str, Option] | None = None
) -> Model:
    """A model by name, with options as a configuration file gives them.

    Example:
        >>> build("nfe-2", entities=5, relations=2, dim=4, chosen={"x0": "uniform"}).x0
        Uniform()
    """
    known = options(name)
    arguments = {k: _convert(name, k, v, known) for k, v in (chosen or {}).items()}
    constructor = model_class(name)
    return constructor(entities, relations, dim, **arguments)


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
