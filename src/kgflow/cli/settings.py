"""kgflow settings."""

from typing import Annotated

import typer

from kgflow.cli.output import Json, show_json, table
from kgflow.errors import KgflowError, suggest


def settings(
    key: Annotated[
        str | None, typer.Argument(help="Key of a setting, or the beginning of keys.")
    ] = None,
    json: Json = False,
) -> None:
    """List all settings with their types, defaults and descriptions.

    Example: kgflow settings training.loss
    """
    from kgflow.config import entries

    found = list(entries())
    chosen = [e for e in found if key is None or e.key == key or e.key.startswith(f"{key}.")]
    if not chosen:
        hint = suggest(str(key), [e.key for e in found])
        raise KgflowError(f"unknown setting '{key}'{hint or ': `kgflow settings` lists all'}")
    if json:
        show_json({"settings": [e.model_dump() for e in chosen]})
        return
    rows = [[e.key, e.type, e.default, e.description, ", ".join(e.components)] for e in chosen]
    table("settings", ("key", "type", "default", "description", "only with"), rows)
