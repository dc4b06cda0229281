"""What the confidence of a fact means to the loss."""

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]
Floats = NDArray[np.float64]


class Numbers(NamedTuple):
    """The kernel's c ``(B,)``, y ``(P,)`` and e ``(P,)``, or None where it is 0."""

    c: Floats
    y: Floats
    e: Floats | None = None


class Confidence(ABC):
    r"""Turns the confidences w of a batch's facts into c, y and e of the kernel's loss.

    .. math:: \sum_i c_i \sum_j \mathrm{softplus}(s_{ij}) - \sum_{ij} y_{ij} s_{ij}
              + \sum_{ij} e_{ij} \mathrm{softplus}(s_{ij})

    where i are queries (h, r) and j entities; y and e are 0 but for facts. Facts without
    confidences have nothing to weigh or regress: then each kind gives the paper's loss, in which c
    is the number of a query's facts and y = 1.
    """

    def __call__(
        self, row: Ids, weight: NDArray[np.float32] | None, queries: int, entities: int
    ) -> Numbers:
        """The numbers of P facts.

        Args:
            row: each fact's query, ``(P,)``.
            weight: each fact's confidence ``(P,)``, or None.
            queries: how many queries there are.
            entities: how many entities there are.
        """
        if weight is None:
            return Plain().numbers(row, np.ones(len(row)), queries, entities)
        return self.numbers(row, weight.astype(np.float64), queries, entities)

    @abstractmethod
    def numbers(self, row: Ids, w: Floats, queries: int, entities: int) -> Numbers:
        """The numbers of facts with confidences w ``(P,)``."""


class Plain(Confidence):
    r"""Confidences are ignored: :math:`c_i = n_i,\ y = 1`, the paper's loss.

    Example:
        >>> numbers = Plain()(np.array([0, 0, 1]), np.array([0.5, 1, 0.25], np.float32), 2, 9)
        >>> numbers.c.tolist(), numbers.y.tolist()
        ([2.0, 1.0], [1.0, 1.0, 1.0])
    """

    def numbers(self, row: Ids, w: Floats, queries: int, entities: int) -> Numbers:
        """The number of facts, and ones."""
        return Numbers(np.bincount(row, minlength=queries).astype(np.float64), np.ones(len(row)))


class Weights(Confidence):
    r"""A fact counts w times: :math:`c_i = \sum_j w_{ij},\ y = w`.

    Example:
        >>> numbers = Weights()(np.array([0, 0, 1]), np.array([0.5, 1, 0.25], np.float32), 2, 9)
        >>> numbers.c.tolist(), numbers.y.tolist()
        ([1.5, 0.25], [0.5, 1.0, 0.25])
    """

    def numbers(self, row: Ids, w: Floats, queries: int, entities: int) -> Numbers:
        """The sum of a query's confidences, and each."""
        return Numbers(np.bincount(row, weights=w, minlength=queries).astype(np.float64), w)


class Soft(Confidence):
    r"""Confidences are labels among all entities: :math:`c_i = 1,\ y = w`.

    This is the binary cross entropy of :math:`\sigma(s_{ij})` and a label for every entity: its
    confidence, or 0 where the pair is no fact of training. It is least where :math:`\sigma(s) = w`
    for the facts of training; but a fact that is held out has been a 0.

    Example:
        >>> numbers = Soft()(np.array([0, 0, 1]), np.array([0.5, 1, 0.25], np.float32), 2, 9)
        >>> numbers.c.tolist(), numbers.y.tolist()
        ([1.0, 1.0], [0.5, 1.0, 0.25])
    """

    def numbers(self, row: Ids, w: Floats, queries: int, entities: int) -> Numbers:
        """Ones, and each fact's confidence."""
        return Numbers(np.ones(queries), w)


class Regress(Confidence):
    r"""Confidences are labels among facts and corruptions: :math:`c_i = n_i/E,\ y = w,\ e = 1`.

    This is the binary cross entropy of each fact with its confidence, and of one corruption of it
    with 0, in the mean over the E entities that may be its tail. Little is said against a fact that
    is held out, so that :math:`\sigma(s)` is a confidence for it too.

    Example:
        >>> numbers = Regress()(np.array([0, 0, 1]), np.array([0.5, 1, 0.25], np.float32), 2, 10)
        >>> numbers.c.tolist(), numbers.y.tolist(), numbers.e.tolist()
        ([0.2, 0.1], [0.5, 1.0, 0.25], [1.0, 1.0, 1.0])
    """

    def numbers(self, row: Ids, w: Floats, queries: int, entities: int) -> Numbers:
        """The share of corruptions that each entity is, each fact's confidence, and ones."""
        return Numbers(np.bincount(row, minlength=queries) / entities, w, np.ones(len(row)))
