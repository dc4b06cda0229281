"""What the training triples tell about the candidates of a query, without a model."""

from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from kgflow.data import Dataset
from kgflow.evaluation.scoring import Ids

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Array = NDArray[np.float32]


class CandidateStatistics:
    """Statistics of candidates, counted in training; inverse relations have ids from R on.

    Example:
        >>> from kgflow.data import Triples, Vocabulary
        >>> names = Vocabulary(["a", "b", "c"]), Vocabulary(["r"], kind="relation")
        >>> found = CandidateStatistics(Dataset("tiny", *names, Triples.of([(0, 0, 1)])))
        >>> found.columns(0)[:, 1:3].tolist()  # is it no answer yet, is it the answer of one triple
        [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
    """

    COLUMNS: ClassVar[tuple[str, ...]] = (
        "log count as an answer of the relation",
        "no answer of the relation",
        "answer of one triple of the relation",
        "log degree",
        "degree 0",
        "co-occurrence of the relation with its other relations",
    )

    def __init__(self, data: Dataset) -> None:
        train = data.train
        self.entities, self.relations = len(data.entities), 2 * len(data.relations)
        self.r = np.concatenate([train.r, train.r + len(data.relations)])
        self.source = np.concatenate([train.h, train.t])
        self.target = np.concatenate([train.t, train.h])
        self.degree = np.bincount(self.target, minlength=self.entities).astype(np.float32)

    @cached_property
    def counts(self) -> "csr_matrix":
        """Number of triples in which an entity answers a relation, ``(2R, E)``, sparse."""
        from scipy.sparse import csr_matrix

        shape = self.relations, self.entities
        ones = np.ones(len(self.r), dtype=np.float32)
        return csr_matrix((ones, (self.r, self.target)), shape=shape)

    @cached_property
    def _occurs(self) -> "csr_matrix":
        found = self.counts.copy()
        found.data[:] = 1
        return found.T.tocsr()

    @cached_property
    def _log_odds(self) -> Array:
        r"""Smoothed :math:`\log P(r \mid s) / P(r)` of relations of one entity, ``(2R, 2R)``."""
        together = (self._occurs.T @ self._occurs).toarray()
        n = np.diag(together)
        base = (n[:, None] + 0.1) / self.entities
        found = np.log((together + 0.5 * base) / (n[None] + 0.5) / base)
        np.fill_diagonal(found, 0)  # whether it answers r itself is another column
        return np.clip(found, -3, 6).astype(np.float32)

    def columns(self, r: int) -> Array:
        """Return the statistics `COLUMNS` of all entities as answers of a relation, ``(E, 6)``."""
        count = self.counts[[r]].toarray()[0]
        others = np.diff(self._occurs.indptr) - (count > 0)
        fit = (self._occurs @ self._log_odds[r]) / np.maximum(others, 1)
        known = np.log1p(count), count == 0, count == 1
        return np.stack([*known, np.log1p(self.degree), self.degree == 0, fit], axis=1).astype(
            np.float32
        )

    def trained(self, entity: Ids) -> NDArray[np.bool_]:
        """Return whether entities occur in training, ``(N,)``."""
        return self.degree[entity] > 0


class RandomWalk:
    r"""Probability of an entity on a short random walk from another one, in both directions.

    .. math:: \log\Big(\epsilon + \sum_{k=0}^{K} c (1 - c)^k (P^k)_{h e}\Big)

    with the transition matrix P of the undirected training graph: personalized PageRank (Page,
    Brin, Motwani, Winograd 1999; restart probability c = 0.2), truncated after K steps: as many as
    a random graph of this mean degree needs to reach all entities, and at most `STEPS`.
    """

    RESTART, STEPS, FLOOR = 0.2, 6, 1e-7

    def __init__(self, statistics: CandidateStatistics) -> None:
        from scipy.sparse import csr_matrix

        size = statistics.entities
        degree = max(2.0, float(statistics.degree.mean()))
        self.steps = min(self.STEPS, int(np.ceil(np.log(max(size, 2)) / np.log(degree))))
        weight = 1 / np.maximum(statistics.degree, 1)[statistics.source]
        edges = statistics.target, statistics.source
        self.transition = csr_matrix((weight.astype(np.float32), edges), shape=(size, size))

    def __call__(self, h: Ids) -> Array:
        """Return log probabilities of all entities from entities ``(B,)``: ``(B, E)``."""
        start, row = np.unique(h, return_inverse=True)
        walk = np.zeros((self.transition.shape[0], len(start)), dtype=np.float32)
        walk[start, np.arange(len(start))] = self.RESTART
        total = walk
        for _ in range(self.steps):
            walk = (1 - self.RESTART) * (self.transition @ walk)
            total = total + walk
        found: Array = np.log(total + self.FLOOR).T[row]
        return found
