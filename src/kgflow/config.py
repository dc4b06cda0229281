"""Settings: one validated tree for Python, TOML files, the command line and the report.

Losses, regularizers, optimizers and learning rate schedules are components: each defines its own
settings class next to its code, which registers under a name.
"""

import tomllib
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar, get_args, get_origin

import tomli_w
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializeAsAny,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
    model_validator,
)
from pydantic_core import PydanticCustomError, PydanticUndefined

from kgflow.errors import KgflowError, suggest

FORMAT = 2
"""Format of the files of a run."""

ENSEMBLE = "ensemble"
"""Model name of an ensemble of runs."""

PRESETS = {
    "auto": "settings that suit the size and density of the graph (default without a model).",
    "fast": "auto with half of the dimension and of the epochs.",
    "best": "auto with twice the dimension and more epochs, in an ensemble of two recipes.",
    "paper": "NFE-1 with the loss, optimizer and size of the paper.",
}
"""Presets of complete settings, with their meanings."""

Option = bool | int | float | str
"""Value of a model option as a file or the command line gives it."""
Fraction = Annotated[float, Field(ge=0, lt=1)]
Count = Annotated[int, Field(ge=1, le=2**31)]


class Settings(BaseModel):
    """Base class of all settings: immutable, no unknown keys, no infinities."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Group:
    """The components of one kind, by name.

    Args:
        key: Key of the component's table in the settings, such as ``training.loss``.
        package: Package whose import registers the built-in components.
        default: Name of the default component.
    """

    def __init__(self, key: str, package: str, default: str) -> None:
        self.key, self.package, self.default = key, package, default
        self._members: dict[str, type[Component]] = {}

    def add(self, name: str, member: "type[Component]") -> None:
        """Register a settings class."""
        known = self._members.get(name)
        if known is not None and known.__qualname__ != member.__qualname__:
            raise KgflowError(f"{self.key} '{name}' is defined twice: choose another name")
        self._members[name] = member

    @property
    def members(self) -> "Mapping[str, type[Component]]":
        """All settings classes by name."""
        import_module(self.package)
        return self._members

    def __getitem__(self, name: object) -> "type[Component]":
        members = self.members
        if not isinstance(name, str) or name not in members:
            hint = suggest(str(name), members) or f"; known are {', '.join(members)}"
            raise KgflowError(f"'{self.key}.name' is {name!r}, which is unknown{hint}")
        return members[name]

    def parse(self, values: object) -> "Component":
        """Validate the settings of a component; its name decides which keys there are."""
        if isinstance(values, Component):
            return values
        if not isinstance(values, Mapping):
            raise refused(f"'{self.key}' is {values!r}: give a table with a name")
        try:
            kind = self[values.get("name", self.default)]
            return kind.model_validate(dict(values))
        except ValidationError as error:
            raise refused(sentence(kind, error, self.key)) from None
        except KgflowError as error:
            raise refused(str(error)) from None


class Component(Settings):
    """Settings of a component that is chosen by name.

    A subclass whose `name` has a default registers itself in the group of its kind.
    """

    group: ClassVar[Group]
    name: str

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:  # noqa: ANN401
        super().__pydantic_init_subclass__(**kwargs)
        name = cls.model_fields["name"].default
        if name is not PydanticUndefined:
            cls.group.add(name, cls)


LOSSES = Group("training.loss", "kgflow.training", "one-vs-all")
REGULARIZERS = Group("training.regularizer", "kgflow.training", "none")
OPTIMIZERS = Group("training.optimizer", "kgflow.training", "adam")
LR_SCHEDULES = Group("training.lr_schedule", "kgflow.training", "exponential")
Chosen = SerializeAsAny[Component]
GROUPS = {group.key: group for group in (LOSSES, REGULARIZERS, OPTIMIZERS, LR_SCHEDULES)}


def _chosen(group: Group) -> Any:  # noqa: ANN401
    return Field(default_factory=lambda: group.parse({}), validate_default=True)


class ModelSettings(Settings):
    """Which model, and how large."""

    name: Annotated[str, Field(description="Model name; `kgflow models` lists all.")] = "nfe-1"
    dim: int = Field(default=128, ge=1, le=2**20, description="Embedding dimension, the paper's n.")
    bias: Annotated[
        bool, Field(description="Add a learned entity bias to the scores of tails.")
    ] = False
    inverse_relations: Annotated[
        bool, Field(description="Learn separate embeddings for inverse relations.")
    ] = True
    bidirectional: Annotated[
        bool, Field(description="Score candidates by the mean of both directions of a triple.")
    ] = False
    options: Annotated[
        dict[str, Option], Field(description="Options of this model, such as x0 = 'uniform'.")
    ] = {}
    members: Annotated[list["Member"], Field(description="Runs that an ensemble is made of.")] = []

    @classmethod
    def common_keys(cls) -> list[str]:
        """List the settings that all models have."""
        return [key for key in cls.model_fields if key not in ("options", "members")]

    @model_validator(mode="before")
    @classmethod
    def _collect_options(cls, values: Any) -> Any:  # noqa: ANN401
        """Take keys that only some models have as options, which the model itself validates."""
        if not isinstance(values, Mapping):
            return values
        found = {k: v for k, v in values.items() if k in cls.model_fields}
        options = {k: v for k, v in values.items() if k not in cls.model_fields}
        return found | {"options": {**found.get("options", {}), **options}}

    @model_serializer(mode="wrap")
    def _flat(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        values = serialize(self)
        options, members = values.pop("options"), values.pop("members")
        return values | options | ({"members": members} if members else {})

    @model_validator(mode="after")
    def _check_ensemble(self) -> Self:
        plain = ModelSettings.model_construct(name=ENSEMBLE, dim=self.dim, members=self.members)
        if self.members and self.model_dump() != plain.model_dump():
            raise refused(f"a model with 'members' is named '{ENSEMBLE}' and has only a 'dim'")
        if self.name == ENSEMBLE and not self.members:
            raise refused(f"'{ENSEMBLE}' cannot be trained: `kgflow ensemble` makes it from runs")
        return self


class TrainingSettings(Settings):
    """How to train."""

    epochs: Annotated[int, Field(ge=1, le=2**31, description="Number of training epochs.")] = 80
    batch_size: Annotated[int, Field(ge=1, le=2**31, description="Triples per batch.")] = 64
    batches: Literal["queries", "pieces", "facts"] = Field(
        default="queries",
        description="What batches are made of: whole queries (h, r) with all their tails, pieces"
        " of them, or single facts as in the paper.",
    )
    init_scale: Annotated[
        float, Field(gt=0, le=100, description="Factor that multiplies the initial embeddings.")
    ] = 1.0
    ema_decay: float = Field(
        default=0.9, ge=0, lt=1, description="EMA decay of the weights per epoch; 0 turns EMA off."
    )
    validate_every: Annotated[int, Field(ge=1, description="Epochs between validations.")] = 1
    patience: Annotated[
        int, Field(ge=1, description="Stop after this many validations without improvement.")
    ] = 15
    conformal_fraction: Annotated[
        float,
        Field(ge=0, lt=1, description="Fraction of validation triples kept for prediction sets."),
    ] = 0.3
    relation_prediction_weight: Annotated[
        float, Field(ge=0, description="Weight of the relation prediction loss.")
    ] = 0.0
    loss: Annotated[Chosen, BeforeValidator(LOSSES.parse)] = _chosen(LOSSES)
    regularizer: Annotated[Chosen, BeforeValidator(REGULARIZERS.parse)] = _chosen(REGULARIZERS)
    optimizer: Annotated[Chosen, BeforeValidator(OPTIMIZERS.parse)] = _chosen(OPTIMIZERS)
    lr_schedule: Annotated[Chosen, BeforeValidator(LR_SCHEDULES.parse)] = _chosen(LR_SCHEDULES)


class Member(Settings):
    """A run in an ensemble: its directory at that time, and how it was trained."""

    run: str
    seed: int
    model: ModelSettings
    training: TrainingSettings


ModelSettings.model_rebuild()


class Experiment(Settings):
    """A data set, a seed, a model and a training.

    Example:
        >>> Experiment(data="umls").model.name
        'nfe-1'
    """

    data: Annotated[str, Field(description="Data set name, directory or file.")]
    seed: Annotated[int, Field(ge=0, le=2**31, description="Random seed.")] = 0
    model: ModelSettings = ModelSettings()
    training: TrainingSettings = Field(default_factory=TrainingSettings)


class RunInfo(Settings):
    """Facts about a saved run; `preset` names the preset and its recipe, as in "auto/sparse"."""

    format: int
    preset: str = ""
    kgflow: str
    data_digest: str
    entities: int
    relations: int
    plugins: list[str] = []


class RunConfig(Experiment):
    """The experiment behind a saved run, and facts about the run."""

    run: RunInfo


class Entry(Settings):
    """One setting, as `kgflow settings` lists it."""

    key: str
    type: str
    default: Any
    description: str
    components: list[str] = []
    """Names of the components that have this setting; empty where it always applies."""


def entries() -> Iterator[Entry]:
    """List every setting of an experiment with its type, default and description.

    Example:
        >>> next(e.default for e in entries() if e.key == "training.epochs")
        80
    """
    for key in ("data", "seed"):
        yield _entry(Experiment, key, key)
    for key in ModelSettings.common_keys():
        yield _entry(ModelSettings, key, f"model.{key}")
    for key in TrainingSettings.model_fields:
        group = GROUPS.get(f"training.{key}")
        if group is None:
            yield _entry(TrainingSettings, key, f"training.{key}")
        else:
            yield from _group_entries(group)


def _group_entries(group: Group) -> Iterator[Entry]:
    """List the name of a component and the settings of all components, equal ones once."""
    names = sorted(group.members, key=lambda name: (name != group.default, name))
    what = group.key.rpartition(".")[2].replace("lr_", "learning rate ")
    yield Entry(
        key=f"{group.key}.name",
        type=f"one of {', '.join(names)}",
        default=group.default,
        description=f"Name of the {what}.",
    )
    found: dict[tuple[str, str, str, str], Entry] = {}
    for name in names:
        for field in group[name].model_fields:
            entry = _entry(group[name], field, f"{group.key}.{field}")
            if field != "name":
                same = (entry.key, entry.type, str(entry.default), entry.description)
                found.setdefault(same, entry).components.append(name)
    for entry in found.values():
        shared = len(entry.components) == len(names)
        yield entry.model_copy(update={"components": []}) if shared else entry


def _entry(kind: type[BaseModel], field: str, key: str) -> Entry:
    info = kind.model_fields[field]
    default = None if info.is_required() else info.get_default(call_default_factory=True)
    type_name = getattr(info.annotation, "__name__", str(info.annotation))
    if get_origin(info.annotation) is Literal:
        type_name = f"one of {', '.join(map(str, get_args(info.annotation)))}"
    text = str(info.description)
    return Entry(key=key, type=type_name, default=default, description=text, components=[])


T = TypeVar("T", bound=Settings)


def parse(kind: type[T], values: Mapping[str, Any], source: str, key: str = "") -> T:
    """Validate settings; raise one sentence about the first problem."""
    try:
        return kind.model_validate(dict(values))
    except ValidationError as error:
        raise KgflowError(f"{source}: {sentence(kind, error, key)}") from None


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise KgflowError(f"{path} does not exist") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise KgflowError(f"{path} is not TOML: {error}") from None


def read(kind: type[T], path: Path) -> T:
    """Read and validate settings from a TOML file."""
    return parse(kind, read_toml(path), str(path))


def dump(config: Settings) -> bytes:
    """Write settings as TOML."""
    return tomli_w.dumps(config.model_dump()).encode()


def merge(base: Mapping[str, Any], changes: Mapping[str, Any], key: str = "") -> dict[str, Any]:
    """Update nested settings; a component that gets another name loses its other settings.

    Example:
        >>> base = {"training": {"loss": {"name": "one-vs-all", "margin": 2.0}, "epochs": 3}}
        >>> merge(base, {"training": {"loss": {"name": "softmax"}}})
        {'training': {'loss': {'name': 'softmax'}, 'epochs': 3}}
    """
    merged = dict(base)
    for name, value in changes.items():
        path, old = f"{key}.{name}".lstrip("."), merged.get(name)
        if not (isinstance(value, Mapping) and isinstance(old, Mapping)):
            merged[name] = value
            continue
        current = old.get("name", GROUPS[path].default) if path in GROUPS else None
        renamed = path in GROUPS and value.get("name", current) != current
        merged[name] = dict(value) if renamed else merge(old, value, path)
    return merged


def expand(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with dotted keys as nested ones.

    Example:
        >>> expand({"training.loss.margin": 2.0, "training.loss.name": "kvsall", "seed": 1})
        {'training': {'loss': {'margin': 2.0, 'name': 'kvsall'}}, 'seed': 1}
    """
    found: dict[str, Any] = {}
    for key, value in settings.items():
        *path, last = key.split(".")
        table = found
        for part in path:
            table = table.setdefault(part, {})
            if not isinstance(table, dict):
                raise KgflowError(f"'{key}' is set, but '{part}' is not a table")
        if isinstance(value, Mapping) and isinstance(table.get(last), dict):
            table[last] |= expand(value)
        else:
            table[last] = expand(value) if isinstance(value, Mapping) else value
    return found


def refused(text: str) -> PydanticCustomError:
    """Return a validation error whose message is a whole sentence."""
    # Braces would be read as a template.
    return PydanticCustomError("refused", "{sentence}", {"sentence": text})


def sentence(kind: type[BaseModel], error: ValidationError, prefix: str = "") -> str:
    """Describe the first problem of a validation in one sentence."""
    first = error.errors()[0]
    path = [str(part) for part in first["loc"]]
    name = ".".join([prefix, *path] if prefix else path)
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
            continue  # a position in a list, whose type is known by now
        annotation = kind.model_fields[part].annotation
        (annotation,) = get_args(annotation) or (annotation,)
        assert isinstance(annotation, type)
        kind = annotation
    return list(kind.model_fields)
