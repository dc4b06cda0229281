"""Options of models: validated settings that a model owns."""

import math
from collections.abc import Mapping
from typing import Annotated, Any, Self, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from kgflow.config import ModelSettings
from kgflow.config import Option as Option
from kgflow.errors import KgflowError, suggest
from kgflow.flows import VARIABLES, Scaled, Variable


class ModelOptions(BaseModel):
    """Base class of a model's options; a model without options uses it as it is.

    Example:
        >>> class Options(ModelOptions):
        ...     pieces: int = Field(4, ge=1, description="Number of pieces.")
        >>> Options.parse("mine", {"pieces": "6"}).pieces
        6
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @classmethod
    def parse(cls, model: str, values: Mapping[str, Option]) -> Self:
        """Validate the options of a model.

        Args:
            model: name of the model, for error messages.
            values: options by name.

        Raises:
            KgflowError: an option is unknown, or its value is not allowed.
        """
        for key in values:
            if key not in cls.model_fields:
                known = [*ModelSettings.common_keys(), *cls.model_fields]
                hint = suggest(key, known) or f"; {model} knows {', '.join(known)}"
                raise KgflowError(f"unknown key 'model.{key}'{hint}")
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            first = error.errors()[0]
            key, value = str(first["loc"][0]), first["input"]
            choices = [str(x) for x in get_args(cls.model_fields[key].annotation)]
            text = f"'model.{key}' is {value!r}"
            if choices:
                raise KgflowError(text + _hint(value, choices)) from None
            raise KgflowError(f"{text}: {first['msg'][0].lower()}{first['msg'][1:]}") from None


def _known_variable(name: str) -> str:
    if name not in VARIABLES:
        raise KgflowError(f"unknown x0 '{name}'{_hint(name, list(VARIABLES))}")
    return name


class RandomVariableOptions(ModelOptions):
    """Options of flow models of a random variable x0."""

    x0: Annotated[str, AfterValidator(_known_variable)] = Field(
        "normal", description=f"Random variable x0: {', '.join(VARIABLES)}."
    )
    uncertainty: float = Field(
        1.0,
        ge=0,
        description="Variance of x0, 1/k² of the paper's Proposition 5; 0 is the Dirac limit.",
    )

    def variable(self) -> Variable:
        """Return the scaled random variable x0 / k.

        Example:
            >>> RandomVariableOptions(x0="uniform", uncertainty=0.25).variable()
            Scaled(x0=Uniform(), factor=0.5)
        """
        x0 = VARIABLES[self.x0]
        return x0 if self.uncertainty == 1 else Scaled(x0, math.sqrt(self.uncertainty))


def _hint(value: Any, choices: list[str]) -> str:  # noqa: ANN401
    return suggest(str(value), choices) or f"; allowed values: {', '.join(choices)}"
