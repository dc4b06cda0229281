"""ROC curves and rejection curves of signals of correct predictions."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
DRAWS = 300
"""Number of bootstrap samples."""


def auroc(signal: Floats, good: NDArray[np.bool_], weight: Floats | None = None) -> float:
    r"""Return the area under the ROC curve of a signal.

    .. math:: P(s_+ > s_-) + \tfrac12 P(s_+ = s_-)

    over pairs of a positive and a negative observation; 0.5 for a random signal. NaN where all
    observations are positive, or none is.

    Args:
        signal: signal, ``(N,)``; may be infinite.
        good: whether each observation is positive, ``(N,)``.
        weight: weights of the observations, ``(N,)``.

    Example:
        >>> auroc(np.array([3.0, 1.0, 2.0, 1.0]), np.array([True, False, False, True]))
        0.625
    """
    return _auroc(_levels(signal), good, np.ones(len(signal)) if weight is None else weight)


def auroc_draws(
    signal: Floats, good: NDArray[np.bool_], cluster: NDArray[np.int64], draws: int = DRAWS
) -> Floats:
    """Return bootstrap samples of `auroc`, which consist of whole clusters, ``(draws,)``.

    The draws are the same for every signal, so that two signals can be compared (Efron, 1979).

    Args:
        signal: signal, ``(N,)``.
        good: whether each observation is positive, ``(N,)``.
        cluster: cluster of each observation, such as its query, from 0, ``(N,)``.
        draws: number of samples.
    """
    levels, rng = _levels(signal), np.random.default_rng(0)
    clusters = int(cluster.max(initial=-1)) + 1
    found = []
    for _ in range(draws):
        times = np.bincount(rng.integers(clusters, size=clusters), minlength=clusters)
        found.append(_auroc(levels, good, times[cluster].astype(np.float64)))
    return np.array(found)


def interval(draws: Floats) -> tuple[float, float]:
    """Return the 2.5 % and the 97.5 % quantile of samples, without NaN.

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
    """Return the mean gain of the 1, 2, …, N observations with the highest signal, ``(N,)``.

    Tied observations are in random order, of which this is the expectation. With 1 / rank as the
    gain, it is the MRR of the most certain queries.

    Args:
        signal: signal, ``(N,)``; may be infinite.
        gain: gain of each observation, ``(N,)``.

    Example:
        >>> rejection_curve(np.array([3.0, 1.0, 1.0]), np.array([1.0, 0.5, 0.0])).tolist()
        [1.0, 0.625, 0.5]
    """
    levels = _levels(-signal)
    count = np.bincount(levels)
    mean = np.bincount(levels, gain) / count
    return np.cumsum(np.repeat(mean, count)) / np.arange(1, len(gain) + 1)


def _levels(signal: Floats) -> NDArray[np.int64]:
    """Return the index of each value among the sorted distinct values."""
    return np.unique(signal, return_inverse=True)[1].astype(np.int64)


def _auroc(levels: NDArray[np.int64], good: NDArray[np.bool_], weight: Floats) -> float:
    size = int(levels.max(initial=-1)) + 1
    above, bad = (np.bincount(levels, weight * side, minlength=size) for side in (good, ~good))
    pairs = above.sum() * bad.sum()
    won = (above * (np.cumsum(bad) - bad / 2)).sum()
    return float(won / pairs) if pairs else float("nan")
