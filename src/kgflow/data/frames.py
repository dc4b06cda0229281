"""From tables of names to a data set of ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from kgflow.data.dataset import SPLITS, Dataset
from kgflow.data.triples import Ids, Triples
from kgflow.data.vocabulary import Vocabulary


def from_frames(name: str, frames: Mapping[str, pl.DataFrame]) -> Dataset:
    """A data set from frames of head, relation, tail and perhaps weight, by split.

    Only train must be there. A missing weight counts as 1.

    Example:
        >>> facts = pl.DataFrame({"head": ["Paris"], "relation": ["in"], "tail": ["France"]})
        >>> from_frames("tiny", {"train": facts}).entities.names
        ('Paris', 'France')
    """
    present = [s for s in SPLITS if s in frames]
    names = pl.concat([frames[s].select("head", "relation", "tail") for s in present])
    entities, (h, t) = number(names["head"], names["tail"])
    relations, (r,) = number(names["relation"])
    bounds = np.cumsum([0] + [frames[s].height for s in present])
    parts, duplicates, notices = {}, {}, []
    for split, start, stop in zip(present, bounds, bounds[1:], strict=False):
        triples = Triples(h[start:stop], r[start:stop], t[start:stop], _weights(frames[split]))
        parts[split], duplicates[split] = triples.unique()
        if duplicates[split]:
            notices.append(_merged(split, duplicates[split], triples.weight is not None))
    return Dataset(
        name=name,
        entities=Vocabulary(entities),
        relations=Vocabulary(relations, kind="relation"),
        train=parts["train"],
        valid=parts.get("valid", Triples.empty()),
        test=parts.get("test", Triples.empty()),
        notices=tuple(notices),
        duplicates=duplicates,
    )


def number(*columns: pl.Series) -> tuple[list[str], Sequence[Ids]]:
    """The distinct names in reading order, row by row, and each column as ids.

    Example:
        >>> names, ids = number(pl.Series(["b", "b"]), pl.Series(["a", "c"]))
        >>> names, [i.tolist() for i in ids]
        (['b', 'a', 'c'], [[0, 0], [1, 2]])
    """
    width, height = len(columns), len(columns[0])
    cells = pl.concat([c.alias("name") for c in columns]).to_frame()
    place = np.arange(width * height).reshape(height, width).T.ravel()
    # A name is known by the place where it is first read: no dictionary, no join.
    cells = cells.with_columns(place=place)
    first = cells.select(pl.col("place").min().over("name"))["place"].to_numpy()
    is_first = np.zeros(width * height, dtype=bool)
    is_first[first] = True
    ids = np.cumsum(is_first)[first] - 1
    column, row = np.flatnonzero(is_first) % width, np.flatnonzero(is_first) // width
    names = cells["name"].gather(column * height + row).to_list()
    return names, ids.reshape(width, height)


def _weights(frame: pl.DataFrame) -> np.ndarray | None:
    if "weight" not in frame.columns:
        return None
    return frame["weight"].cast(pl.Float32).fill_null(1.0).to_numpy()


def _merged(split: str, count: int, weighted: bool) -> str:
    kept = ", each with its largest weight" if weighted else ""
    return f"{split}: repeated triples merged{kept}: {count:,}"
