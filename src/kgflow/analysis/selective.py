"""Whether a signal knows which answers are good: ROC and rejection curves."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
DRAWS = 300
"""Samples of a bootstrap."""


def auroc(signal: Floats, good: NDArray[np.bool_], weight: Floats | None = None) -> float:
    r"""The area under the ROC curve of a signal for what is good.

    .. math:: P(s_+ > s_-) + \tfrac12 P(s_+ = s_-)

    over pairs of a good and a bad one; 0.5 for a signal that knows nothing, less for one that is
    wrong. Not a number where all are good or none is.

    Args:
        signal: ``(N,)``, higher for better; may be infinite.
        good: ``(N,)``.
        weight: how often each counts, ``(N,)``.

    Example:
        >>> auroc(np.array([3.0, 1.0, 2.0, 1.0]), np.array([True, False, False, True]))
        0.625
    """
    return _auroc(_levels(signal), good, np.ones(len(signal)) if weight is None else weight)


def auroc_draws(
    signal: Floats, good: NDArray[np.bool_], cluster: NDArray[np.int64], draws: int = DRAWS
) -> Floats:
    """Bootstrap samples of `auroc`, by drawing whole clusters (Efron, 1979), ``(draws,)``.

    The draws are the same for every signal, so that differences of two can be taken.

    Args:
        signal: ``(N,)``.
        good: ``(N,)``.
        cluster: what belongs together, such as the answers of a query: numbers from 0, ``(N,)``.
        draws: how many samples.
    """
    levels, rng = _levels(signal), np.random.default_rng(0)
    clusters = int(cluster.max(initial=-1)) + 1
    found = []
    for _ in range(draws):
        times = np.bincount(rng.integers(clusters, size=clusters), minlength=clusters)
        found.append(_auroc(levels, good, times[cluster].astype(np.float64)))
    return np.array(found)


def interval(draws: Floats) -> tuple[float, float]:
    """The middle 95 % of samples; those that are not a number do not count.

    Example:
        >>> interval(np.arange(101.0))
        (2.5, 97.5)
    """
    kept = draws[~np.isnan(draws)]
    if not len(kept):
        return float("nan"), float("nan")
    low, high = np.quantile(kept, (0.025, 0.975))
    return float(low), float(high)


def rejection_curve(signal: Floats, gain: Floats) -> Floats:
    """The mean gain of the 1, 2, …, N that a signal is surest of, ``(N,)``.

    Among equals the order is random, and this the expectation. With the reciprocal ranks for the
    gain it is the MRR of what is answered; the last is that of all.

    Args:
        signal: ``(N,)``, higher for surer; may be infinite.
        gain: ``(N,)``.

    Example:
        >>> rejection_curve(np.array([3.0, 1.0, 1.0]), np.array([1.0, 0.5, 0.0])).tolist()
        [1.0, 0.625, 0.5]
    """
    levels = _levels(-signal)
    count = np.bincount(levels)
    mean = np.bincount(levels, gain) / count
    return np.cumsum(np.repeat(mean, count)) / np.arange(1, len(gain) + 1)


def _levels(signal: Floats) -> NDArray[np.int64]:
    """Each one's place among the distinct values, from 0 for the least."""
    return np.unique(signal, return_inverse=True)[1].astype(np.int64)


def _auroc(levels: NDArray[np.int64], good: NDArray[np.bool_], weight: Floats) -> float:
    size = int(levels.max(initial=-1)) + 1
    above, bad = (np.bincount(levels, weight * side, minlength=size) for side in (good, ~good))
    pairs = above.sum() * bad.sum()
    won = (above * (np.cumsum(bad) - bad / 2)).sum()
    return float(won / pairs) if pairs else float("nan")
