"""An index kept beside its run, and only used where it answers as the model does."""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from pydantic import BaseModel, ConfigDict, ValidationError
from torch import Tensor

from kgflow.errors import KgflowError, suggest
from kgflow.io import file_digest, write_atomic
from kgflow.kernels import TopKSearch, top_k
from kgflow.runs.predictor import Predictor
from kgflow.runs.run import Run
from kgflow.search.index import Index, require_faiss
from kgflow.search.method import METHODS, Method
from kgflow.search.space import SPACES

FOLDER, FILE, NOTE = "index", "index.faiss", "index.json"
K = 10
"""Recall is of the best 10."""
ASKED = 1_000
"""Queries of the run that recall is measured on, at most."""

Tell = Callable[[float], None]


class Note(BaseModel):
    """What is known of a saved index."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    method: str
    model_digest: str
    space: str
    number: float
    effort: int
    recall: float
    min_recall: float
    queries: int


@dataclass(frozen=True)
class Choice:
    """How a run will search, and why.

    Attributes:
        search: the index, or None for the exact search.
        method: what was asked for.
        recall: of the best 10 against the exact search, where an index was tried.
        sentence: the same for people.
    """

    search: TopKSearch | None
    method: str
    recall: float | None
    sentence: str


def choose_search(
    run: Run, method: str, min_recall: float = 0.99, progress: Tell = lambda share: None
) -> Choice:
    """Make a run search by an index, if that finds enough of the exact answers.

    A saved index is used again unless the model or the method has changed.

    Args:
        run: what is to be asked; its predictor gets the search.
        method: "exact", or faiss's "flat", "ivf" or "hnsw"; just "faiss" is the last.
        min_recall: the least share of the exact best 10 to be found.
        progress: told what share of the keys is indexed.
    """
    choice = _choose(run, "hnsw" if method == "faiss" else method, min_recall, progress)
    if choice.search is not None:
        run.predictor.scorer.search = choice.search
    return choice


def _choose(run: Run, method: str, min_recall: float, progress: Tell) -> Choice:
    if method == "exact":
        return Choice(None, method, None, "exact search")
    if method not in METHODS:
        known = ("exact", *METHODS)
        raise KgflowError(
            f"unknown index '{method}'{suggest(method, known)}: give {', '.join(known)}"
        )
    if run.model.interaction is not None:
        name = run.config.model.name
        return Choice(None, method, None, f"exact search: {name} is no matrix product to index")
    index, note = open_index(run, METHODS[method], min_recall, progress)
    about = f"recall@{K} {note.recall:.4f} on {note.queries:,} queries of the run"
    if note.recall < min_recall:
        sentence = f"exact search: the {method} index has {about}, below {min_recall:g}"
        return Choice(None, method, note.recall, sentence)
    effort = f", {METHODS[method].knob} {note.effort}" if METHODS[method].knob else ""
    return Choice(index, method, note.recall, f"{method} index ({note.space}{effort}): {about}")


def open_index(
    run: Run, method: Method, min_recall: float, progress: Tell = lambda share: None
) -> tuple[Index, Note]:
    """The index saved in ``index/`` of a run, or else a new one, which is saved there."""
    folder, model = run.directory / FOLDER, file_digest(run.directory / "model.safetensors")
    note = _read(folder / NOTE)
    fits = note is not None and (note.method, note.model_digest) == (method.name, model)
    if note is not None and fits and min_recall <= max(note.recall, note.min_recall):
        index = _load(run, folder / FILE, note)
        if index is not None:
            index.try_as_hard(method, note.effort)
            return index, note
    index = Index.build(run.predictor.entities, method, progress)
    Q, a = _questions(run.predictor)
    effort, recall = tune(index, method, Q, a, min_recall)
    space = index.space
    note = Note(
        method=method.name, model_digest=model, space=space.name, number=space.number,
        effort=effort, recall=recall, min_recall=min_recall, queries=len(Q),
    )  # fmt: skip
    _save(folder, index, note)
    return index, note


def tune(
    index: Index, method: Method, Q: Tensor, a: Tensor, min_recall: float
) -> tuple[int, float]:
    """Set the least effort that finds enough, or the most there is; gives it and its recall."""
    effort, recall, least = 0, 1.0, _least(index, Q, a)
    for effort in method.efforts(len(index.entities)):
        index.try_as_hard(method, effort)
        recall = _share(index, Q, a, least)
        if recall >= min_recall:
            break
    return effort, recall


def measure_recall(index: Index, Q: Tensor, a: Tensor) -> float:
    """The share of the index's best 10 that are as good as the exact 10th best."""
    return _share(index, Q, a, _least(index, Q, a))


def _least(index: Index, Q: Tensor, a: Tensor) -> Tensor:
    """The score of the exact 10th best of each query, ``(B, 1)``."""
    exact = top_k(Q, a, index.entities, K)
    # Scored as the index's answers are, so that rounding decides nothing.
    return index.entities.scores_of(Q, a, exact.entity).min(dim=1, keepdim=True).values


def _share(index: Index, Q: Tensor, a: Tensor, least: Tensor) -> float:
    found = index(Q, a, K).score
    return float((found >= least - 1e-5 * least.abs()).double().mean()) if len(Q) else 1.0


def _questions(predictor: Predictor) -> tuple[Tensor, Tensor]:
    """Q and a of queries that were held out, or else trained on."""
    held_out, trained = predictor.data.queries("valid", "test"), predictor.data.queries("train")
    queries = held_out if len(held_out) else trained
    chosen = np.sort(np.random.default_rng(0).permutation(len(queries))[:ASKED])
    predictor.model.eval()
    h, r = (predictor.tensor(x[chosen]) for x in (queries.h, queries.r))
    with torch.no_grad():
        query = predictor.model.query(h, r)
    return query.Q, query.a


def _read(path: Path) -> Note | None:
    try:
        return Note.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None


def _load(run: Run, path: Path, note: Note) -> Index | None:
    faiss, entities = require_faiss(), run.predictor.entities
    if note.space not in SPACES:
        return None
    try:
        found = faiss.read_index(str(path))
    except RuntimeError:
        return None
    index = Index(entities, SPACES[note.space](note.number), found)
    width = index.space.keys(*entities.encode(entities.table[:1])).shape[1]
    return index if (found.ntotal, found.d) == (len(entities), width) else None


def _save(folder: Path, index: Index, note: Note) -> None:
    faiss = require_faiss()
    folder.mkdir(exist_ok=True)
    # The note goes first and comes last: without it, there is no index.
    (folder / NOTE).unlink(missing_ok=True)
    draft = folder / f".{FILE}.{os.getpid()}.tmp"
    try:
        faiss.write_index(index.found, str(draft))
        draft.replace(folder / FILE)
    except RuntimeError:
        shutil.rmtree(folder, ignore_errors=True)
        raise KgflowError(f"{folder / FILE} cannot be written: is the disk full?") from None
    finally:
        draft.unlink(missing_ok=True)
    write_atomic(folder / NOTE, note.model_dump_json(indent=2).encode())
