"""Adds facts to a trained run: new entities and relations are fitted, without training again."""

import shutil
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kgflow.data import (
    Extension,
    QueryIndex,
    extend,
    read_labels,
    read_triples,
    read_types,
    triples_frame,
)
from kgflow.errors import KgflowError
from kgflow.models import Model
from kgflow.runs.fitting import Rows, fit
from kgflow.runs.growth import joined, parts
from kgflow.runs.run import Run
from kgflow.runs.store import (
    CALIBRATION,
    CONFIG,
    FACTS,
    METRICS,
    MODEL,
    RACE,
    VOCABULARY,
    model_digest,
    new_run,
    run_config,
)
from kgflow.runs.training import evaluate
from kgflow.runs.update_log import UPDATES, UpdateLog, UpdateRecord, write_updates
from kgflow.training import save_model

if TYPE_CHECKING:
    import polars as pl

Ids = NDArray[np.int64]

REPLAY = 20
"""Earlier facts of each trained entity that is moved, which it is fitted to as well."""
OWN_FILES = {CONFIG, VOCABULARY, FACTS, METRICS, CALIBRATION, MODEL, UPDATES, "checkpoint", "index"}
"""Files of a run that an update writes anew, or that do not fit afterwards."""
STORY = {"history.jsonl", RACE}
"""Files that say how a run was trained."""


def update(
    run: Run,
    triples: "pl.DataFrame | str | Path | Sequence[Sequence[object]]",
    out: str | Path | None = None,
    *,
    force: bool = False,
    labels: Mapping[str, str] | str | Path | None = None,
    types: Mapping[str, Sequence[str]] | str | Path | None = None,
    finetune: bool = False,
    evaluated: bool = True,
) -> Run:
    """Add facts to a run, and return the updated run.

    Facts become known facts of the graph. Entities and relations that training did not have get
    embeddings that are fitted to their facts; all others keep theirs, bit by bit, unless `finetune`
    is set. Names are those of the run; others are new. The run directory is replaced atomically.

    Args:
        run: run, or ensemble of runs.
        triples: triples of names, each optionally with a weight, a table of them, or a file.
        out: directory of the updated run; without it, the run itself is replaced.
        force: whether an existing run in `out` is replaced.
        labels: labels of entities, or a file of them.
        types: types of entities, or a file of them.
        finetune: whether the embeddings of trained entities in the facts move as well.
        evaluated: whether the ranking metrics are computed again; otherwise the updated run has
            none.

    Example:
        >>> import kgflow, tempfile
        >>> run = kgflow.train("world", dim=8, epochs=1, out=tempfile.mkdtemp() + "/run")
        >>> run = update(run, [("Avalon", "borders", "France")], evaluated=False)
        >>> run.predict(head="Avalon", relation="borders", k=3).shape[0]
        3
    """
    frame = _frame(triples)
    label_of = read_labels(Path(labels)) if isinstance(labels, str | Path) else labels
    types_of = read_types(Path(types)) if isinstance(types, str | Path) else types
    extension = extend(run.data, frame, label_of, types_of)
    target = run.directory if out is None else Path(out)
    if out is not None and target.resolve() == run.directory.resolve():
        raise KgflowError(f"{target} is the run itself: update it in place, or give another --out")
    before = model_digest(run.directory)
    config = run_config(run.config, extension.data, run.config.run.preset)
    began = time.process_time()
    with new_run(target, config, extension.data, force or out is None) as draft:
        model, rows = fitted_model(run, extension, finetune)
        seconds = time.process_time() - began
        save_model(draft / MODEL, model)
        _copy_others(run.directory, draft, whole=out is None)
        write_updates(draft, _log(run, extension, rows, finetune, seconds))
        updated = Run(draft, config, extension.data, model)
        _follow(run, updated)
        if evaluated:
            evaluate(updated)
        if model_digest(run.directory) != before:
            raise KgflowError(f"{run.directory} was changed meanwhile: update it again")
    return Run.open(target, str(model.entity.weight.device))


