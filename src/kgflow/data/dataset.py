"""Data sets: a vocabulary and the triples of train, valid and test; and their TSV files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kgflow.data.columns import recognize_header
from kgflow.data.iri import short_name
from kgflow.data.query_index import QueryIndex
from kgflow.data.triples import Ids, Triples
from kgflow.data.vocabulary import Vocabulary
from kgflow.errors import KgflowError, suggest
from kgflow.io import atomic_directory

if TYPE_CHECKING:
    import polars as pl

SPLITS = ("train", "valid", "test")


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Triples of train, valid and test over one vocabulary.

    Ids follow the first appearance of a name in train, then valid, then test, the head of a
    triple before its tail. The triples of a split are distinct; `duplicates` counts the repeated
    ones that were removed, by split.

    Example:
        >>> tiny = Dataset(
        ...     name="tiny",
        ...     entities=Vocabulary(["Paris", "France", "Lima"]),
        ...     relations=Vocabulary(["capital_of"], kind="relation"),
        ...     train=Triples.of([(0, 0, 1)]),
        ... )
        >>> tiny
        Dataset(tiny: 3 entities, 1 relations, 1 train, 0 valid, 0 test)
        >>> tiny.entity_id("Lima")
        2
        >>> len(tiny.queries("train"))  # (Paris, capital_of, ?) and its inverse
        2
    """

    name: str
    entities: Vocabulary
    relations: Vocabulary
    train: Triples
    valid: Triples = field(default_factory=Triples.empty)
    test: Triples = field(default_factory=Triples.empty)
    labels: Mapping[str, str] = field(default_factory=dict)
    types: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notices: tuple[str, ...] = ()
    duplicates: Mapping[str, int] = field(default_factory=dict)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{len(self.split(s)):,} {s}" for s in SPLITS)
        names = f"{len(self.entities):,} entities, {len(self.relations):,} relations"
        return f"Dataset({self.name}: {names}, {sizes})"

    @staticmethod
    def from_pykeen(
        training: Any,  # noqa: ANN401
        validation: Any = None,  # noqa: ANN401
        testing: Any = None,  # noqa: ANN401
        name: str | None = None,
    ) -> Dataset:
        """Build a data set from PyKEEN's triples factories or data set; see `data.pykeen`."""
        from kgflow.data.pykeen import from_pykeen

        return from_pykeen(training, validation, testing, name)

    def split(self, name: str) -> Triples:
        """Return the triples of train, valid or test."""
        if name not in SPLITS:
            raise KgflowError(
                f"unknown split {name!r}{suggest(name, SPLITS)}: give train, valid or test"
            )
        triples: Triples = getattr(self, name)
        return triples

    def queries(self, *splits: str) -> QueryIndex:
        """Return the query index of some splits, by default all, with inverse relations."""
        return self.index(Triples.concatenate([self.split(s) for s in splits or SPLITS]))

    def index(self, triples: Triples) -> QueryIndex:
        """Return the query index of some triples, with inverse relations."""
        return QueryIndex.build(triples, len(self.entities), len(self.relations))

    @cached_property
    def known(self) -> QueryIndex:
        """Query index of all splits: the filter of ranking and prediction."""
        return self.queries()

    def label(self, i: int) -> str:
        """Return the label of entity i, or else its name, an IRI shortened."""
        name = self.entities[i]
        return self.labels.get(name) or short_name(name)

    def entity_id(self, text: str) -> int:
        """Return the id of an entity by its name or, if there is none, by a unique label."""
        if text in self.entities:
            return self.entities.id(text)
        names = self._names_by_label.get(text, [])
        if len(names) > 1:
            raise KgflowError(
                f"{text!r} is the label of {names[0]!r} and of {names[1]!r}: give the name"
            )
        if not names and self.entities.by_short_name(text) is not None:
            return self.entities.id(text)
        if not names:
            labels = Vocabulary(tuple(self._names_by_label)).similar(text)
            hint = suggest(text, [*self.entities.similar(text), *labels])
            raise KgflowError(f"unknown entity {text!r}{hint}")
        return self.entities.id(names[0])

    @cached_property
    def _names_by_label(self) -> dict[str, list[str]]:
        """Names of the labelled entities, by label."""
        found: dict[str, list[str]] = {}
        for name, label in self.labels.items():
            if name in self.entities:
                found.setdefault(label, []).append(name)
        return found

    def select(self, entities: Ids, relations: Ids) -> Dataset:
        """Return the data set of the entities and relations of these ids, numbered in this order.

        Triples with other entities or relations are left out.
        """
        new_e, new_r = (np.full(len(v), -1) for v in (self.entities, self.relations))
        new_e[entities], new_r[relations] = np.arange(len(entities)), np.arange(len(relations))

        def renumbered(old: Triples) -> Triples:
            new = Triples(new_e[old.h], new_r[old.r], new_e[old.t], old.weight)
            return new.take((new.h >= 0) & (new.r >= 0) & (new.t >= 0))

        return replace(
            self,
            entities=Vocabulary([self.entities[i] for i in entities.tolist()]),
            relations=Vocabulary([self.relations[i] for i in relations.tolist()], "relation"),
            train=renumbered(self.train),
            valid=renumbered(self.valid),
            test=renumbered(self.test),
        )

    @property
    def weighted(self) -> bool:
        """Whether the training triples have weights."""
        return self.train.weight is not None

    def digest(self) -> str:
        """Return the SHA-256 digest of the names, the splits and the weights."""
        names = [self.entities.names, self.relations.names]
        parts = hashlib.sha256(json.dumps(names).encode())
        for split in SPLITS:
            triples = self.split(split)
            parts.update(f"{split} {len(triples)}".encode())
            parts.update(triples.array().astype("<i8").tobytes())
            parts.update(b"" if triples.weight is None else triples.weight.astype("<f4").tobytes())
        return parts.hexdigest()


