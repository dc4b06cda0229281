"""Top-k search with a faiss index: exact scores, and k answers whatever is filtered."""

import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kgflow.errors import require
from kgflow.evaluation import Progress, no_progress
from kgflow.kernels import EncodedEntities, ExactSearch, Positions, TopK, blocks, require_finite
from kgflow.search.transform import KeyTransform, choose_transform

EXTRA_CANDIDATES = 16
"""Candidates fetched beyond k, since the index rounds otherwise than the model."""

GROWTH = 4
"""Factor by which more candidates are fetched where filters left fewer than k answers.

Beyond 1 / GROWTH of all entities the exact search is faster.
"""

SAMPLE = 64
"""Keys per cluster from which its centroid is computed."""

Vectors = NDArray[np.float32]

INDEX_METHODS: dict[str, "IndexMethod"] = {}
"""Index methods by name; "exact" search needs none of them."""


class IndexMethod(ABC):
    """A kind of faiss index. Subclasses register themselves by name."""

    name: ClassVar[str]
    search_parameter: ClassVar[str]
    """faiss name of the parameter that trades speed for recall, or empty."""

    def __init_subclass__(cls) -> None:
        INDEX_METHODS[cls.name] = cls()

    @abstractmethod
    def factory_string(self, entities: int) -> str:
        """Return the argument of ``faiss.index_factory``."""

    @abstractmethod
    def parameter_values(self, entities: int) -> list[int]:
        """Return the ascending values of the search parameter to try."""


class Flat(IndexMethod):
    """Compare all keys: exact, with the matrix products of faiss."""

    name, search_parameter = "flat", ""

    def factory_string(self, entities: int) -> str:
        return "Flat"

    def parameter_values(self, entities: int) -> list[int]:
        return [0]


