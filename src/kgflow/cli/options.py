"""Groups of command-line options, and options of the form KEY=VALUE."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints

from kgflow.errors import KgflowError


def option_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Replace each dataclass parameter of a command by options, one per field.

    Example:
        >>> from dataclasses import dataclass
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
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(group)
    ]


def parse_key_values(texts: Sequence[str]) -> dict[str, str]:
    """Return options of the form KEY=VALUE as a dictionary.

    Example:
        >>> parse_key_values(["k=5"])
        {'k': '5'}
    """
    for text in texts:
        if "=" not in text:
            raise KgflowError(f"'{text}' is not of the form KEY=VALUE")
    return dict(text.split("=", 1) for text in texts)
