"""Options that several commands share, and groups of options."""

import inspect
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, fields, is_dataclass
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


def option(default: Any, help: str | None = None, *names: str, **details: Any) -> Any:  # noqa: A002, ANN401
    """Return a field of a dataclass of options; `details` are arguments of `typer.Option`."""
    return field(default=default, metadata={"names": names, "help": help, **details})


@dataclass(frozen=True)
class FileOptions:
    """Format of the files of a data set."""

    panel: ClassVar[str] = "Files"

    columns: str | None = option(
        None, "Columns of head, relation, tail and optionally weight: names, or numbers from 0."
    )
    labels: Path | None = option(None, "File of entity labels: name TAB label.")
    types: Path | None = option(None, "File of entity types: name TAB type.")


@dataclass(frozen=True)
class PredictionSetOptions:
    """Coverage and kind of prediction sets."""

    panel: ClassVar[str] = "Prediction sets"

    coverage: float | None = option(None, "Coverage of prediction sets, such as 0.9.")
    by_relation: bool = option(False, "Calibrate prediction sets for each relation and side.")
    nonconformity: str | None = option(
        None,
        "Nonconformity score: rank, score, minmax, softmax, aps, raps or logit; without, the one"
        " with the smallest sets on validation facts.",
    )

    def __post_init__(self) -> None:
        wanted = ("--by-relation", self.by_relation), ("--nonconformity", self.nonconformity)
        for flag, given in wanted:
            if given and self.coverage is None:
                raise KgflowError(f"{flag} needs --coverage: give both")


def option_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Replace each dataclass parameter of a command by options, one per field.

    Example:
        >>> @dataclass
        ... class Network:
        ...     panel: ClassVar[str] = "Network"  # title in the help
        ...     host: str = option("127.0.0.1", "Network address to listen on.")
        ...     port: int = option(8000, "Port to listen on.", min=0)
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
            parameters += _parameters(parameter.annotation)
        else:
            parameters.append(parameter.replace(kind=parameter.KEYWORD_ONLY))

    @wraps(command)
    def call(**values: Any) -> None:  # noqa: ANN401
        for name, group in groups.items():
            values[name] = group(**{f.name: values.pop(f.name) for f in fields(group)})
        command(**values)

    vars(call)["__signature__"] = inspect.Signature(parameters)
    call.__annotations__ = {p.name: p.annotation for p in parameters}
    return call


def _parameters(group: Any) -> Iterator[inspect.Parameter]:  # noqa: ANN401
    hints = get_type_hints(group)
    for item in fields(group):
        details = dict(item.metadata)
        names = details.pop("names")
        if hints[item.name] is bool and not names:
            names = (f"--{item.name.replace('_', '-')}",)  # no flag --no-…
        info = typer.Option(item.default, *names, rich_help_panel=group.panel, **details)
        kind = inspect.Parameter.KEYWORD_ONLY
        yield inspect.Parameter(item.name, kind, default=info, annotation=hints[item.name])


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
