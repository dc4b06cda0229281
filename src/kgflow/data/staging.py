"""Directories that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kgflow.errors import KgflowError


@contextmanager
def staged(directory: Path) -> Iterator[Path]:
    r"""A scratch directory to fill, which takes its name when the block ends well.

    Example:
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     place = Path(folder) / "mine"
        ...     with staged(place) as scratch:
        ...         _ = (scratch / "train.tsv").write_text("a\tb\tc\n")
        ...         place.exists()
        ...     [path.name for path in place.iterdir()]
        False
        ['train.tsv']
    """
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise KgflowError(f"{directory} exists and is not empty: give another directory")
    directory.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=directory.parent, prefix=".kgflow-") as outer:
        scratch = Path(outer) / directory.name
        scratch.mkdir()
        yield scratch
        for path in scratch.iterdir():
            with path.open("rb") as file:
                os.fsync(file.fileno())
        scratch.replace(directory)
