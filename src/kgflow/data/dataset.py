"""A graph with its names, split for training, validation and test."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from kgflow.data.queries import QueryIndex
from kgflow.data.triples import Triples
from kgflow.data.vocabulary import Vocabulary
from kgflow.errors import KgflowError, suggest

SPLITS = ("train", "valid", "test")


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Three splits over one vocabulary, which spans them all.

    Ids follow the first appearance of a name in train, then valid, then test, the head of a
    triple before its tail. Within a split every triple stands once; `duplicates` counts the
    rows that were merged for that, by split.

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
        >>> len(tiny.queries("train"))  # (Paris, capital_of, ?) and its reciprocal
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

    def split(self, name: str) -> Triples:
        """The triples of train, valid or test."""
        if name not in SPLITS:
            raise KgflowError(
                f"unknown split {name!r}{suggest(name, SPLITS)}: give train, valid or test"
            )
        triples: Triples = getattr(self, name)
        return triples

    def queries(self, *splits: str) -> QueryIndex:
        """The queries of these splits (of all when none is named), with inverse_relations."""
        return self.index(Triples.concatenate([self.split(s) for s in splits or SPLITS]))

    def index(self, facts: Triples) -> QueryIndex:
        """The queries of some facts over these names, with inverse_relations."""
        return QueryIndex.build(facts, len(self.entities), len(self.relations))

    @cached_property
    def known(self) -> QueryIndex:
        """Query index of all splits: the filter of ranking and prediction."""
        return self.queries()

    def label(self, i: int) -> str:
        """What to show for entity i: its label, or else its name."""
        name = self.entities[i]
        return self.labels.get(name, name)

    def entity_id(self, text: str) -> int:
        """The id of an entity by its name or, if no name is so, by a label that only it has."""
        if text in self.entities:
            return self.entities.id(text)
        named = self._labelled.get(text, [])
        if len(named) > 1:
            raise KgflowError(
                f"{text!r} is the label of {named[0]!r} and of {named[1]!r}: ask by name"
            )
        if not named:
            labels = Vocabulary(tuple(self._labelled)).near(text)
            near = suggest(text, [*self.entities.near(text), *labels])
            raise KgflowError(f"unknown entity {text!r}{near}")
        return self.entities.id(named[0])

    @cached_property
    def _labelled(self) -> dict[str, list[str]]:
        """The names of the entities that have a label, by label."""
        found: dict[str, list[str]] = {}
        for name, label in self.labels.items():
            if name in self.entities:
                found.setdefault(label, []).append(name)
        return found

    @property
    def weighted(self) -> bool:
        """Whether the training triples carry weights."""
        return self.train.weight is not None

    def digest(self) -> str:
        """A hash of the names, the splits and the weights, and of nothing else."""
        names = [self.entities.names, self.relations.names]
        parts = hashlib.sha256(json.dumps(names).encode())
        for split in SPLITS:
            triples = self.split(split)
            parts.update(f"{split} {len(triples)}".encode())
            parts.update(triples.array().astype("<i8").tobytes())
            parts.update(b"" if triples.weight is None else triples.weight.astype("<f4").tobytes())
        return parts.hexdigest()
