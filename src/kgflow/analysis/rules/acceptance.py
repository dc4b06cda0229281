"""What a model takes for true."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from kgflow.analysis.rules.graph import Graph, Ids
from kgflow.runs.predictor import Predictor

FACTS = 200
"""Training facts of a relation, at most, by which the line is drawn."""


class Acceptance:
    r"""A model accepts (h, r, t) as answer to (h, r, ?) and to (?, r, t).

    That is, where its score is on or above a line drawn for r, and that of (t, r⁻¹, h) on or above
    the line for r⁻¹. The line is where r's training facts are best told from answers that are wrong
    as far as is known: the same heads, with tails of other facts of r (Youden's J, the share of
    facts above the line less that of wrong answers, is largest there).

    Args:
        predictor: the model with its data.
        train: the training facts.

    Reference:
        Youden: Index for rating diagnostic tests, Cancer 1950.
    """

    def __init__(self, predictor: Predictor, train: Graph) -> None:
        self.predictor, self.train = predictor, train
        self.line = lru_cache(maxsize=None)(self._line)
        self.usual = lru_cache(maxsize=None)(self._usual)

    def share(self, r: int, h: Ids, t: Ids) -> float:
        """How many of these pairs are accepted."""
        return float(self.accepts(r, h, t).mean())

    def accepts(self, r: int, h: Ids, t: Ids) -> NDArray[np.bool_]:
        """Whether the model accepts (h, r, t), ``(N,)``."""
        back = self.train.reverse(r)
        found = self.score(r, h, t) >= self.line(r)
        return found & (self.score(back, t, h) >= self.line(back))

    def score(self, d: int, h: Ids, t: Ids) -> NDArray[np.float64]:
        """The scores of (h, d, t) of a relation or reciprocal, ``(N,)``."""
        return self.predictor.score(h, np.full_like(h, d), t).double().numpy()

    def _usual(self, r: int) -> float:
        """How many of r's own training facts are accepted."""
        heads, tails = self.train.facts(r)
        some = self._some(r)
        return self.share(r, heads[some], tails[some]) if len(some) else 0.0

    def _some(self, d: int) -> Ids:
        count = len(self.train.facts(d)[0])
        return np.random.default_rng(d).choice(count, min(FACTS, count), replace=False)

    def _line(self, d: int) -> float:
        heads, tails = self.train.facts(d)
        if not len(heads):
            return np.inf  # a relation without facts has taught the model nothing
        some = self._some(d)
        h, wrong = np.repeat(heads[some], 4), np.random.default_rng(d).choice(tails, 4 * len(some))
        unknown = ~self.predictor.known.contains(h, np.full_like(h, d), wrong)
        low = self.score(d, h[unknown], wrong[unknown])
        return best_line(self.score(d, heads[some], tails[some]), low)


def best_line(high: NDArray[np.float64], low: NDArray[np.float64]) -> float:
    """The line with the largest share of `high` on or above it less that of `low`.

    Example:
        >>> best_line(np.array([3.0, 4.0, 1.0]), np.array([0.0, 2.0, 1.5]))
        3.0
    """
    if not len(low):
        return float(high.min())
    line = np.unique(high)
    above = [1 - np.searchsorted(np.sort(x), line) / len(x) for x in (high, low)]
    return float(line[np.argmax(above[0] - above[1])])
