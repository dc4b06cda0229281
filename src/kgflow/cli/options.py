"""Options that several commands share, and groups of options."""

import inspect
import tomllib
from collections.abc import Callable
from dataclasses import MISSING, asdict, dataclass, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, get_type_hints

import typer

from kgflow.cli.output import print_note
from kgflow.errors import KgflowError

if TYPE_CHECKING:
    from kgflow.data import Dataset

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Device = Annotated[str, typer.Option(help="Device to compute on: cpu, cuda, cuda:1 …")]
RunPath = Annotated[Path, typer.Argument(help="Run directory.", metavar="RUN")]
Split = Annotated[str, typer.Option(help="Split to evaluate on: train, valid or test.")]
Force = Annotated[bool, typer.Option("--force", help="Replace an existing run.")]
TsvOut = Annotated[Path | None, typer.Option(help="Write a TSV file instead of printing.")]

DATA_HELP = "Name of a data set, directory of train/valid/test files, or one file to split."
Source = Annotated[str, typer.Argument(metavar="DATA", help=DATA_HELP)]


@dataclass(frozen=True)
class FileOptions:
    """Format of the files of a data set."""

    panel: ClassVar[str] = "Files"

    columns: Annotated[
        str | None,
        typer.Option(
            help="Columns of head, relation, tail and optionally weight: names, or numbers from 0."
        ),
    ] = None
    labels: Annotated[Path | None, typer.Option(help="File of entity labels: name TAB label.")] = (
        None
    )
    types: Annotated[Path | None, typer.Option(help="File of entity types: name TAB type.")] = None


@dataclass(frozen=True)
class PredictionSetOptions:
    """Coverage and kind of prediction sets."""

    panel: ClassVar[str] = "Prediction sets"

    coverage: Annotated[
        float | None, typer.Option(help="Coverage of prediction sets, such as 0.9.")
    ] = None
    by_relation: Annotated[
        bool,
        typer.Option("--by-relation", help="Calibrate prediction sets for each relation and side."),
    ] = False
    adaptive: Annotated[
        bool,
        typer.Option(
            "--adaptive", help="Use adaptive prediction sets, smaller where the model is certain."
        ),
    ] = False

    def __post_init__(self) -> None:
        for flag, given in (("--by-relation", self.by_relation), ("--adaptive", self.adaptive)):
            if given and self.coverage is None:
                raise KgflowError(f"{flag} needs --coverage: give both")


def option_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Replace each dataclass parameter of a command by options, one per field.

    The class attribute `panel` of a dataclass is the title of its options in the help.

    Example:
        >>> @dataclass
        ... class Network:
        ...     host: str = "127.0.0.1"
        ...     port: int = 8000
        >>> @option_groups
        ... def serve(run: str, network: Network) -> None:
        ...     print(run, network.port)
        >>> list(inspect.signature(serve).parameters)
        ['run', 'host', 'port']
        >>> serve(run="here", host="localhost", port=80)
        here 80
    """
    groups: dict[str, Any] = {}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        if is_dataclass(parameter.annotation):
            groups[parameter.name] = parameter.annotation
            parameters += _field_parameters(parameter.annotation)
        else:
            parameters.append(parameter.replace(kind=parameter.KEYWORD_ONLY))

    @wraps(command)
    def call(**values: Any) -> None:  # noqa: ANN401
        for name, group in groups.items():
            values[name] = group(**{field.name: values.pop(field.name) for field in fields(group)})
        command(**values)

    vars(call)["__signature__"] = inspect.Signature(parameters)
    call.__annotations__ = {p.name: p.annotation for p in parameters}
    return call


def _field_parameters(group: Any) -> list[inspect.Parameter]:  # noqa: ANN401
    hints = get_type_hints(group, include_extras=True)
    for field in fields(group):
        for option in getattr(hints[field.name], "__metadata__", ()):
            option.rich_help_panel = group.panel
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(group)
    ]


def open_data(source: str, files: FileOptions | None = None, strict: bool = False) -> "Dataset":
    """Load a data set, and print notes on unusual properties."""
    from kgflow.data import load

    data = load(source, **asdict(files or FileOptions()), strict=strict)
    for notice in data.notices:
        print_note(f"note: {notice}")
    return data


def parse_setting(text: str) -> tuple[str, Any]:
    """Parse KEY=VALUE; the value is a TOML value, or else a string.

    Example:
        >>> parse_setting("training.loss.margin=2.5"), parse_setting("model.x0=uniform")
        (('training.loss.margin', 2.5), ('model.x0', 'uniform'))
    """
    key, sign, value = text.partition("=")
    if not sign or not key.strip():
        raise KgflowError(f"--set takes KEY=VALUE, such as training.loss.margin=2, not '{text}'")
    try:
        return key.strip(), tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return key.strip(), value.strip()
