"""The best answers by a faiss index, scored exactly and filtered without losing any."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kgflow.errors import KgflowError
from kgflow.kernels import EncodedEntities, Positions, TopK, blocks, require_finite, top_k
from kgflow.search.method import Method
from kgflow.search.space import Space, find_space

SPARE = 16
"""Candidates beyond the k, since the index's rounding is not the model's."""

WIDER = 4
"""How much more is fetched where filters left too few; beyond 1/4 of all, exact is quicker."""

SAMPLE = 64
"""Keys per list to find its centre by."""

Vectors = NDArray[np.float32]


class Index:
    """A search that asks faiss for candidates.

    Args:
        entities: the keys, for exact scores, and for exact searches where filters leave few.
        space: in which they are indexed.
        found: faiss's index of all of them, in the order of their ids.

    Example:
        >>> from kgflow.search.method import METHODS
        >>> K = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.6, 0.6]])
        >>> entities = EncodedEntities(K, lambda K: (K, torch.zeros(len(K))))
        >>> index = Index.build(entities, METHODS["flat"])
        >>> index(torch.tensor([[1.0, 0.9]]), torch.zeros(1), k=2).entity
        tensor([[2, 0]])
    """

    def __init__(self, entities: EncodedEntities, space: Space, found: Any) -> None:  # noqa: ANN401
        self.entities, self.space, self.found = entities, space, found

    @classmethod
    @torch.no_grad()
    def build(
        cls,
        entities: EncodedEntities,
        method: Method,
        progress: Callable[[float], None] = lambda share: None,
    ) -> "Index":
        """Index all keys, block by block."""
        faiss = require_faiss()
        space = find_space(entities, flat=method.name == "flat")
        width = _vectors(entities, space, torch.arange(1)).shape[1]
        metric = faiss.METRIC_L2 if space.euclidean else faiss.METRIC_INNER_PRODUCT
        found = faiss.index_factory(width, method.recipe(len(entities)), metric)
        if not found.is_trained:
            _train(found, entities, space)
        for low, high in blocks(len(entities), entities.block):
            found.add(_vectors(entities, space, torch.arange(low, high)))
            progress(high / len(entities))
        return cls(entities, space, found)

    def try_as_hard(self, method: Method, effort: int) -> None:
        """Set how much is looked at."""
        if method.knob:
            require_faiss().ParameterSpace().set_index_parameter(self.found, method.knob, effort)

    @torch.no_grad()
    def __call__(
        self,
        Q: Tensor,
        a: Tensor,
        k: int,
        excluded: Positions | None = None,
        allowed: Tensor | None = None,
    ) -> TopK:
        """As `top_k`: more is fetched until each query has k answers, in the end all."""
        k = min(k, len(self.entities))
        best = TopK(Q.new_full((len(Q), k), -torch.inf), _ids(Q, len(Q), k))
        rows, fetch = torch.arange(len(Q), device=Q.device), self._first(k, excluded, allowed)
        while len(rows) and fetch * WIDER <= len(self.entities):
            found = self._best(Q[rows], a[rows], k, fetch, _of(rows, excluded), allowed)
            enough = found.score[:, -1] > -torch.inf
            best.score[rows[enough]] = found.score[enough]
            best.entity[rows[enough]] = found.entity[enough]
            rows, fetch = rows[~enough], WIDER * fetch
        if len(rows):
            exact = top_k(Q[rows], a[rows], self.entities, k, _of(rows, excluded), allowed)
            best.score[rows], best.entity[rows] = exact
        return best

    def _first(self, k: int, excluded: Positions | None, allowed: Tensor | None) -> int:
        known = 0 if excluded is None or not len(excluded[0]) else int(excluded[0].bincount().max())
        share = 1.0 if allowed is None else float(allowed.double().mean())
        return int((k + known + SPARE) / max(share, 1e-9))

    def _best(
        self,
        Q: Tensor,
        a: Tensor,
        k: int,
        fetch: int,
        excluded: Positions | None,
        allowed: Tensor | None,
    ) -> TopK:
        vectors = self.space.queries(Q).float().cpu().numpy()
        _, found = self.found.search(np.ascontiguousarray(vectors), fetch)
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
        score, place = S.topk(k, dim=1)
        return TopK(score, ids.gather(1, place))


def require_faiss() -> Any:  # noqa: ANN401
    """The module faiss, or what to install."""
    try:
        import faiss
    except ImportError:
        raise KgflowError("an index needs faiss: install kgflow[ann]") from None
    return faiss


def _train(found: Any, entities: EncodedEntities, space: Space) -> None:  # noqa: ANN401
    """Find the centres of lists by a sample of keys."""
    found.cp.niter, found.cp.max_points_per_centroid = 10, SAMPLE
    size = min(len(entities), SAMPLE * found.nlist)
    chosen = np.random.default_rng(0).permutation(len(entities))[:size]
    found.train(_vectors(entities, space, torch.from_numpy(chosen)))


def _vectors(entities: EncodedEntities, space: Space, ids: Tensor) -> Vectors:
    K, b = entities.encode(entities.table[ids.to(entities.table.device)])
    return np.ascontiguousarray(space.keys(K, b).float().cpu().numpy())


def _ids(Q: Tensor, rows: int, k: int) -> Tensor:
    return torch.zeros(rows, k, dtype=torch.long, device=Q.device)


def _of(rows: Tensor, excluded: Positions | None) -> Positions | None:
    """What is excluded of some ascending rows, which are counted anew."""
    if excluded is None:
        return None
    here = torch.isin(excluded[0], rows)
    return torch.searchsorted(rows, excluded[0][here]), excluded[1][here]
