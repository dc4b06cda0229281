"""Data sets with further triples, whose names may be new."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from kgflow.data.dataset import Dataset
from kgflow.data.loading import assign_ids, frame_weights
from kgflow.data.triples import Ids, Mask, Triples
from kgflow.data.vocabulary import Vocabulary
from kgflow.errors import KgflowError

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class Extension:
    """A data set with further training triples.

    Args:
        data: the extended data set.
        added: the triples that were added to train.
        known: number of given triples that were in one of the splits already.
        repeated: number of given triples that were given before.
        notices: remarks for the user.
    """

    data: Dataset
    added: Triples
    known: int
    repeated: int
    notices: tuple[str, ...] = ()


def extend(
    data: Dataset,
    frame: pl.DataFrame,
    labels: Mapping[str, str] | None = None,
    types: Mapping[str, Sequence[str]] | None = None,
) -> Extension:
    """Add triples of names to the training split of a data set.

    Known names keep their ids; new ones follow in the order of their first appearance. Triples of
    validation and test stay where they are. Given labels replace known ones, given types are added.

    Args:
        data: data set.
        frame: table of head, relation, tail and optionally weight.
        labels: labels of entities.
        types: types of entities.

    Example:
        >>> import polars as pl
        >>> from kgflow.data import load
        >>> facts = pl.DataFrame({"head": ["Avalon"], "relation": ["borders"], "tail": ["France"]})
        >>> found = extend(load("world"), facts)
        >>> found.data.entities.names[-1], len(found.added), found.known
        ('Avalon', 1, 0)
    """
    names, (h, t) = assign_ids(frame["head"], frame["tail"])
    entities, place = _extended(data.entities, names)
    names, (r,) = assign_ids(frame["relation"])
    relations, relation_place = _extended(data.relations, names)
    given = Triples(place[h], relation_place[r], place[t], frame_weights(frame))
    distinct, repeated = given.unique()
    known = _known(data, distinct)
    added = distinct.take(~known)
    label_of, types_of = _annotations(entities, labels or {}, types or {})
    merged = {**data.types}
    for name, found in types_of.items():
        merged[name] = tuple(dict.fromkeys([*merged.get(name, ()), *found]))
    extended = replace(
        data,
        entities=entities,
        relations=relations,
        train=Triples.concatenate([data.train, added]) if len(added) else data.train,
        labels={**data.labels, **label_of},
        types=merged,
        notices=(),
        duplicates={},
    )
    notices = _notices(data, entities, len(labels or {}) - len(label_of), "labels")
    return Extension(extended, added, int(known.sum()), repeated, notices)


def triples_frame(triples: Sequence[Sequence[object]]) -> pl.DataFrame:
    """Return triples of names, each optionally with a weight, as a table.

    Example:
        >>> triples_frame([("Paris", "in", "France")]).columns
        ['head', 'relation', 'tail']
    """
    import polars as pl

    from kgflow.data.tables import find_row_error

    widths = {len(triple) for triple in triples}
    if not widths <= {3} and not widths <= {4}:
        raise KgflowError("triples are (head, relation, tail), or all of them with a weight")
    names = ("head", "relation", "tail", "weight")[: max(widths, default=3)]
    columns = list(zip(*triples, strict=True)) or [()] * 3
    frame = pl.DataFrame(
        {
            name: pl.Series(name, list(map(str, column)), dtype=pl.String)
            for name, column in zip(names, columns, strict=True)
        }
    )
    error = find_row_error(frame)
    if error:
        raise KgflowError(f"triple {error.row + 1}: {error.message}")
    weight = [pl.col("weight").cast(pl.Float64)] if "weight" in names else []
    return frame.with_columns(*weight)


def _extended(vocabulary: Vocabulary, names: Sequence[str]) -> tuple[Vocabulary, Ids]:
    """Return a vocabulary with further names, and the id of each of these names."""
    new = [name for name in names if name not in vocabulary]
    extended = Vocabulary((*vocabulary.names, *new), vocabulary.kind) if new else vocabulary
    return extended, extended.ids(names)


def _known(data: Dataset, triples: Triples) -> Mask:
    """Return which triples are in a split; those with new names are not."""
    E, R = len(data.entities), len(data.relations)
    old = (triples.h < E) & (triples.r < R) & (triples.t < E)
    known = np.zeros(len(triples), dtype=bool)
    mine = triples.take(old)
    known[old] = data.known.contains(mine.h, mine.r, mine.t)
    return known


def _annotations(
    entities: Vocabulary, labels: Mapping[str, str], types: Mapping[str, Sequence[str]]
) -> tuple[dict[str, str], dict[str, Sequence[str]]]:
    return (
        {name: label for name, label in labels.items() if name in entities},
        {name: found for name, found in types.items() if name in entities},
    )


def _notices(data: Dataset, entities: Vocabulary, left_out: int, what: str) -> tuple[str, ...]:
    known = {label: name for name, label in data.labels.items()}
    new = entities.names[len(data.entities) :]
    same = [name for name in new if name in known]
    notices = [f"{what} of names that are no entities were left out: {left_out:,}"] * (left_out > 0)
    if same:
        notices.append(
            f"new entities that are named like the label of a known entity: {len(same):,}, such as"
            f" {same[0]!r}, the label of {known[same[0]]!r}; if they are meant, give their names"
        )
    return tuple(notices)
