"""Catalogue of named data sets, and their directories on this machine."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from kgflow.data.dataset import SPLITS, Dataset
from kgflow.errors import KgflowError, suggest

EMBEDDED = Path(__file__).parent / "embedded"


@dataclass(frozen=True)
class CatalogEntry:
    """Named data set with its description and, if known, its counts, checksums and address.

    Counts are those of the rows in the files; `sha256` is the checksum of each split, uncompressed;
    `blob` is the git blob id of the archive, which is required for a download.

    Example:
        >>> entry("umls").entities
        135
        >>> entry("umsl")
        Traceback (most recent call last):
        kgflow.errors.KgflowError: unknown data set 'umsl'; did you mean umls?
    """

    name: str
    about: str
    entities: int | None = None
    relations: int | None = None
    train: int | None = None
    valid: int | None = None
    test: int | None = None
    sha256: Mapping[str, str] = field(default_factory=dict)
    archive: str | None = None
    blob: str | None = None

    def count_notices(self, dataset: Dataset) -> tuple[str, ...]:
        """Return a notice if a loaded data set has other counts than this entry."""
        found = {"entities": len(dataset.entities), "relations": len(dataset.relations)}
        for split in SPLITS:
            found[split] = len(dataset.split(split)) + dataset.duplicates.get(split, 0)
        expected = {what: getattr(self, what) for what in found}
        wrong = [
            f"{found[what]:,} {what} instead of {count:,}"
            for what, count in expected.items()
            if count is not None and count != found[what]
        ]
        return (f"{self.name} has unexpected counts: {', '.join(wrong)}",) if wrong else ()


@cache
def entries() -> dict[str, CatalogEntry]:
    """Return all entries by name."""
    text = Path(__file__).with_name("catalog.toml").read_text(encoding="utf-8")
    return {name: CatalogEntry(name=name, **fields) for name, fields in tomllib.loads(text).items()}


def entry(name: str) -> CatalogEntry:
    """Return the entry of a name; the error for an unknown name suggests similar ones."""
    if name not in entries():
        hint = suggest(name, entries()) or "; give a name from kgflow data list, or a path"
        raise KgflowError(f"unknown data set {name!r}{hint}")
    return entries()[name]


def cache_directory() -> Path:
    """Return the directory of downloads: kgflow in $XDG_CACHE_HOME, or else in ~/.cache."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "kgflow"


def data_directory() -> Path:
    """Return the directory of the user's data sets: $KGFLOW_DATA, or else the cache directory."""
    chosen = os.environ.get("KGFLOW_DATA")
    return Path(chosen) if chosen else cache_directory()


def find_directory(name: str) -> Path | None:
    """Return the directory of a named data set, or None if it is not on this machine."""
    candidates = (root / name for root in (EMBEDDED, data_directory(), cache_directory()))
    return next((place for place in candidates if place.is_dir()), None)


def dataset_directory(name: str) -> Path:
    """Return the directory of a named data set, or raise an error that tells where to put it."""
    known, found = entry(name), find_directory(name)
    if found is None:
        way = f"run kgflow data download {name}, or " if known.blob else ""
        raise KgflowError(
            f"the data set {name} is not on this machine: {way}"
            f"put its train, valid and test files in {data_directory() / name}"
        )
    return found


def list_datasets() -> list[tuple[CatalogEntry, Path | None]]:
    """Return every entry with its directory on this machine, if any."""
    return [(known, find_directory(name)) for name, known in entries().items()]
