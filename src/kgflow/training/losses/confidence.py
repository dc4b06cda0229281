"""Meaning of the confidences of triples to a loss."""

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from kgflow.config import Settings
from kgflow.data import QueryIndex

Ids = NDArray[np.int64]
Floats = NDArray[np.float64]


class WeightSettings(Settings):
    """The setting of losses to which a confidence can only be a weight."""

    confidence: Literal["ignore", "weight"] = Field(
        default="weight", description="Use of confidences of triples: as weights, or none."
    )


def weighted(index: QueryIndex, confidence: str) -> QueryIndex:
    """Return the training queries, without their confidences if these are to be ignored."""
    return replace(index, weights=None) if confidence == "ignore" else index


class Coefficients(NamedTuple):
    """The kernel's c ``(B,)``, y ``(P,)`` and e ``(P,)``, or None where e is 0."""

    c: Floats
    y: Floats
    e: Floats | None = None


class Confidence(ABC):
    r"""Turns the confidences w of the triples of a batch into c, y and e of the kernel's loss.

    .. math:: \sum_i c_i \sum_j \mathrm{softplus}(s_{ij}) - \sum_{ij} y_{ij} s_{ij}
              + \sum_{ij} e_{ij} \mathrm{softplus}(s_{ij})

    where i are queries (h, r) and j entities; y and e are 0 except for true triples. Without
    confidences every subclass gives the paper's loss, in which c is the number of true tails of a
    query and y = 1.
    """

    labels_queries: ClassVar[bool] = False
    """Whether all tails of a query are the labels of one loss; otherwise each fact has its own."""

    def __call__(
        self, row: Ids, weight: NDArray[np.float32] | None, queries: int, entities: int
    ) -> Coefficients:
        """Return the coefficients of P triples.

        Args:
            row: Query of each triple, ``(P,)``.
            weight: Confidence of each triple ``(P,)``, or None.
            queries: Number of queries B.
            entities: Number of entities E.
        """
        if weight is None:
            return Ignored().coefficients(row, np.ones(len(row)), queries, entities)
        return self.coefficients(row, weight.astype(np.float64), queries, entities)

    @abstractmethod
    def coefficients(self, row: Ids, w: Floats, queries: int, entities: int) -> Coefficients:
        """Return the coefficients of triples with confidences w ``(P,)``."""


class Ignored(Confidence):
    r"""Confidences are ignored: :math:`c_i = n_i,\ y = 1`, the paper's loss.

    Example:
        >>> found = Ignored()(np.array([0, 0, 1]), np.array([0.5, 1, 0.25], np.float32), 2, 9)
        >>> found.c.tolist(), found.y.tolist()
        ([2.0, 1.0], [1.0, 1.0, 1.0])
    """

    def coefficients(self, row: Ids, w: Floats, queries: int, entities: int) -> Coefficients:
        counts = np.bincount(row, minlength=queries).astype(np.float64)
        return Coefficients(counts, np.ones(len(row)))


class Weighted(Confidence):
    r"""A triple counts w times: :math:`c_i = \sum_j w_{ij},\ y = w`.

    Example:
        >>> found = Weighted()(np.array([0, 0, 1]), np.array([0.5, 1, 0.25], np.float32), 2, 9)
        >>> found.c.tolist(), found.y.tolist()
        ([1.5, 0.25], [0.5, 1.0, 0.25])
    """

    def coefficients(self, row: Ids, w: Floats, queries: int, entities: int) -> Coefficients:
        return Coefficients(np.bincount(row, weights=w, minlength=queries).astype(np.float64), w)


class SoftLabel(Confidence):
    r"""Confidences are labels among all entities: :math:`c_i = 1,\ y = w`.

    The binary cross entropy of :math:`\sigma(s_{ij})` and a label for every entity: its confidence,
    or 0 where the triple is not in training. It is smallest where :math:`\sigma(s) = w` for the
    training triples; a held-out triple has label 0.

    Example:
        >>> found = SoftLabel()(np.array([0, 0, 1]), np.array([0.5, 1, 0.25], np.float32), 2, 9)
        >>> found.c.tolist(), found.y.tolist()
        ([1.0, 1.0], [0.5, 1.0, 0.25])
    """

    labels_queries: ClassVar[bool] = True

    def coefficients(self, row: Ids, w: Floats, queries: int, entities: int) -> Coefficients:
        return Coefficients(np.ones(queries), w)


class Regression(Confidence):
    r"""Confidences are labels of triples and of one negative each: :math:`c_i = n_i/E,\ y = w`.

    With :math:`e = 1` this is the binary cross entropy of each triple with its confidence, and of
    one corrupted triple with 0, in the mean over the E entities that may be its tail. Held-out
    triples are hardly pushed down, so that :math:`\sigma(s)` predicts their confidence, too.

    Example:
        >>> found = Regression()(np.array([0, 0, 1]), np.array([0.5, 1, 0.25], np.float32), 2, 10)
        >>> found.c.tolist(), found.y.tolist(), found.e.tolist()
        ([0.2, 0.1], [0.5, 1.0, 0.25], [1.0, 1.0, 1.0])
    """

    def coefficients(self, row: Ids, w: Floats, queries: int, entities: int) -> Coefficients:
        counts = np.bincount(row, minlength=queries)
        return Coefficients(counts / entities, w, np.ones(len(row)))


WEIGHTED = Weighted()
CONFIDENCES: dict[str, type[Confidence]] = {
    "ignore": Ignored,
    "weight": Weighted,
    "soft-label": SoftLabel,
    "regression": Regression,
}