class IVF(IndexMethod):
    """Inverted file: keys are clustered, and the clusters nearest to the query are compared.

    Reference:
        Jégou, Douze, Schmid: Product Quantization for Nearest Neighbor Search, 2011.

    Example:
        >>> IVF().factory_string(1_000_000), IVF().parameter_values(10_000)
        ('IVF2000,Flat', [1, 2, 4, 8, 16, 32])
    """

    name, search_parameter = "ivf", "nprobe"

    def factory_string(self, entities: int) -> str:
        """Return an index of about 2 √E clusters, so that both search stages cost the same."""
        return f"IVF{self._clusters(entities)},Flat"

    def parameter_values(self, entities: int) -> list[int]:
        return [2**i for i in range(int(math.log2(max(1, self._clusters(entities) // 4))) + 1)]

    def _clusters(self, entities: int) -> int:
        # faiss warns of poor centroids below 39 keys per cluster.
        return max(1, min(int(2 * math.sqrt(entities)), entities // 39))


class HNSW(IndexMethod):
    """Hierarchical navigable small world graph of the keys.

    Reference:
        Malkov and Yashunin: Efficient and Robust Approximate Nearest Neighbor Search Using
        Hierarchical Navigable Small World Graphs, 2018.
    """

    name, search_parameter = "hnsw", "efSearch"

    def factory_string(self, entities: int) -> str:
        return "HNSW32,Flat"

    def parameter_values(self, entities: int) -> list[int]:
        return [2**i for i in range(4, 11)]


class Index:
    """Top-k search that takes its candidates from faiss and scores them exactly.

    Args:
        entities: keys, for exact scores, and for exact search where filters leave few answers.
        method: kind of index.
        transform: transformation of keys and queries to indexed vectors.
        faiss_index: faiss index of all entities in the order of their ids.

    Example:
        >>> K = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.6, 0.6]])
        >>> entities = EncodedEntities(K, lambda K: (K, torch.zeros(len(K))))
        >>> index = Index.build(entities, INDEX_METHODS["flat"])
        >>> index(torch.tensor([[1.0, 0.9]]), torch.zeros(1), k=2).entity
        tensor([[2, 0]])
    """

    def __init__(
        self,
        entities: EncodedEntities,
        method: IndexMethod,
        transform: KeyTransform,
        faiss_index: Any,  # noqa: ANN401
    ) -> None:
        self.entities, self.method, self.transform = entities, method, transform
        self.faiss_index = faiss_index

    @classmethod
    @torch.no_grad()
    def build(
        cls, entities: EncodedEntities, method: IndexMethod, progress: Progress = no_progress
    ) -> "Index":
        """Index all keys, block by block."""
        faiss = require_faiss()
        transform = choose_transform(entities, exhaustive=method.name == "flat")
        width = _vectors(entities, transform, torch.arange(1)).shape[1]
        metric = faiss.METRIC_L2 if transform.euclidean else faiss.METRIC_INNER_PRODUCT
        faiss_index = faiss.index_factory(width, method.factory_string(len(entities)), metric)
        if not faiss_index.is_trained:
            _train_centroids(faiss_index, entities, transform)
        for low, high in blocks(len(entities), entities.block):
            faiss_index.add(_vectors(entities, transform, torch.arange(low, high)))
            progress(high / len(entities))
        return cls(entities, method, transform, faiss_index)

    def set_search_parameter(self, value: int) -> None:
        """Set the parameter that trades speed for recall, such as nprobe or efSearch."""
        name = self.method.search_parameter
        if name:
            require_faiss().ParameterSpace().set_index_parameter(self.faiss_index, name, value)

    @torch.no_grad()
    def __call__(
        self,
        Q: Tensor,
        a: Tensor,
        k: int,
        excluded: Positions | None = None,
        allowed: Tensor | None = None,
    ) -> TopK:
        # Queries with fewer than k answers get more candidates, in the end all entities.
        k = min(k, len(self.entities))
        best = TopK.empty(Q, k)
        rows = torch.arange(len(Q), device=Q.device)
        fetch = self._first_fetch(k, excluded, allowed)
        while len(rows) and fetch * GROWTH <= len(self.entities):
            found = self._best(Q[rows], a[rows], k, fetch, _select(rows, excluded), allowed)
            enough = found.score[:, -1] > -torch.inf
            best.score[rows[enough]] = found.score[enough]
            best.entity[rows[enough]] = found.entity[enough]
            rows, fetch = rows[~enough], GROWTH * fetch
        if len(rows):
            search = ExactSearch(self.entities)
            exact = search(Q[rows], a[rows], k, _select(rows, excluded), allowed)
            best.score[rows], best.entity[rows] = exact
        return best

    def _first_fetch(self, k: int, excluded: Positions | None, allowed: Tensor | None) -> int:
        known = 0 if excluded is None or not len(excluded[0]) else int(excluded[0].bincount().max())
        fraction = 1.0 if allowed is None else float(allowed.double().mean())
        return int((k + known + EXTRA_CANDIDATES) / max(fraction, 1e-9))

    def _best(
        self,
        Q: Tensor,
        a: Tensor,
        k: int,
        fetch: int,
        excluded: Positions | None,
        allowed: Tensor | None,
    ) -> TopK:
        vectors = self.transform.queries(Q).float().cpu().numpy()
        _, found = self.faiss_index.search(np.ascontiguousarray(vectors), fetch)
        ids = torch.from_numpy(found).to(Q.device)
        missing, ids = ids < 0, ids.clamp(min=0)
        S = self.entities.scores_of(Q, a, ids)
        require_finite(S)
        S[missing] = -torch.inf
        if excluded is not None:
            row, size = torch.arange(len(Q), device=Q.device)[:, None], len(self.entities)
            S[torch.isin(row * size + ids, excluded[0] * size + excluded[1])] = -torch.inf
        if allowed is not None:
            S[~allowed[ids]] = -torch.inf
        score, column = S.topk(k, dim=1)
        return TopK(score, ids.gather(1, column))


def require_faiss() -> Any:  # noqa: ANN401
    """Return the module faiss."""
    return require("faiss", "an index", "ann")


def _train_centroids(faiss_index: Any, entities: EncodedEntities, transform: KeyTransform) -> None:  # noqa: ANN401
    faiss_index.cp.niter, faiss_index.cp.max_points_per_centroid = 10, SAMPLE
    size = min(len(entities), SAMPLE * faiss_index.nlist)
    sample = np.random.default_rng(0).permutation(len(entities))[:size]
    faiss_index.train(_vectors(entities, transform, torch.from_numpy(sample)))


def _vectors(entities: EncodedEntities, transform: KeyTransform, ids: Tensor) -> Vectors:
    K, b = entities.encode(entities.table[ids.to(entities.table.device)])
    return np.ascontiguousarray(transform.keys(K, b).float().cpu().numpy())


def _select(rows: Tensor, excluded: Positions | None) -> Positions | None:
    """Return the excluded pairs of some ascending rows, with those rows renumbered from 0."""
    if excluded is None:
        return None
    inside = torch.isin(excluded[0], rows)
    return torch.searchsorted(rows, excluded[0][inside]), excluded[1][inside]
