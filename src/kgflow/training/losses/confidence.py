"""Meaning of the confidences of triples to a loss."""

from collections.abc import Callable
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
from pydantic import Field

from kgflow.config import Settings
from kgflow.data import QueryIndex
from kgflow.data.triples import Floats, Ids


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


Confidence = Callable[[Ids, Floats, int, int], Coefficients]
r"""Turns the confidences w of the triples of a batch into c, y and e of the kernel's loss.

.. math:: \sum_i c_i \sum_j \mathrm{softplus}(s_{ij}) - \sum_{ij} y_{ij} s_{ij}
          + \sum_{ij} e_{ij} \mathrm{softplus}(s_{ij})

where i are queries (h, r) and j entities; y and e are 0 except for true triples. Its arguments are
the query of each triple ``(P,)``, the confidences w ``(P,)``, and the numbers of queries and of
entities.
"""


def ignored(row: Ids, w: Floats, queries: int, entities: int) -> Coefficients:
    r"""Ignore confidences: :math:`c_i = n_i,\ y = 1`, the paper's loss.

    Example:
        >>> found = ignored(np.array([0, 0, 1]), np.array([0.5, 1, 0.25]), 2, 9)
        >>> found.c.tolist(), found.y.tolist()
        ([2.0, 1.0], [1.0, 1.0, 1.0])
    """
    return as_weights(row, np.ones(len(row)), queries, entities)


def as_weights(row: Ids, w: Floats, queries: int, entities: int) -> Coefficients:
    r"""Count a triple w times: :math:`c_i = \sum_j w_{ij},\ y = w`.

    Example:
        >>> found = as_weights(np.array([0, 0, 1]), np.array([0.5, 1, 0.25]), 2, 9)
        >>> found.c.tolist(), found.y.tolist()
        ([1.5, 0.25], [0.5, 1.0, 0.25])
    """
    return Coefficients(np.bincount(row, weights=w, minlength=queries).astype(np.float64), w)


def as_soft_labels(row: Ids, w: Floats, queries: int, entities: int) -> Coefficients:
    r"""Use confidences as labels among all entities: :math:`c_i = 1,\ y = w`.

    The binary cross entropy of :math:`\sigma(s_{ij})` and a label for every entity: its confidence,
    or 0 where the triple is not in training. It is smallest where :math:`\sigma(s) = w` for the
    training triples; a held-out triple has label 0. All tails of a query are the labels of one
    loss, while with the other functions each triple has its own.

    Example:
        >>> found = as_soft_labels(np.array([0, 0, 1]), np.array([0.5, 1, 0.25]), 2, 9)
        >>> found.c.tolist(), found.y.tolist()
        ([1.0, 1.0], [0.5, 1.0, 0.25])
    """
    return Coefficients(np.ones(queries), w)


def as_regression_targets(row: Ids, w: Floats, queries: int, entities: int) -> Coefficients:
    r"""Use confidences as labels of triples and of one negative each: :math:`c_i = n_i/E,\ y = w`.

    With :math:`e = 1` this is the binary cross entropy of each triple with its confidence, and of
    one corrupted triple with 0, in the mean over the E entities that may be its tail. Held-out
    triples are hardly pushed down, so that :math:`\sigma(s)` predicts their confidence, too.

    Example:
        >>> found = as_regression_targets(np.array([0, 0, 1]), np.array([0.5, 1, 0.25]), 2, 10)
        >>> found.c.tolist(), found.y.tolist(), found.e.tolist()
        ([0.2, 0.1], [0.5, 1.0, 0.25], [1.0, 1.0, 1.0])
    """
    counts = np.bincount(row, minlength=queries)
    return Coefficients(counts / entities, w, np.ones(len(row)))


CONFIDENCES: dict[str, Confidence] = {
    "ignore": ignored,
    "weight": as_weights,
    "soft-label": as_soft_labels,
    "regression": as_regression_targets,
}
