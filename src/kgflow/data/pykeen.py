"""Data sets of PyKEEN: triples factories, data sets, and directories that PyKEEN saved."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kgflow.data import files
from kgflow.data.dataset import Dataset
from kgflow.data.triples import Triples
from kgflow.data.vocabulary import Vocabulary
from kgflow.errors import KgflowError

TRIPLES = "numeric_triples.tsv.gz"
SPLITS = {"train": "training", "valid": "validation", "test": "testing"}
"""PyKEEN's names of the splits."""


def is_pykeen(source: object) -> bool:
    """Return whether a source is a triples factory or a data set of PyKEEN."""
    return hasattr(source, "mapped_triples") or hasattr(source, "factory_dict")


def from_pykeen(
    training: Any,  # noqa: ANN401
    validation: Any = None,  # noqa: ANN401
    testing: Any = None,  # noqa: ANN401
    name: str | None = None,
) -> Dataset:
    """Build a data set from triples factories, or from a data set of PyKEEN as the only argument.

    Entities and relations keep their ids; a factory without names has the ids as names. Inverse
    relations are left out: kgflow adds its own.

    Args:
        training: triples factory, or data set of PyKEEN.
        validation: triples factory with the same ids, if any.
        testing: triples factory with the same ids, if any.
        name: name of the data set.
    """
    if hasattr(training, "factory_dict"):
        known = training.factory_dict
        name = name or training.get_normalized_name()
        factories = {split: known.get(theirs) for split, theirs in SPLITS.items()}
    else:
        factories = {"train": training, "valid": validation, "test": testing}
    present = {split: factory for split, factory in factories.items() if factory is not None}
    names = _names(present["train"])
    for split, factory in present.items():
        if _names(factory) != names:
            raise KgflowError(
                f"the {split} factory has other entities or relations than the train factory: "
                "create it with entity_to_id and relation_to_id of that one"
            )
    triples = {split: factory.mapped_triples.numpy() for split, factory in present.items()}
    return _dataset(name or "pykeen", *names, triples)


def is_saved(directory: Path) -> bool:
    """Return whether PyKEEN saved a triples factory or a data set in a directory."""
    return (directory / TRIPLES).is_file() or (directory / "training" / TRIPLES).is_file()


def read_saved(directory: Path) -> Dataset:
    """Read what ``to_path_binary`` or ``to_directory_binary`` of PyKEEN saved, without pickle."""
    places = {split: directory / theirs for split, theirs in SPLITS.items()}
    present = {split: place for split, place in places.items() if (place / TRIPLES).is_file()}
    present = present or {"train": directory}
    entities, relations = (
        _read_names(present["train"] / f"{kind}_to_id.tsv.gz") for kind in ("entity", "relation")
    )
    triples = {split: _read_triples(place / TRIPLES) for split, place in present.items()}
    for split, found in triples.items():
        bounds = Triples.of(found).id_bounds() if len(found) else (0, 0)
        if bounds[0] > len(entities) or bounds[1] > len(relations):
            raise KgflowError(f"{present[split] / TRIPLES}: ids without a name: save it again")
    return _dataset(directory.name, entities, relations, triples)


def _names(factory: Any) -> tuple[list[str], list[str]]:  # noqa: ANN401
    """Return the names of entities and of relations without inverse ones, in the order of ids."""
    relations = factory.real_num_relations
    if not hasattr(factory, "entity_to_id"):
        return [str(i) for i in range(factory.num_entities)], [str(i) for i in range(relations)]
    ids = factory.entity_to_id, factory.relation_to_id
    entities, names = (sorted(known, key=known.__getitem__) for known in ids)
    return entities, names[:relations]


def _dataset(
    name: str, entities: list[str], relations: list[str], triples: Mapping[str, Any]
) -> Dataset:
    unique = {
        split: Triples.of(found.astype(np.int64)).unique() for split, found in triples.items()
    }
    return Dataset(
        name,
        Vocabulary(entities),
        Vocabulary(relations, kind="relation"),
        train=unique["train"][0],
        valid=unique["valid"][0] if "valid" in unique else Triples.empty(),
        test=unique["test"][0] if "test" in unique else Triples.empty(),
        duplicates={split: removed for split, (_, removed) in unique.items()},
    )


def _read_names(path: Path) -> list[str]:
    rows = _rows(path)
    return [label for _, label in sorted((int(i), label) for i, label in rows)]


def _read_triples(path: Path) -> Any:  # noqa: ANN401
    return np.array([[int(cell) for cell in row] for row in _rows(path)]).reshape(-1, 3)


def _rows(path: Path) -> list[list[str]]:
    """Return the rows of a table after its header."""
    files.require_readable(path)
    try:
        rows = [cells for _, cells in files.text_rows(path, files.read_text(path))][1:]
        for cells in rows:
            for cell in cells if path.name == TRIPLES else cells[:1]:
                int(cell)
    except ValueError as error:
        raise KgflowError(f"{path}: not saved by PyKEEN ({error}): save it again") from None
    return rows
