"""Data sets from wherever they are: embedded, in the catalogue, a directory or a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from kgflow.data import catalog, files, pairs
from kgflow.data.columns import Columns
from kgflow.data.dataset import Dataset
from kgflow.data.splits import resplit
from kgflow.errors import KgflowError

if TYPE_CHECKING:
    import polars as pl

STEMS = {"train": ("train",), "valid": ("valid", "validation", "val", "dev"), "test": ("test",)}


def load(
    source: str | Path,
    *,
    columns: Columns | str | None = None,
    labels: str | Path | None = None,
    types: str | Path | None = None,
    strict: bool = False,
    seed: int = 0,
) -> Dataset:
    r"""A data set by the name it has in the catalogue, or from a directory or one file.

    A directory holds a train file and perhaps valid, test, labels and types. One file is split
    90, 5 and 5 percent, by `seed`, with no entity or relation unseen in training. With
    `strict`, names that occur only in valid or test are an error, not a notice. Text such as
    "0,2,1" will do for `columns`.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "capitals.tsv"
        ...     _ = path.write_text("Paris\tcapital_of\tFrance\nLima\tcapital_of\tPeru\n")
        ...     load(path)
        Dataset(capitals: 4 entities, 1 relations, 2 train, 0 valid, 0 test)
    """
    place = _locate(source)
    if not place.is_dir():
        return import_files([place], columns, labels, types, seed=seed)
    dataset = _read(place.resolve().name, _splits_in(place), columns)
    labels, types = labels or files.find(place, "labels"), types or files.find(place, "types")
    notices = (*dataset.notices, *_differences(place, dataset), *_unseen(dataset, strict))
    return _annotated(replace(dataset, notices=notices), labels, types)


def import_files(
    paths: Sequence[Path],
    columns: Columns | str | None = None,
    labels: str | Path | None = None,
    types: str | Path | None = None,
    shares: tuple[float, float] = (0.05, 0.05),
    seed: int = 0,
) -> Dataset:
    """The triples of several files together, named after the first and split by these shares.

    Where only some files carry weights, the triples of the others count as certain.
    """
    name = Path(paths[0].name.removesuffix(".gz")).stem
    whole = _read(name, {"train": paths}, columns)
    drawn = resplit(whole, *shares, seed=seed)
    return _annotated(replace(drawn, notices=whole.notices + drawn.notices), labels, types)


def read_triples(path: str | Path, columns: Columns | str | None = None) -> pl.DataFrame:
    """The triples of one file as a frame of head, relation, tail and, where known, weight."""
    from kgflow.data.readers import read

    return read(Path(path), Columns.of(columns)).frame


def _read(name: str, paths: Mapping[str, Sequence[Path]], columns: Columns | str | None) -> Dataset:
    import polars as pl

    from kgflow.data.frames import from_frames
    from kgflow.data.readers import read

    chosen, frames, notices = Columns.of(columns), {}, []
    for split, several in paths.items():
        tables = [read(path, chosen) for path in several]
        frames[split] = pl.concat([table.frame for table in tables], how="diagonal")
        notices += [notice for table in tables for notice in table.notices]
    dataset = from_frames(name, frames)
    return replace(dataset, notices=(*notices, *dataset.notices))


def _locate(source: str | Path) -> Path:
    path = Path(source)
    if isinstance(source, str) and source in catalog.entries():
        if catalog.find(source) or not path.exists():
            return catalog.directory(source)
    elif not path.exists() and not path.suffix and path.name == str(source):
        catalog.entry(path.name)  # a word that is neither a name nor a path: raises
    return path


def _splits_in(directory: Path) -> dict[str, list[Path]]:
    found = {split: files.find(directory, *stems) for split, stems in STEMS.items()}
    if found["train"] is None:
        raise KgflowError(f"{directory}: no train file in it: add train.tsv, .csv or another form")
    return {split: [path] for split, path in found.items() if path is not None}


def _differences(place: Path, dataset: Dataset) -> tuple[str, ...]:
    about = catalog.entries().get(place.name)
    if about is None or place != catalog.find(about.name):
        return ()
    return about.differences(dataset)


def _unseen(dataset: Dataset, strict: bool) -> tuple[str, ...]:
    """Notices of the names that training never sees; an error with `strict`."""
    entities = int((~dataset.train.entity_mask(len(dataset.entities))).sum())
    relations = int((~dataset.train.relation_mask(len(dataset.relations))).sum())
    notices = tuple(
        f"{what} in valid or test that training never sees: {count:,}"
        for count, what in ((entities, "entities"), (relations, "relations"))
        if count
    )
    if strict and notices:
        raise KgflowError(
            f"{dataset.name}: {'; '.join(notices)}; add them to train or leave out --strict"
        )
    return notices


def _annotated(dataset: Dataset, labels: str | Path | None, types: str | Path | None) -> Dataset:
    shown = pairs.read_labels(Path(labels)) if labels else {}
    kinds = pairs.read_types(Path(types)) if types else {}
    strangers = tuple(
        f"{path} names none of the entities"
        for path, named in ((labels, shown), (types, kinds))
        if path and not any(name in dataset.entities for name in named)
    )
    return replace(
        dataset,
        labels={n: label for n, label in shown.items() if n in dataset.entities},
        types={n: found for n, found in kinds.items() if n in dataset.entities},
        notices=dataset.notices + strangers,
    )
