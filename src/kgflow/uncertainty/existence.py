"""How often a question has a missing answer at all."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kgflow.data import Dataset, QueryIndex
from kgflow.evaluation.metrics import Floats

Ids = NDArray[np.int64]


class Existence:
    r"""The chance that (h, r, ?) has an answer that is not known, by r and by whether one is known.

    Training does not hold the validation facts. So of the n questions of a relation to which it
    holds an answer, those m with one in validation too tell how often there is a further one, and
    likewise where it holds none: :math:`(m + \frac12) / (n + 1)` (Jeffreys' prior). The chance is
    thus that of a graph which lacks as many facts as validation has. Without validation facts
    nothing is known of what is missing, and it is 1.

    Args:
        data: its training and validation facts are counted, and all splits are what is known.

    Example:
        >>> from kgflow.data import Triples, Vocabulary
        >>> names = Vocabulary(["Peru", "Lima", "Cusco", "Chile", "Santiago"])
        >>> train, valid = Triples.of([(0, 0, 1)]), Triples.of([(3, 0, 4)])
        >>> capital = Vocabulary(["has_capital"], kind="relation")
        >>> chance = Existence(Dataset("capitals", names, capital, train, valid))
        >>> chance(np.array([0, 2]), np.array([0, 0])).tolist()  # Peru has one, Cusco none
        [0.25, 0.3]
    """

    def __init__(self, data: Dataset) -> None:
        self.data = data

    @cached_property
    def rates(self) -> Floats:
        """Without and with a known answer, for relations and inverse relations, ``(2R, 2)``."""
        R, train, valid = 2 * len(self.data.relations), *map(self.data.queries, ("train", "valid"))
        if not len(valid):
            return np.ones((R, 2))
        has = valid.find(train.h, train.r) >= 0
        asked = np.bincount(train.r, minlength=R)
        both = np.bincount(train.r[has], minlength=R)
        alone = np.bincount(valid.r, minlength=R) - both
        return np.stack(
            [
                (alone + 0.5) / (len(self.data.entities) - asked + 1),
                (both + 0.5) / (asked + 1),
            ],
            axis=1,
        )

    @cached_property
    def known(self) -> QueryIndex:
        """Every fact of every split."""
        return self.data.queries()

    def has(self, h: Ids, r: Ids) -> NDArray[np.int64]:
        """1 where an answer is known, else 0, ``(N,)``."""
        return (self.known.find(h, r) >= 0).astype(np.int64)

    def __call__(self, h: Ids, r: Ids) -> Floats:
        """The chances of questions, ``(N,)``; reciprocal relations go on after the others."""
        return self.rates[r, self.has(h, r)]