def save(dataset: Dataset, directory: str | Path) -> Path:
    """Write train, valid, test, labels and types as TSV files, leaving out empty ones.

    The directory must be new or empty; it appears when all files are written. Loading it gives the
    same data set.
    """
    target = Path(directory)
    types = [(name, type_) for name, several in dataset.types.items() for type_ in several]
    with atomic_directory(target) as temporary:
        for split in SPLITS:
            if len(dataset.split(split)):
                _write_tsv(_names(dataset, dataset.split(split)), temporary / f"{split}.tsv")
        _write_two_columns(dataset.labels.items(), temporary / "labels.tsv")
        _write_two_columns(types, temporary / "types.tsv")
    return target


def _names(dataset: Dataset, triples: Triples) -> pl.DataFrame:
    import polars as pl

    entities, relations = pl.Series(dataset.entities.names), pl.Series(dataset.relations.names)
    columns = {
        "head": entities.gather(triples.h),
        "relation": relations.gather(triples.r),
        "tail": entities.gather(triples.t),
    }
    return pl.DataFrame(columns if triples.weight is None else columns | {"weight": triples.weight})


def _write_two_columns(rows: Iterable[tuple[str, str]], path: Path) -> None:
    import polars as pl

    frame = pl.DataFrame(list(rows), schema=["name", "value"], orient="row")
    if frame.height:
        _write_tsv(frame, path)


def _write_tsv(frame: pl.DataFrame, path: Path) -> None:
    import polars as pl

    for column in frame.select(pl.col(pl.String)):
        invalid = column.str.contains(r"[\t\r\n]")
        if invalid.any():
            name = column.filter(invalid)[0]
            raise KgflowError(
                f"{name!r} contains a tab or a line break, which TSV cannot represent: rename it"
            )
    first = [str(cell) for cell in frame.row(0)]
    # A header protects a first row that would be read as a header or a byte order mark itself.
    header = recognize_header(first) is not None or first[0].startswith("\ufeff")
    frame.write_csv(path, separator="\t", include_header=header, quote_style="never")
