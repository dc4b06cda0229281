"""Several signals as one."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def together(
    names: Sequence[str],
    fitted: Mapping[str, Floats],
    hit: NDArray[np.bool_],
    asked: Mapping[str, Floats],
) -> Floats:
    """The log odds of a hit by logistic regression on some signals, ``(M,)``.

    Each enters as the share of the fitted values below it, so that scales and infinities do not
    matter. All zero where the fitted ones are all hits, or none is.

    Args:
        names: which signals.
        fitted: signals to fit to, by name, ``(N,)`` each.
        hit: whether these were hits, ``(N,)``.
        asked: signals to judge, by name, ``(M,)`` each.
    """
    from sklearn.linear_model import LogisticRegression

    if hit.all() or not hit.any():
        return np.zeros(len(next(iter(asked.values()))))
    train, test = (
        np.column_stack([_share_below(fitted[name], x[name]) for name in names])
        for x in (fitted, asked)
    )
    odds: Floats = LogisticRegression(max_iter=1000).fit(train, hit).decision_function(test)
    return odds


def _share_below(fitted: Floats, x: Floats) -> Floats:
    ordered = np.sort(fitted)
    below, not_above = np.searchsorted(ordered, x, "left"), np.searchsorted(ordered, x, "right")
    return (below + not_above) / (2 * len(ordered))
