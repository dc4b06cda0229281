"""A run directory: everything that a trained model needs, in files that hold no code."""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from kgflow.config import FORMAT, Experiment, RunConfig, RunInfo, dump, read
from kgflow.data import SPLITS, Dataset, Triples, Vocabulary
from kgflow.errors import KgflowError
from kgflow.training import write_atomic

CONFIG, VOCABULARY, FACTS, METRICS = (
    "config.toml",
    "vocabulary.json",
    "splits.safetensors",
    "metrics.json",
)


@contextmanager
def new_run(directory: Path, experiment: Experiment, data: Dataset, force: bool) -> Iterator[Path]:
    """Make a run directory, whole or not at all.

    The body of the `with` writes its part into the directory it is given; at its end that becomes
    `directory`. A run that was there is replaced only with `force`.
    """
    check_free(directory, force)
    directory.parent.mkdir(parents=True, exist_ok=True)
    draft = directory.with_name(f".{directory.name}.{os.getpid()}.tmp")
    draft.mkdir()
    try:
        _write(draft, experiment, data)
        yield draft
        if directory.exists():
            shutil.rmtree(directory)
        draft.rename(directory)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def check_free(directory: Path, force: bool) -> None:
    """Refuse a directory that holds something, unless it is a run and may go."""
    if not directory.exists() or (directory.is_dir() and not any(directory.iterdir())):
        return
    if not (directory / CONFIG).is_file():
        raise KgflowError(f"{directory} exists and is no run of kgflow: choose another --out")
    if not force:
        raise KgflowError(
            f"{directory} holds a run already: --resume goes on with it, --force replaces it"
        )


def read_run(directory: Path) -> tuple[RunConfig, Dataset]:
    """The configuration and the data of a run."""
    if not (directory / CONFIG).is_file():
        raise KgflowError(f"{directory} is no run of kgflow: it has no {CONFIG}")
    config = read(RunConfig, directory / CONFIG)
    if config.run.format != FORMAT:
        raise KgflowError(
            f"{directory / CONFIG} has format {config.run.format}, this kgflow reads {FORMAT}"
        )
    data = _read_data(directory)
    if data.digest() != config.run.data_digest:
        raise KgflowError(f"{directory}: the stored facts do not fit its {CONFIG}")
    return config, data


def write_metrics(directory: Path, split: str, found: dict[str, Any]) -> None:
    """Note the metrics of a split beside those of others."""
    noted = read_metrics(directory) | {split: found}
    write_atomic(directory / METRICS, json.dumps(noted, indent=2).encode())


def read_metrics(directory: Path) -> dict[str, Any]:
    """The metrics noted so far, by split."""
    path = directory / METRICS
    return json.loads(path.read_text()) if path.exists() else {}


def _write(directory: Path, experiment: Experiment, data: Dataset) -> None:
    info = RunInfo(
        format=FORMAT,
        kgflow=version("kgflow"),
        data_digest=data.digest(),
        entities=len(data.entities),
        relations=len(data.relations),
        reciprocal=True,
    )
    config = RunConfig(**dict(experiment), run=info)
    names = {
        "name": data.name,
        "entities": data.entities.names,
        "relations": data.relations.names,
        "labels": dict(data.labels),
        "types": dict(data.types),
    }
    write_atomic(directory / CONFIG, dump(config))
    write_atomic(directory / VOCABULARY, json.dumps(names, ensure_ascii=False).encode())
    write_atomic(directory / FACTS, save(_arrays(data)))


def _arrays(data: Dataset) -> dict[str, np.ndarray[Any, Any]]:
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    for split in SPLITS:
        triples = data.split(split)
        arrays[split] = np.ascontiguousarray(triples.array())
        if triples.weight is not None:
            arrays[f"{split}.weight"] = triples.weight
    return arrays


def _read_data(directory: Path) -> Dataset:
    try:
        names = json.loads((directory / VOCABULARY).read_text(encoding="utf-8"))
        arrays = load((directory / FACTS).read_bytes())
        sizes = len(names["entities"]), len(names["relations"])
        return Dataset(
            name=names["name"],
            entities=Vocabulary(names["entities"]),
            relations=Vocabulary(names["relations"], kind="relation"),
            train=_triples(arrays, "train", sizes),
            valid=_triples(arrays, "valid", sizes),
            test=_triples(arrays, "test", sizes),
            labels=names["labels"],
            types={k: tuple(v) for k, v in names["types"].items()},
        )
    except (OSError, ValueError, KeyError, SafetensorError) as error:
        reason = str(error).split("\n")[0]
        raise KgflowError(f"{directory} is a damaged run ({reason})") from None


def _triples(
    arrays: dict[str, np.ndarray[Any, Any]], split: str, sizes: tuple[int, int]
) -> Triples:
    h, r, t = arrays[split].T
    for ids, size in ((h, sizes[0]), (r, sizes[1]), (t, sizes[0])):
        if len(ids) and not 0 <= ids.min() <= ids.max() < size:
            raise ValueError(f"{split} names what the vocabulary lacks")
    return Triples(h, r, t, arrays.get(f"{split}.weight"))