def fitted_model(run: Run, extension: Extension, finetune: bool = False) -> tuple[Model, Rows]:
    """Return the model of a run with embeddings for the new names of an extended data set."""
    data, index = extension.data, extension.data.queries("train")
    rows = _rows(run, extension, finetune)
    facts = _facts(index, extension, rows)
    grown = []
    for part in parts(run.config, run.model):
        model = part.grown(len(data.entities), len(data.relations))
        if len(facts):
            fit(model, part.training, index, facts, rows, run.config.seed)
        grown.append(model)
    return joined(grown).eval(), rows


def _frame(triples: "pl.DataFrame | str | Path | Sequence[Sequence[object]]") -> "pl.DataFrame":
    if isinstance(triples, str | Path):
        return read_triples(triples)
    return triples_frame(triples) if isinstance(triples, Sequence) else triples


def _rows(run: Run, extension: Extension, finetune: bool) -> Rows:
    """Return the embeddings to fit: those that training did not have, if they have new facts."""
    old, data, added, log = run.data, extension.data, extension.added, run.updates
    E, R = len(data.entities), len(data.relations)
    touched, relations = added.entity_mask(E), added.relation_mask(R)
    trained = old.train.entity_mask(E) & ~_mask(log.entities, E)
    trained_relations = old.train.relation_mask(R) & ~_mask(log.relations, R)
    found = (touched & ~trained, relations & ~trained_relations, touched & trained & finetune)
    return Rows(*map(np.flatnonzero, found))


def _mask(ids: Sequence[int], size: int) -> NDArray[np.bool_]:
    mask = np.zeros(size, dtype=bool)
    mask[list(ids)] = True
    return mask


def _facts(index: QueryIndex, extension: Extension, rows: Rows) -> Ids:
    """Return the positions in the index of the facts to fit to, in both directions."""
    h = np.repeat(index.h, index.counts)
    r, R = np.repeat(index.r, index.counts), len(extension.data.relations)
    own = np.isin(h, rows.entities) | np.isin(index.tails, rows.entities)
    own |= np.isin(r % R, rows.relations)
    if len(rows.touched):
        added = extension.data.index(extension.added)
        own |= added.contains(h, r, index.tails)
        own |= _replayed(h, index.tails, rows.touched)
    return np.flatnonzero(own)


def _replayed(h: Ids, t: Ids, entities: Ids) -> NDArray[np.bool_]:
    """Return some facts of each entity, as head and as tail."""
    chosen, rng = np.zeros(len(h), dtype=bool), np.random.default_rng(0)
    for ends in (h, t):
        mine = rng.permutation(np.flatnonzero(np.isin(ends, entities)))
        order = mine[np.argsort(ends[mine], kind="stable")]
        first = np.searchsorted(ends[order], ends[order], side="left")
        chosen[order[np.arange(len(order)) - first < REPLAY]] = True
    return chosen


def _copy_others(source: Path, draft: Path, whole: bool) -> None:
    """Copy how the run was trained and, for an update in place, all files that are not its own."""
    for path in source.iterdir():
        if path.name in OWN_FILES or not (whole or path.name in STORY):
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.copytree(path, draft / path.name, symlinks=True)
        else:
            shutil.copy2(path, draft / path.name, follow_symlinks=False)


def _log(run: Run, extension: Extension, rows: Rows, finetune: bool, seconds: float) -> UpdateLog:
    old = run.updates
    record = UpdateRecord(
        date=datetime.now(UTC).date().isoformat(),
        facts=len(extension.added),
        known=extension.known,
        repeated=extension.repeated,
        entities=len(rows.entities),
        relations=len(rows.relations),
        finetune=finetune,
        seconds=seconds,
        notices=extension.notices,
    )
    return UpdateLog(
        updates=(*old.updates, record),
        entities=tuple(sorted({*old.entities, *rows.entities.tolist()})),
        relations=tuple(sorted({*old.relations, *rows.relations.tolist()})),
    )


def _follow(run: Run, updated: Run) -> None:
    """Calibrate again where the run was calibrated: the known facts are others, too."""
    if (run.directory / CALIBRATION).exists() and len(updated.data.valid):
        updated.calibrate()
