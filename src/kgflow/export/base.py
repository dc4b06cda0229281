"""The base class of export formats, and the arrays that several formats write."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from kgflow.data.iri import is_address
from kgflow.errors import KgflowError
from kgflow.io import atomic_directory, atomic_file
from kgflow.runs.run import Run

Vectors = NDArray[np.float32]

FORMATS: dict[str, type["ExportFormat"]] = {}
"""Export formats by name."""


class ExportFormat(BaseModel, ABC):
    """A format in which other programs can read a run.

    A new format is a subclass of `FileFormat` or `DirectoryFormat` with a `name`, which registers
    it, a `summary` and a method `fill`. Its options are the fields of the class.

    Example:
        >>> class EntityList(FileFormat):
        ...     name, summary = "entity-list", "entity names, one per line"
        ...     separator: str = " "
        ...
        ...     def fill(self, run, path):
        ...         path.write_text(self.separator.join(run.data.entities))
        >>> FORMATS.pop("entity-list")(separator=";").separator
        ';'
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: ClassVar[str]
    summary: ClassVar[str]
    """Contents of the file or directory, in one line."""

    def __init_subclass__(cls, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init_subclass__(**kwargs)
        if "name" in cls.__dict__:
            FORMATS[cls.name] = cls

    @abstractmethod
    def write(self, run: Run, out: Path | str) -> Path | str:
        """Write a run to the path or address `out` and return that."""


class FileFormat(ExportFormat):
    """A format of one file."""

    @abstractmethod
    def fill(self, run: Run, path: Path) -> None:
        """Write the contents to a temporary file."""

    def write(self, run: Run, out: Path | str) -> Path:
        with atomic_file(local_path(self.name, out)) as file:
            self.fill(run, file)
        return Path(out)


class DirectoryFormat(ExportFormat):
    """A format of several files in a directory."""

    @abstractmethod
    def fill(self, run: Run, path: Path) -> None:
        """Write the contents to a temporary directory."""

    def write(self, run: Run, out: Path | str) -> Path:
        with atomic_directory(local_path(self.name, out)) as directory:
            self.fill(run, directory)
        return Path(out)


def local_path(name: str, out: Path | str) -> Path:
    """Return a path, or raise an error for the address of a server."""
    if is_address(out):
        raise KgflowError(f"format {name} cannot be written to {out}: give a path")
    return Path(out)


def embeddings(run: Run, kind: str) -> dict[str, Vectors]:
    """Return the trained embeddings of entities or relations, ``(N, width)`` for each part.

    Relations are followed by their inverse relations, which answer (?, r, t).
    """
    table = run.model.entity if kind == "entity" else run.model.relation
    weight = table.weight.detach()
    parts = dict(zip(table.parts, table.split(weight), strict=True))
    if table.has_bias:
        parts["bias"] = table.bias(weight)[:, None]
    return {name: x.float().cpu().numpy() for name, x in parts.items()}


def embedding_names(run: Run, kind: str) -> list[str]:
    """Return the names of the embeddings; that of an inverse relation ends in ⁻¹."""
    if kind == "entity":
        return list(run.data.entities)
    return [*run.data.relations, *(f"{name}⁻¹" for name in run.data.relations)]


def key_vectors(run: Run) -> Iterator[Vectors]:
    """Yield the key vectors K of all entities in blocks ``(N, m)``.

    Their distances or inner products are those that the model was trained with.
    """
    for _, _, extended in run.predictor.embedding_keys.key_blocks():
        yield extended[:, :-2].float().cpu().numpy()
