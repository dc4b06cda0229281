"""Loading of data sets: by name, from a directory, or from files of triples."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from kgflow.data import catalog, files
from kgflow.data.columns import Columns
from kgflow.data.dataset import SPLITS, Dataset
from kgflow.data.iri import RdfOptions, is_address
from kgflow.data.pykeen import from_pykeen, is_pykeen, is_saved, read_saved
from kgflow.data.splits import resplit
from kgflow.data.triples import Ids, Triples, Weights
from kgflow.data.vocabulary import Vocabulary
from kgflow.errors import KgflowError

if TYPE_CHECKING:
    import polars as pl

T = TypeVar("T")
STEMS = {"train": ("train",), "valid": ("valid", "validation", "val", "dev"), "test": ("test",)}


def load(
    source: object,
    *,
    columns: Columns | str | None = None,
    labels: str | Path | None = None,
    types: str | Path | None = None,
    strict: bool = False,
    seed: int = 0,
) -> Dataset:
    r"""Load a data set by its name in the catalogue, or from a directory or one file.

    A directory contains a train file and optionally valid, test, labels and types, or it is that of
    an Oxigraph store. One file or store is split 90, 5 and 5 percent, with no entity or relation
    unseen in training. Data sets of PyKEEN are taken over, in memory or in a directory where PyKEEN
    saved them; a triples factory is split like one file.

    Args:
        source: name, directory or file, or a triples factory or data set of PyKEEN.
        columns: columns of head, relation, tail and weight, also as text such as "0,2,1".
        labels: file of entities and labels.
        types: file of entities and types.
        strict: whether names that occur only in valid or test are an error, not a notice.
        seed: random seed of the split of one file.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "capitals.tsv"
        ...     _ = path.write_text("Paris\tcapital_of\tFrance\nLima\tcapital_of\tPeru\n")
        ...     load(path)
        Dataset(capitals: 4 entities, 1 relations, 2 train, 0 valid, 0 test)
    """
    if is_pykeen(source):
        return _split_if_whole(from_pykeen(source), seed)
    if not isinstance(source, str | Path):
        kind = type(source).__name__
        raise KgflowError(f"a {kind} is no data set: give the name of one, a directory or a file")
    path = _locate(source)
    if is_saved(path):
        return _split_if_whole(read_saved(path), seed)
    if not path.is_dir() or files.is_store(path):
        return import_files([path], columns, labels, types, seed=seed)
    dataset = _read(path.resolve().name, _split_files(path), columns)
    labels = labels or files.find_file(path, "labels")
    types = types or files.find_file(path, "types")
    notices = (*dataset.notices, *_count_notices(path, dataset), *_unseen_notices(dataset, strict))
    return _with_annotations(replace(dataset, notices=notices), labels, types)


def import_files(
    paths: Sequence[Path],
    columns: Columns | str | None = None,
    labels: str | Path | None = None,
    types: str | Path | None = None,
    shares: tuple[float, float] = (0.05, 0.05),
    seed: int = 0,
    rdf: RdfOptions | None = None,
) -> Dataset:
    """Load the triples of several files as one data set, named after the first, and split it.

    If only some files have weights, the triples of the others have weight 1. Labels and types of
    the files are those of the data set, where files of labels and types give no others.

    Args:
        paths: files of triples, or directories of Oxigraph stores.
        columns: columns of head, relation, tail and weight.
        labels: file of entities and labels.
        types: file of entities and types.
        shares: fractions of the triples for valid and test.
        seed: random seed of the split.
        rdf: predicates to read from RDF, and the language of labels.
    """
    name = Path(paths[0].name.removesuffix(".gz")).stem
    whole = _read(name, {"train": paths}, columns, rdf)
    split = resplit(whole, *shares, seed=seed)
    return _with_annotations(replace(split, notices=whole.notices + split.notices), labels, types)


def read_triples(path: str | Path, columns: Columns | str | None = None) -> pl.DataFrame:
    """Read the triples of one file as a frame of head, relation, tail and, if given, weight."""
    from kgflow.data.readers import read_table

    return read_table(Path(path), Columns.of(columns)).frame


def dataset_from_frames(name: str, frames: Mapping[str, pl.DataFrame]) -> Dataset:
    """Build a data set from frames of head, relation, tail and optionally weight, by split.

    Only train is required. A missing weight counts as 1.

    Example:
        >>> import polars as pl
        >>> facts = pl.DataFrame({"head": ["Paris"], "relation": ["in"], "tail": ["France"]})
        >>> dataset_from_frames("tiny", {"train": facts}).entities.names
        ('Paris', 'France')
    """
    import polars as pl

    present = [s for s in SPLITS if s in frames]
    names = pl.concat([frames[s].select("head", "relation", "tail") for s in present])
    entities, (h, t) = assign_ids(names["head"], names["tail"])
    relations, (r,) = assign_ids(names["relation"])
    bounds = np.cumsum([0] + [frames[s].height for s in present])
    splits, duplicates, notices = {}, {}, []
    for split, start, stop in zip(present, bounds, bounds[1:], strict=False):
        triples = Triples(h[start:stop], r[start:stop], t[start:stop], frame_weights(frames[split]))
        splits[split], duplicates[split] = triples.unique()
        if duplicates[split]:
            kept = "" if triples.weight is None else ", each with its largest weight"
            notices.append(f"{split}: repeated triples merged{kept}: {duplicates[split]:,}")
    return Dataset(
        name,
        Vocabulary(entities),
        Vocabulary(relations, kind="relation"),
        train=splits["train"],
        valid=splits.get("valid", Triples.empty()),
        test=splits.get("test", Triples.empty()),
        notices=tuple(notices),
        duplicates=duplicates,
    )


def assign_ids(*columns: pl.Series) -> tuple[list[str], Sequence[Ids]]:
    """Return the distinct names in order of first appearance, row by row, and columns of ids.

    Example:
        >>> import polars as pl
        >>> names, ids = assign_ids(pl.Series(["b", "b"]), pl.Series(["a", "c"]))
        >>> names, [i.tolist() for i in ids]
        (['b', 'a', 'c'], [[0, 0], [1, 2]])
    """
    import polars as pl

    width, height = len(columns), len(columns[0])
    cells = pl.concat([c.alias("name") for c in columns]).to_frame()
    place = np.arange(width * height).reshape(height, width).T.ravel()
    # A name is identified by the place of its first appearance: no dictionary, no join.
    cells = cells.with_columns(place=place)
    first = cells.select(pl.col("place").min().over("name"))["place"].to_numpy()
    is_first = np.zeros(width * height, dtype=bool)
    is_first[first] = True
    ids = np.cumsum(is_first)[first] - 1
    column, row = np.flatnonzero(is_first) % width, np.flatnonzero(is_first) // width
    names = cells["name"].gather(column * height + row).to_list()
    return names, ids.reshape(width, height)


def frame_weights(frame: pl.DataFrame) -> Weights | None:
    """Return the weights of a table of triples, or None if it has none."""
    if "weight" not in frame.columns:
        return None
    return frame["weight"].fill_null(1.0).to_numpy().astype(np.float32)


def _read(
    name: str,
    paths: Mapping[str, Sequence[Path]],
    columns: Columns | str | None,
    rdf: RdfOptions | None = None,
) -> Dataset:
    import polars as pl

    from kgflow.data.readers import read_table

    chosen = Columns.of(columns)
    tables = {s: [read_table(p, chosen, rdf) for p in several] for s, several in paths.items()}
    frames = {
        split: pl.concat([table.frame for table in several], how="diagonal")
        for split, several in tables.items()
    }
    everything = [table for several in tables.values() for table in several]
    if frames["train"].is_empty():
        raise KgflowError(f"{name}: only nodes: give a file of relationships as well")
    dataset = dataset_from_frames(name, frames)
    return replace(
        dataset,
        labels=dict(ChainMap({}, *(dict(t.labels) for t in everything))),
        types=_merge_types(table.types for table in everything),
        notices=(
            *(notice for table in everything for notice in table.notices),
            *_node_notices(dataset, frozenset().union(*(table.nodes for table in everything))),
            *dataset.notices,
        ),
    )


def _node_notices(dataset: Dataset, nodes: frozenset[str]) -> tuple[str, ...]:
    """Return how many nodes have no relationships, and how many entities no node lists."""
    unused = len(nodes.difference(dataset.entities)) if nodes else 0
    unlisted = len(nodes.symmetric_difference(dataset.entities)) - unused if nodes else 0
    counts = {
        "nodes without relationships left out": unused,
        "nodes of relationships that no file of nodes lists": unlisted,
    }
    return tuple(f"{what}: {count:,}" for what, count in counts.items() if count)


def _merge_types(several: Iterable[Mapping[str, tuple[str, ...]]]) -> dict[str, tuple[str, ...]]:
    merged: dict[str, tuple[str, ...]] = {}
    for types in several:
        for name, found in types.items():
            merged[name] = tuple(dict.fromkeys((*merged.get(name, ()), *found)))
    return merged


def _split_if_whole(dataset: Dataset, seed: int) -> Dataset:
    return dataset if len(dataset.valid) or len(dataset.test) else resplit(dataset, seed=seed)


def _locate(source: str | Path) -> Path:
    if is_address(source):
        from kgflow.data.endpoint import Endpoint

        raise KgflowError(
            f"{Endpoint(str(source)).shown} is the address of a SPARQL endpoint: read it first by "
            "kgflow data import ADDRESS --out DIRECTORY"
        )
    path = Path(source)
    if isinstance(source, str) and source in catalog.entries():
        if catalog.find_directory(source) or not path.exists():
            return catalog.dataset_directory(source)
    elif not path.exists() and not path.suffix and path.name == str(source):
        catalog.entry(path.name)  # a word that is neither a known name nor a path: raises
    return path


def _split_files(directory: Path) -> dict[str, list[Path]]:
    found = {split: files.find_file(directory, *stems) for split, stems in STEMS.items()}
    if found["train"] is None:
        raise KgflowError(f"{directory}: contains no train file: add train.tsv, .csv or another")
    return {split: [path] for split, path in found.items() if path is not None}


def _count_notices(directory: Path, dataset: Dataset) -> tuple[str, ...]:
    entry = catalog.entries().get(directory.name)
    if entry is None or directory != catalog.find_directory(entry.name):
        return ()
    return entry.count_notices(dataset)


def _unseen_notices(dataset: Dataset, strict: bool) -> tuple[str, ...]:
    """Return notices of names that do not occur in training, or raise if `strict`."""
    entities = int((~dataset.train.entity_mask(len(dataset.entities))).sum())
    relations = int((~dataset.train.relation_mask(len(dataset.relations))).sum())
    notices = tuple(
        f"{what} in valid or test that do not occur in training: {count:,}"
        for count, what in ((entities, "entities"), (relations, "relations"))
        if count
    )
    if strict and notices:
        raise KgflowError(
            f"{dataset.name}: {'; '.join(notices)}; add them to train or leave out --strict"
        )
    return notices


def _with_annotations(
    dataset: Dataset, labels: str | Path | None, types: str | Path | None
) -> Dataset:
    """Add the labels and types of files to those of the data set, and drop those of no entity."""
    label_of = files.read_labels(Path(labels)) if labels else {}
    types_of = files.read_types(Path(types)) if types else {}
    notices = tuple(
        f"{path} names none of the entities"
        for path, names in ((labels, label_of), (types, types_of))
        if path and not any(name in dataset.entities for name in names)
    )
    return replace(
        dataset,
        labels=_of_entities(dataset, {**dataset.labels, **label_of}),
        types=_of_entities(dataset, {**dataset.types, **types_of}),
        notices=dataset.notices + notices,
    )


def _of_entities(dataset: Dataset, values: Mapping[str, T]) -> dict[str, T]:
    return {name: value for name, value in values.items() if name in dataset.entities}
