"""Certainty: percentiles of entities by entropy, among entities of their type or degree."""

from collections.abc import Sequence

import numpy as np

from kgflow.data import Dataset
from kgflow.evaluation.metrics import Floats
from kgflow.evaluation.scoring import Ids

MIN_GROUP = 20
"""Smallest number of entities of a group."""


def certainty_groups(data: Dataset) -> tuple[Ids, list[str]]:
    """Return the group of each entity ``(E,)``, and the names of the groups.

    A group is the entities of one type (the first one, of entities with several), where they are
    `MIN_GROUP` or more; else those with a similar number of training facts; else all of the rest.

    Example:
        >>> import kgflow
        >>> world = kgflow.load("world")
        >>> group, names = certainty_groups(world)
        >>> names[group[world.entity_id("France")]]
        'entities of type country'
    """
    typed = [data.types.get(name, ()) for name in data.entities]
    titles = np.array([f"entities of type {own[0]}" if own else "" for own in typed], dtype=object)
    degree = data.train.degrees(len(typed))
    for missing in (_bands(degree), np.full(len(typed), "entities", dtype=object)):
        names, of, counts = np.unique(titles, return_inverse=True, return_counts=True)
        small = (counts < MIN_GROUP) | (names == "")
        titles = np.where(small[of], missing, titles)
    found, group = np.unique(titles, return_inverse=True)
    return group.astype(np.int64), [str(name) for name in found]


def _bands(degree: Ids) -> "np.ndarray":
    """Return titles of bands of degree: 0, 1, 2 to 3, 4 to 7, … facts."""
    low = np.where(degree > 0, 2 ** np.floor(np.log2(np.maximum(degree, 1))), 0).astype(np.int64)
    high = np.maximum(2 * low - 1, 0)
    pairs = zip(low.tolist(), high.tolist(), strict=True)
    titles = [f"entities with {a:,} training facts" if a == b else
              f"entities with {a:,} to {b:,} training facts" for a, b in pairs]  # fmt: skip
    return np.array(titles, dtype=object)


def percentile(values: Floats, group: Ids | None = None) -> Floats:
    """Return the percentile of each value among those of its group, ``(N,)``; ties count half.

    Example:
        >>> percentile(np.array([3.0, 1.0, 2.0, 2.0])).tolist()
        [87.5, 12.5, 50.0, 50.0]
        >>> percentile(np.array([3.0, 1.0, 2.0]), np.array([0, 1, 0])).tolist()
        [75.0, 50.0, 25.0]
    """
    if group is not None:
        found = np.empty(len(values))
        for g in np.unique(group):
            found[group == g] = percentile(values[group == g])
        return found
    ordered = np.sort(values)
    below, not_above = (np.searchsorted(ordered, values, side) for side in ("left", "right"))
    return np.asarray(50 * (below + not_above) / max(1, len(values)), dtype=np.float64)


def fitted_certainty(facts: Ids, fitted: Sequence[int]) -> Floats:
    """Return the certainty of what was fitted after training, 0 to 100, by its number of facts n.

    It is 100 n / (n + m), where m is the median number of facts of all others: the entropy of an
    embedding was not learned against theirs. It grows with n, and is 50 for n = m.

    Example:
        >>> fitted_certainty(np.array([4, 6, 15]), [2]).tolist()
        [75.0]
    """
    own = facts[list(fitted)]
    others = np.delete(facts, list(fitted))
    median = float(np.median(others)) if len(others) else 1.0
    return 100 * own / np.maximum(own + median, 1)
