"""Files of a run directory, none of which contains code."""

import glob
import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError
from safetensors import SafetensorError
from safetensors.numpy import load, save

from kgflow.config import FORMAT, Experiment, RunConfig, RunInfo, dump, parse, read_toml
from kgflow.data import SPLITS, Dataset, Triples, Vocabulary
from kgflow.errors import KgflowError
from kgflow.io import file_digest, write_atomic
from kgflow.runs.build import chosen_variant
from kgflow.runs.plugins import check_plugins, loaded_plugins
from kgflow.uncertainty import Calibration, calibration

CONFIG, VOCABULARY, FACTS = "config.toml", "vocabulary.json", "splits.safetensors"
RACE = "race.json"
METRICS, CALIBRATION, MODEL = "metrics.json", "calibration.json", "model.safetensors"


@contextmanager
def new_run(directory: Path, config: RunConfig, data: Dataset, force: bool) -> Iterator[Path]:
    """Create a run directory atomically.

    The body of the `with` statement writes further files into a temporary directory, which is
    renamed to `directory` at the end. With `force`, an existing run is replaced.
    """
    # The temporary directory is a sibling, which a symbolic link or "." does not have.
    directory = Path(os.path.realpath(directory))
    check_free(directory, force)
    draft = _sibling(directory, "tmp")
    with _os_errors(directory):
        directory.parent.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(directory)
        draft.mkdir()
    try:
        with _os_errors(directory):
            _write(draft, config, data)
        yield draft
        check_free(directory, force)
        with _os_errors(directory):
            _install(draft, directory)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def check_free(directory: Path, force: bool) -> None:
    """Raise an error for a directory that is not empty, unless it is a run and `force` is set."""
    with _os_errors(directory):
        if not directory.exists() or _is_empty(directory):
            return
        is_run = any((directory / name).is_file() for name in (CONFIG, RACE))
    if not is_run:
        raise KgflowError(f"{directory} exists and is no run of kgflow: choose another --out")
    if not force:
        raise KgflowError(
            f"{directory} holds a run already: --resume continues it, --force replaces it"
        )


def is_unfinished(directory: Path) -> bool:
    """Return whether a directory holds a race of several recipes that was interrupted."""
    return (directory / RACE).is_file() and not (directory / CONFIG).is_file()


def install_run(part: Path, directory: Path) -> None:
    """Replace a directory by a run that was made inside of it."""
    directory = Path(os.path.realpath(directory))
    draft = _sibling(directory, "tmp")
    part.rename(draft)
    with _os_errors(directory):
        _install(draft, directory)


def read_run(directory: Path) -> tuple[RunConfig, Dataset]:
    """Read the configuration and the dataset of a run."""
    _restore(directory)
    if is_unfinished(directory):
        raise KgflowError(f"{directory} is not finished: kgflow train --resume {directory}")
    if not (directory / CONFIG).is_file():
        raise KgflowError(f"{directory} is no run of kgflow: it has no {CONFIG}")
    values = read_toml(directory / CONFIG)
    _check_format(values, directory)
    check_plugins(values, directory)
    config = parse(RunConfig, values, str(directory / CONFIG))
    for model in [member.model for member in config.model.members] or [config.model]:
        chosen_variant(model, str(directory / CONFIG))
    data = _read_data(directory)
    if data.digest() != config.run.data_digest:
        raise KgflowError(
            f"{directory}: the stored facts do not match {CONFIG}: train the run again"
        )
    return config, data


def _check_format(values: dict[str, Any], directory: Path) -> None:
    """Raise an error for a run of another format."""
    info = values.get("run")
    found = info.get("format") if isinstance(info, dict) else None
    if found != FORMAT:
        release = info.get("kgflow", "unknown") if isinstance(info, dict) else "unknown"
        raise KgflowError(
            f"{directory / CONFIG} has format {found} (kgflow {release}), but this version reads"
            f" format {FORMAT}: train the run again"
        )


def write_metrics(directory: Path, split: str, found: dict[str, Any]) -> None:
    """Store the metrics of a split beside those of other splits."""
    stored = read_metrics(directory) | {split: found}
    write_atomic(directory / METRICS, json.dumps(stored, indent=2).encode())


def read_metrics(directory: Path) -> dict[str, Any]:
    """Read the stored metrics by split; a damaged file counts as empty."""
    stored = _read_json(directory / METRICS)
    return {split: found for split, found in stored.items() if isinstance(found, dict)}


def read_trials(directory: Path) -> list[dict[str, Any]]:
    """Read the recipes of a finished race; a missing or damaged file counts as empty."""
    found = _read_json(directory / RACE).get("trials", [])
    keys = {"name", "mrr", "epochs", "seconds", "note"}
    return [x for x in found if isinstance(x, dict) and keys <= set(x)]


def _read_json(path: Path) -> dict[str, Any]:
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError, RecursionError):
        return {}
    return stored if isinstance(stored, dict) else {}


