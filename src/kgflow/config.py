"""One experiment, validated, to and from TOML."""

import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar, get_args

import tomli_w
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
    model_validator,
)
from pydantic_core import PydanticCustomError

from kgflow.errors import KgflowError, suggest

FORMAT = 1

Option = bool | int | float | str


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


MEAN = "mean"
"""What a model is called that is made of others."""


class ModelConfig(_Section):
    """Which model, and how large."""

    name: Annotated[str, Field(description="a model's name; `kgflow models` lists them")] = "nfe-1"
    dim: Annotated[
        int, Field(ge=1, le=2**20, description="the paper's n, the size of each part")
    ] = 128
    bias: Annotated[bool, Field(description="a number per entity, added where it is the tail")] = (
        False
    )
    inverse_relations: Annotated[
        bool, Field(description="numbers of their own for relations read backwards")
    ] = True
    start: Annotated[
        float,
        Field(ge=1e-6, le=1, description="what the first numbers of all rows are multiplied by"),
    ] = 1.0
    bidirectional: Annotated[
        bool, Field(description="answers scored by the mean of what head and tail say")
    ] = False
    options: Annotated[
        dict[str, Option], Field(description="what only this model knows, such as x0 = 'uniform'")
    ] = {}
    parts: Annotated[
        list["Part"], Field(description="the runs that a mean is of, as `kgflow combine` makes it")
    ] = []

    @model_serializer(mode="wrap")
    def _without_no_parts(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {k: v for k, v in serialize(self).items() if k != "parts" or v}

    @model_validator(mode="after")
    def _means_have_nothing_else(self) -> Self:
        plain = ModelConfig.model_construct(name=MEAN, dim=self.dim, parts=self.parts)
        if self.parts and self.model_dump() != plain.model_dump():
            raise _refused(f"a model of 'parts' is called '{MEAN}' and has no settings but 'dim'")
        if self.name == MEAN and not self.parts:
            raise _refused(f"'{MEAN}' is not trained: `kgflow combine` makes it of trained runs")
        return self


class TrainingConfig(_Section):
    """Training settings; the defaults suit small graphs, not the graphs of the paper."""

    epochs: Annotated[int, Field(ge=1, le=2**31, description="passes over the training facts")] = 80
    batch_size: Annotated[int, Field(ge=1, le=2**31, description="facts in a batch")] = 64
    lr: Annotated[float, Field(gt=0, description="the learning rate")] = 0.02
    decay: Annotated[float, Field(gt=0, le=1, description="the rate's factor per epoch")] = 0.98
    margin: Annotated[float, Field(description="the margin of the loss, γ")] = 3.0
    dropout: Annotated[float, Field(ge=0, lt=1, description="share of a head left out")] = 0.3
    average: Annotated[float, Field(ge=0, lt=1, description="of weights, kept per epoch")] = 0.9
    backward: Annotated[
        Literal["dense", "sparse"], Field(description="the gradient: exact, or an unbiased sample")
    ] = "dense"
    confidence: Annotated[
        Literal["plain", "weights", "soft", "regress"],
        Field(description="of facts: ignored, their weight, or their label (soft or regress)"),
    ] = "weights"
    seed: Annotated[
        int, Field(ge=0, le=2**31, description="of the start and the order of batches")
    ] = 0
    patience: Annotated[int, Field(ge=1, description="validations without gain to bear")] = 15
    eval_every: Annotated[int, Field(ge=1, description="epochs between validations")] = 1
    held_out: Annotated[
        float, Field(ge=0, lt=1, description="share of valid that chooses nothing, for promises")
    ] = 0.3
    loss: Annotated[
        Literal[
            "one-vs-all",
            "softmax",
            "kvsall",
            "sampled",
            "sampled-softmax",
            "margin",
            "self-adversarial",
        ],
        Field(
            description="one-vs-all, softmax, kvsall, sampled, sampled-softmax, margin"
            " or self-adversarial"
        ),
    ] = "one-vs-all"
    smoothing: Annotated[float, Field(ge=0, lt=1, description="of labels; kvsall only")] = 0.0
    negatives: Annotated[
        int,
        Field(ge=0, le=2**31, description="per batch (sampled…) or fact (margin, self-…)"),
    ] = 0
    corruption: Annotated[
        Literal["tails", "both", "bernoulli"],
        Field(description="what margin and self-adversarial replace: tails, both or bernoulli"),
    ] = "tails"
    adversarial: Annotated[
        float, Field(ge=0, description="how much more the best corruptions count, α; self-… only")
    ] = 1.0
    popularity: Annotated[
        float,
        Field(
            ge=0, le=1, description="how much more facts with frequent tails count; …softmax only"
        ),
    ] = 0.0
    query_dropout: Annotated[float, Field(ge=0, lt=1, description="share of a query left out")] = (
        0.0
    )
    regularizer: Annotated[
        Literal["none", "l2", "n3", "dura"], Field(description="none, l2, n3 or dura")
    ] = "none"
    penalty: Annotated[float, Field(ge=0, description="the regularizer's weight")] = 0.0
    relation_weight: Annotated[
        float, Field(ge=0, description="of predicting relations, beside the tails")
    ] = 0.0
    optimizer: Annotated[
        Literal["adam", "adagrad", "row-adagrad"], Field(description="adam, adagrad or row-adagrad")
    ] = "adam"
    schedule: Annotated[
        Literal["exponential", "cosine", "plateau"],
        Field(description="of the rate: exponential, cosine or plateau"),
    ] = "exponential"
    warmup: Annotated[float, Field(ge=0, description="epochs until the rate is reached")] = 0.0

    @model_validator(mode="after")
    def _no_idle_knob(self) -> Self:
        for name, losses in USED_BY.items():
            value = getattr(self, name)
            if value != type(self).model_fields[name].default and self.loss not in losses:
                takes = " or ".join(losses)
                raise _refused(
                    f"'training.{name}' is {value!r}, which loss '{self.loss}' has no use for:"
                    f" leave it out, or take {takes}"
                )
        if self.confidence in ("soft", "regress") and self.loss != "one-vs-all":
            raise _refused(
                f"'training.confidence' is '{self.confidence}', which belongs to loss 'one-vs-all':"
                f" with '{self.loss}' take weights or plain"
            )
        if self.loss in USED_BY["negatives"] and not self.negatives:
            raise _refused(f"loss '{self.loss}' needs 'training.negatives', such as 64")
        if (self.regularizer == "none") != (self.penalty == 0):
            raise _refused(
                "'training.regularizer' and 'training.penalty' go together: give both or none"
            )
        return self


class Part(_Section):
    """A run that is combined with others: where it was, and how it was made."""

    run: str
    model: ModelConfig
    training: TrainingConfig


ModelConfig.model_rebuild()

USED_BY = {
    "backward": ("one-vs-all",),
    "smoothing": ("kvsall",),
    "negatives": ("sampled", "sampled-softmax", "margin", "self-adversarial"),
    "corruption": ("margin", "self-adversarial"),
    "adversarial": ("self-adversarial",),
    "popularity": ("softmax", "sampled-softmax"),
}
"""Knobs that only some losses have a use for."""


def _refused(sentence: str) -> PydanticCustomError:
    # Braces would be read as a template.
    return PydanticCustomError("refused", "{sentence}", {"sentence": sentence})


class Experiment(_Section):
    """A data set, a model and a training: what makes one number.

    Example:
        >>> Experiment(data="umls").model.name
        'nfe-1'
    """

    data: Annotated[str, Field(description="a name from the catalogue, a directory or a file")]
    model: ModelConfig = ModelConfig()
    training: TrainingConfig = TrainingConfig()


class RunInfo(_Section):
    """What a saved run says of itself."""

    format: int
    kgflow: str
    data_digest: str
    entities: int
    relations: int
    reciprocal: bool


class RunConfig(Experiment):
    """The experiment behind a saved run, and the run's own facts."""

    run: RunInfo

    @model_validator(mode="before")
    @classmethod
    def _held_nothing_out(cls, values: dict[str, Any]) -> dict[str, Any]:
        """A run saved before anything was held out has chosen its epoch by all of valid."""
        training = values.get("training")
        if isinstance(training, dict):
            return values | {"training": {"held_out": 0.0} | training}
        return values


T = TypeVar("T", bound=_Section)


def parse(kind: type[T], values: dict[str, Any], source: str) -> T:
    """Validate, with one sentence about the first thing that is wrong."""
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        raise KgflowError(f"{source}: {_sentence(kind, error)}") from None


def read(kind: type[T], path: Path) -> T:
    """Read a configuration from a TOML file."""
    try:
        return parse(kind, tomllib.loads(path.read_text(encoding="utf-8")), str(path))
    except FileNotFoundError:
        raise KgflowError(f"{path} does not exist") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise KgflowError(f"{path} is not TOML: {error}") from None


def dump(config: _Section) -> bytes:
    """The configuration as TOML."""
    return tomli_w.dumps(config.model_dump()).encode()


def _sentence(kind: type[BaseModel], error: ValidationError) -> str:
    first = error.errors()[0]
    path = [str(part) for part in first["loc"]]
    name = ".".join(path)
    if first["type"] == "extra_forbidden":
        known = _fields(kind, path[:-1])
        return f"unknown key '{name}'{suggest(path[-1], known) or f'; known are {known}'}"
    if first["type"] == "refused":
        return first["msg"]
    if first["type"] == "missing":
        return f"'{name}' is missing"
    return f"'{name}' is {first['input']!r}: {first['msg'][0].lower()}{first['msg'][1:]}"


def _fields(kind: type[BaseModel], path: list[str]) -> list[str]:
    for part in path:
        if part.isdecimal():
            continue  # a place in a list, whose kind is known by now
        annotation = kind.model_fields[part].annotation
        (annotation,) = get_args(annotation) or (annotation,)
        assert isinstance(annotation, type)
        kind = annotation
    return list(kind.model_fields)
