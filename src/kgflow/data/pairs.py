"""Labels and types of entities, from tables of two columns."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kgflow.data import files
from kgflow.data.rows import rows
from kgflow.errors import KgflowError


def read_labels(path: Path) -> dict[str, str]:
    """The label of each entity, from rows of id and label; the first label counts."""
    labels: dict[str, str] = {}
    for name, label in _pairs(path, "label"):
        labels.setdefault(name, label)
    return labels


def read_types(path: Path) -> dict[str, tuple[str, ...]]:
    """The types of each entity, from rows of id and type, in the order they are given."""
    types: dict[str, dict[str, None]] = {}
    for name, type_ in _pairs(path, "type"):
        types.setdefault(name, {})[type_] = None
    return {name: tuple(found) for name, found in types.items()}


def _pairs(path: Path, what: str) -> Iterator[tuple[str, str]]:
    if files.kind(path) not in files.SEPARATORS:
        raise KgflowError(f"{path}: {what}s are read from .tsv, .txt or .csv files: convert it")
    for line, cells in rows(path, files.content(path)):
        if len(cells) != 2 or not cells[0]:
            raise KgflowError(
                f"{path}:{line}: an entity and its {what} are needed, in 2 columns: "
                f"correct the row {', '.join(map(repr, cells))}"
            )
        yield cells[0], cells[1]
