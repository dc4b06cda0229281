"""The benchmark data sets that have a name, and where they lie on this machine."""

from __future__ import annotations

import hashlib
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from kgflow.data import files
from kgflow.data.dataset import SPLITS, Dataset
from kgflow.errors import KgflowError, suggest

EMBEDDED = Path(__file__).parent / "embedded"


@dataclass(frozen=True)
class Entry:
    """One named data set: what it is and, where known, its counts, checksums and address.

    Counts are of the rows in the files; `sha256` is of each split, uncompressed; `blob` is the
    git blob id of the archive. Only what is pinned by that id can be downloaded.

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

    def differences(self, dataset: Dataset) -> tuple[str, ...]:
        """A notice if the counts of a loaded data set are not those expected."""
        found = {"entities": len(dataset.entities), "relations": len(dataset.relations)}
        for split in SPLITS:
            found[split] = len(dataset.split(split)) + dataset.duplicates.get(split, 0)
        expected = {what: getattr(self, what) for what in found}
        wrong = [
            f"{found[what]:,} {what} instead of {count:,}"
            for what, count in expected.items()
            if count is not None and count != found[what]
        ]
        return (f"{self.name} is not the usual one: {', '.join(wrong)}",) if wrong else ()


@cache
def entries() -> dict[str, Entry]:
    """The whole catalogue, by name."""
    text = Path(__file__).with_name("catalog.toml").read_text(encoding="utf-8")
    return {name: Entry(name=name, **about) for name, about in tomllib.loads(text).items()}


def entry(name: str) -> Entry:
    """The entry of a name; a misspelt name gets the nearest ones suggested."""
    if name not in entries():
        hint = suggest(name, entries()) or "; give a name from kgflow data list, or a path"
        raise KgflowError(f"unknown data set {name!r}{hint}")
    return entries()[name]


def cache_directory() -> Path:
    """Where downloads go: kgflow in $XDG_CACHE_HOME, or else in ~/.cache."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "kgflow"


def home() -> Path:
    """Where users keep their data sets: $KGFLOW_DATA, or else the cache directory."""
    chosen = os.environ.get("KGFLOW_DATA")
    return Path(chosen) if chosen else cache_directory()


def find(name: str) -> Path | None:
    """The directory of a named data set, if it is on this machine."""
    places = (root / name for root in (EMBEDDED, home(), cache_directory()))
    return next((place for place in places if place.is_dir()), None)


def directory(name: str) -> Path:
    """The directory of a named data set; if it is missing, a sentence says where to put it."""
    about, found = entry(name), find(name)
    if found is None:
        way = f"run kgflow data download {name}, or " if about.blob else ""
        raise KgflowError(
            f"the data set {name} is not on this machine: {way}"
            f"put its train, valid and test files in {home() / name}"
        )
    return found


def listing() -> list[tuple[Entry, Path | None]]:
    """Every entry with the directory it was found in, if any."""
    return [(about, find(name)) for name, about in entries().items()]


def altered(name: str) -> list[str]:
    """The splits of a named data set whose checksum is known and is another."""
    place = directory(name)
    wrong = []
    for split, expected in entry(name).sha256.items():
        path = files.find(place, split)
        if path is None or hashlib.sha256(files.raw(path)).hexdigest() != expected:
            wrong.append(split)
    return wrong
