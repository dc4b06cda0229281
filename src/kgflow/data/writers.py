"""Data sets written as tab-separated files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from kgflow.data.columns import recognise
from kgflow.data.dataset import SPLITS, Dataset
from kgflow.data.triples import Triples
from kgflow.errors import KgflowError
from kgflow.io import atomic_directory

if TYPE_CHECKING:
    import polars as pl


def save(dataset: Dataset, directory: str | Path) -> Path:
    """Write train, valid, test, labels and types, whichever hold anything, as TSV files.

    The directory must be new or empty, and appears only when all is written. Reading it again
    gives the same data set.
    """
    target = Path(directory)
    kinds = [(name, type_) for name, types in dataset.types.items() for type_ in types]
    with atomic_directory(target) as scratch:
        for split in SPLITS:
            if len(dataset.split(split)):
                _write(_frame(dataset, dataset.split(split)), scratch / f"{split}.tsv")
        _write_pairs(dataset.labels.items(), scratch / "labels.tsv")
        _write_pairs(kinds, scratch / "types.tsv")
    return target


def _frame(dataset: Dataset, triples: Triples) -> pl.DataFrame:
    import polars as pl

    entities, relations = pl.Series(dataset.entities.names), pl.Series(dataset.relations.names)
    columns = {
        "head": entities.gather(triples.h),
        "relation": relations.gather(triples.r),
        "tail": entities.gather(triples.t),
    }
    return pl.DataFrame(columns if triples.weight is None else columns | {"weight": triples.weight})


def _write_pairs(pairs: Iterable[tuple[str, str]], path: Path) -> None:
    import polars as pl

    frame = pl.DataFrame(list(pairs), schema=["name", "value"], orient="row")
    if frame.height:
        _write(frame, path)


def _write(frame: pl.DataFrame, path: Path) -> None:
    import polars as pl

    for column in frame.select(pl.col(pl.String)):
        broken = column.str.contains(r"[\t\r\n]")
        if broken.any():
            name = column.filter(broken)[0]
            raise KgflowError(f"{name!r} holds a tab or a line break, which TSV cannot: rename it")
    first = [str(cell) for cell in frame.row(0)]
    # A first row that would be taken for a header, or for a byte order mark, gets one before it.
    header = recognise(first) is not None or first[0].startswith("\ufeff")
    frame.write_csv(path, separator="\t", include_header=header, quote_style="never")
