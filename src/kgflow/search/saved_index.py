"""The nearest-neighbour index of a run: saved in its directory, used if its recall is high."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from pydantic import BaseModel, ConfigDict, ValidationError
from torch import Tensor

from kgflow.errors import KgflowError, suggest
from kgflow.evaluation import Progress, no_progress
from kgflow.io import atomic_file, file_digest, write_atomic
from kgflow.kernels import ExactSearch, TopKSearch
from kgflow.runs.predictor import Predictor
from kgflow.runs.run import Run
from kgflow.search.index import INDEX_METHODS, Index, IndexMethod, require_faiss
from kgflow.search.transform import TRANSFORMS

DIRECTORY, INDEX_FILE, INFO_FILE = "index", "index.faiss", "index.json"
K = 10
"""Recall is measured as recall@10."""
MAX_QUERIES = 1_000
"""Largest number of queries on which recall is measured."""


class IndexInfo(BaseModel):
    """Contents of index.json: how an index was built, and its recall."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    method: str
    model_digest: str
    transform: str
    transform_parameter: float
    search_parameter: int
    recall: float
    min_recall: float
    queries: int


@dataclass(frozen=True)
class SelectedSearch:
    """The search that answers the queries of a run: an index, or None for the exact search.

    `recall` is the recall@10 of the index against the exact search; `description` states the method
    and the recall in one sentence.
    """

    search: TopKSearch | None
    method: str
    recall: float | None
    description: str


def select_search(
    run: Run, method: str, min_recall: float = 0.99, progress: Progress = no_progress
) -> SelectedSearch:
    """Make a run answer queries with an index if its recall is high enough, else exactly.

    A saved index is used again unless the model or the method has changed.

    Args:
        run: run whose predictor gets the index.
        method: "exact", or a key of `INDEX_METHODS`; "faiss" is short for "hnsw".
        min_recall: lowest recall@10 of an index.
        progress: progress callback while keys are indexed.
    """
    method = "hnsw" if method == "faiss" else method
    if method == "exact":
        return SelectedSearch(None, method, None, "exact search")
    if method not in INDEX_METHODS:
        known = ("exact", *INDEX_METHODS)
        raise KgflowError(
            f"unknown index '{method}'{suggest(method, known)}: use one of {', '.join(known)}"
        )
    if run.model.interaction is not None:
        reason = f"{run.config.model.name} is not an inner-product model"
        return SelectedSearch(None, method, None, f"exact search: {reason}")
    index, info = open_index(run, INDEX_METHODS[method], min_recall, progress)
    recall = f"recall@{K} {info.recall:.4f} on {info.queries:,} queries of the run"
    if info.recall < min_recall:
        description = f"exact search: the {method} index has {recall}, below {min_recall:g}"
        return SelectedSearch(None, method, info.recall, description)
    name = index.method.search_parameter
    details = f"{info.transform}, {name} {info.search_parameter}" if name else info.transform
    run.predictor.scorer.search = index
    return SelectedSearch(index, method, info.recall, f"{method} index ({details}): {recall}")


def open_index(
    run: Run, method: IndexMethod, min_recall: float, progress: Progress = no_progress
) -> tuple[Index, IndexInfo]:
    """Return the index saved in ``index/`` of a run, or build one and save it there."""
    directory = run.directory / DIRECTORY
    digest = file_digest(run.directory / "model.safetensors")
    info = _read_info(directory / INFO_FILE)
    fits = info is not None and (info.method, info.model_digest) == (method.name, digest)
    if info is not None and fits and min_recall <= max(info.recall, info.min_recall):
        index = _load(run, directory / INDEX_FILE, info)
        if index is not None:
            return index, info
    index = Index.build(run.predictor.entities, method, progress)
    Q, a = _sample_queries(run.predictor)
    value, recall = tune_recall(index, Q, a, min_recall)
    info = IndexInfo(
        method=method.name,
        model_digest=digest,
        transform=index.transform.name,
        transform_parameter=index.transform.parameter,
        search_parameter=value,
        recall=recall,
        min_recall=min_recall,
        queries=len(Q),
    )
    _save(directory, index, info)
    return index, info


def tune_recall(index: Index, Q: Tensor, a: Tensor, min_recall: float) -> tuple[int, float]:
    """Set the smallest search parameter whose recall is high enough, or else the largest.

    Returns:
        The search parameter and its recall@10.
    """
    value, recall, tenth = 0, 1.0, tenth_score(index, Q, a)
    for value in index.method.parameter_values(len(index.entities)):
        index.set_search_parameter(value)
        recall = measure_recall(index, Q, a, tenth)
        if recall >= min_recall:
            break
    return value, recall


def tenth_score(index: Index, Q: Tensor, a: Tensor) -> Tensor:
    """Return the exact 10th best score of each query, ``(B, 1)``."""
    exact = ExactSearch(index.entities)(Q, a, K)
    # Scored like the answers of the index, so that rounding does not matter.
    return index.entities.scores_of(Q, a, exact.entity).min(dim=1, keepdim=True).values


def measure_recall(index: Index, Q: Tensor, a: Tensor, tenth: Tensor) -> float:
    """Return recall@10: the fraction of the index's 10 best that reach the exact 10th score."""
    found = index(Q, a, K).score
    return float((found >= tenth - 1e-5 * tenth.abs()).double().mean()) if len(Q) else 1.0


def _sample_queries(predictor: Predictor) -> tuple[Tensor, Tensor]:
    """Return Q and a of held-out queries, or of training queries where none are held out."""
    held_out, trained = predictor.data.queries("valid", "test"), predictor.data.queries("train")
    queries = held_out if len(held_out) else trained
    sample = np.sort(np.random.default_rng(0).permutation(len(queries))[:MAX_QUERIES])
    predictor.model.eval()
    h, r = (predictor.tensor(x[sample]) for x in (queries.h, queries.r))
    with torch.no_grad():
        query = predictor.model.query(h, r)
    return query.Q, query.a


def _read_info(path: Path) -> IndexInfo | None:
    try:
        return IndexInfo.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None


def _load(run: Run, path: Path, info: IndexInfo) -> Index | None:
    entities = run.predictor.entities
    if info.transform not in TRANSFORMS:
        return None
    try:
        faiss_index = require_faiss().read_index(str(path))
    except RuntimeError:
        return None
    transform = TRANSFORMS[info.transform](info.transform_parameter)
    width = transform.keys(*entities.encode(entities.table[:1])).shape[1]
    if (faiss_index.ntotal, faiss_index.d) != (len(entities), width):
        return None
    index = Index(entities, INDEX_METHODS[info.method], transform, faiss_index)
    index.set_search_parameter(info.search_parameter)
    return index


def _save(directory: Path, index: Index, info: IndexInfo) -> None:
    directory.mkdir(exist_ok=True)
    # Without index.json there is no index: it is removed first and written last.
    (directory / INFO_FILE).unlink(missing_ok=True)
    try:
        with atomic_file(directory / INDEX_FILE) as temporary:
            require_faiss().write_index(index.faiss_index, str(temporary))
    except RuntimeError:
        shutil.rmtree(directory, ignore_errors=True)
        raise KgflowError(
            f"{directory / INDEX_FILE} cannot be written: check the free disk space"
        ) from None
    write_atomic(directory / INFO_FILE, info.model_dump_json(indent=2).encode())