@contextmanager
def _os_errors(directory: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise KgflowError(f"{directory} cannot be created: {error.strerror or error}") from None


def _is_empty(directory: Path) -> bool:
    return directory.is_dir() and not any(directory.iterdir())


def _sibling(directory: Path, ending: str) -> Path:
    return directory.with_name(f".{directory.name}.{os.getpid()}.{ending}")


def _install(draft: Path, directory: Path) -> None:
    """Rename the draft to the directory, and remove an old run only after that."""
    here = directory.exists() and directory.samefile(".")
    if _is_empty(directory):
        directory.rmdir()
    if not directory.exists():
        draft.rename(directory)
    else:
        _replace(draft, directory)
    if here:
        os.chdir(directory)  # so that relative paths resolve in the new directory


def _replace(draft: Path, directory: Path) -> None:
    old = _sibling(directory, "old")
    directory.rename(old)
    try:
        draft.rename(directory)
    except OSError:
        old.rename(directory)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _remove_leftovers(directory: Path) -> None:
    """Remove temporary directories of killed processes."""
    pattern = re.compile(rf"\.{re.escape(directory.name)}\.([0-9]+)\.(tmp|old)")
    for path in directory.parent.iterdir():
        match = pattern.fullmatch(path.name)
        if not match or _is_running(int(match[1])):
            continue
        # Without the directory, the old run is the only copy.
        if match[2] == "tmp" or directory.exists():
            shutil.rmtree(path, ignore_errors=True)


def _restore(directory: Path) -> None:
    """Put a run back that a process moved away to replace it, and was killed before it did."""
    directory = Path(os.path.realpath(directory))
    if directory.exists() or not directory.parent.is_dir():
        return
    for path in directory.parent.glob(f".{glob.escape(directory.name)}.*.old"):
        pid = path.name.removeprefix(f".{directory.name}.").removesuffix(".old")
        if pid.isdecimal() and not _is_running(int(pid)):
            with suppress(OSError):  # another process may do the same
                path.rename(directory)
            return


def _is_running(pid: int) -> bool:
    if pid == os.getpid():
        return False  # in a container, an earlier process may have had the same id
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True


def run_config(experiment: Experiment, data: Dataset, preset: str = "") -> RunConfig:
    """Return the configuration of a run: the experiment, its preset, sizes, digest, versions."""
    info = RunInfo(
        format=FORMAT,
        preset=preset,
        kgflow=version("kgflow"),
        data_digest=data.digest(),
        entities=len(data.entities),
        relations=len(data.relations),
        plugins=loaded_plugins(experiment),
    )
    return RunConfig(**{key: getattr(experiment, key) for key in Experiment.model_fields}, run=info)


def _write(directory: Path, config: RunConfig, data: Dataset) -> None:
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
        arrays[split] = np.ascontiguousarray(triples.array(), dtype=np.int64)
        if triples.weight is not None:
            arrays[f"{split}.weight"] = triples.weight.astype(np.float32)
    return arrays


class _Names(BaseModel):
    """Schema of vocabulary.json."""

    model_config = ConfigDict(strict=True, extra="forbid")
    name: str
    entities: tuple[str, ...]
    relations: tuple[str, ...]
    labels: dict[str, str]
    types: dict[str, tuple[str, ...]]


def _read_data(directory: Path) -> Dataset:
    try:
        names = _read_names(directory / VOCABULARY)
        arrays = load((directory / FACTS).read_bytes())
        sizes = len(names.entities), len(names.relations)
        return Dataset(
            name=names.name,
            entities=Vocabulary(names.entities),
            relations=Vocabulary(names.relations, kind="relation"),
            train=_triples(arrays, "train", sizes),
            valid=_triples(arrays, "valid", sizes),
            test=_triples(arrays, "test", sizes),
            labels=names.labels,
            types=names.types,
        )
    except (OSError, ValueError, KeyError, SafetensorError) as error:
        reason = str(error).split("\n")[0]
        raise KgflowError(f"{directory} is a damaged run ({reason}): train it again") from None


def _read_names(path: Path) -> _Names:
    try:
        return _Names.model_validate_json(path.read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        place = "".join(f" {part}" for part in first["loc"])
        raise ValueError(f"{path.name}{place}: {first['msg']}") from None


def _triples(
    arrays: dict[str, np.ndarray[Any, Any]], split: str, sizes: tuple[int, int]
) -> Triples:
    facts, weight = arrays[split], arrays.get(f"{split}.weight")
    if facts.dtype != np.int64 or facts.ndim != 2 or facts.shape[1] != 3:
        raise ValueError(f"{split} holds no triples")
    if weight is not None and (weight.dtype != np.float32 or weight.shape != facts.shape[:1]):
        raise ValueError(f"{split} does not have one weight per triple")
    h, r, t = facts.T
    for ids, size in ((h, sizes[0]), (r, sizes[1]), (t, sizes[0])):
        if len(ids) and not 0 <= ids.min() <= ids.max() < size:
            raise ValueError(f"{split} has ids outside the vocabulary")
    return Triples(h, r, t, weight)


def read_calibration(directory: Path, margin: float) -> Calibration:
    """Read the calibration of a run; without a file, probabilities are those of the loss."""
    path = directory / CALIBRATION
    remedy = f"run kgflow calibrate {directory}"
    try:
        text = path.read_bytes()
        _check_calibration_format(text, path, remedy)
        found = Calibration.model_validate_json(text)
    except FileNotFoundError:
        return Calibration(margin=margin)
    except (ValidationError, OSError) as error:
        reason = str(error.errors()[0]["msg"] if isinstance(error, ValidationError) else error)
        raise KgflowError(f"{path} is damaged ({reason}): {remedy}") from None
    if found.margin != margin or found.model != model_digest(directory):
        raise KgflowError(f"{path} was fitted to scores of another model: {remedy}")
    return found


def _check_calibration_format(text: bytes, path: Path, remedy: str) -> None:
    """Raise an error for a calibration that another version has written."""
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return  # the schema says what is wrong
    found = values.get("format") if isinstance(values, dict) else None
    if isinstance(found, int) and found != calibration.FORMAT:
        raise KgflowError(
            f"{path} has format {found}, but this version reads format {calibration.FORMAT}:"
            f" {remedy}"
        )


def write_calibration(directory: Path, found: Calibration) -> None:
    """Write the calibration of a run."""
    write_atomic(directory / CALIBRATION, found.model_dump_json(indent=1).encode())


def model_digest(directory: Path) -> str:
    """Return a hash of the model file of a run."""
    return file_digest(directory / MODEL)
