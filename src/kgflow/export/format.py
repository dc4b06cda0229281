"""What a format is."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kgflow.io import atomic_directory, atomic_file
from kgflow.runs.run import Run

Vectors = NDArray[np.float32]


class Format(ABC):
    """A way to write a run that other programs can read."""

    name: ClassVar[str]
    about: ClassVar[str]
    """What it holds, for people."""

    @abstractmethod
    def write(self, run: Run, out: Path) -> Path:
        """Write a run; gives the file or directory."""


class FileFormat(Format):
    """A format that is one file."""

    def write(self, run: Run, out: Path) -> Path:
        """Write the file beside its place, and put it there when it is whole."""
        with atomic_file(out) as file:
            self.fill(run, file)
        return out

    @abstractmethod
    def fill(self, run: Run, file: Path) -> None:
        """Write all of it to a file."""


class FolderFormat(Format):
    """A format of several files."""

    def write(self, run: Run, out: Path) -> Path:
        """Fill a directory that appears when it is whole."""
        with atomic_directory(out) as folder:
            self.fill(run, folder)
        return out

    @abstractmethod
    def fill(self, run: Run, folder: Path) -> None:
        """Write all files into a directory."""


def parts(run: Run, kind: str) -> dict[str, Vectors]:
    """The rows of entities or relations as trained, ``(N, width)`` for each part.

    Of relations, those with inverse_relations: the second half answers (?, r, t).
    """
    table = run.model.entity if kind == "entity" else run.model.relation
    rows = table.weight.detach()
    found = dict(zip(table.parts, table.split(rows), strict=True))
    if table.has_bias:
        found["bias"] = table.bias(rows)[:, None]
    return {k: x.float().cpu().numpy() for k, x in found.items()}


def names(run: Run, kind: str) -> list[str]:
    """The names of rows; a reciprocal relation's ends in ⁻¹."""
    if kind == "entity":
        return list(run.data.entities)
    return [*run.data.relations, *(f"{name}⁻¹" for name in run.data.relations)]


def keys(run: Run) -> Iterator[Vectors]:
    """What entities bring to the scores of training, K, by blocks ``(N, m)``.

    Their distance or inner product means what it means to the model.
    """
    for _, _, wide in run.predictor.embedding_keys.key_blocks():
        yield wide[:, :-2].float().cpu().numpy()
