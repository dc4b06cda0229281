"""Probability that a query has an answer which is missing from the graph."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kgflow.data import Dataset
from kgflow.evaluation.metrics import Floats

Ids = NDArray[np.int64]


class MissingAnswerProbability:
    r"""Probability that (h, r, ?) has an unknown answer, by r and by whether one is known.

    It is estimated by what validation adds to training: of the n queries of a relation with an
    answer in training, m have one in validation too, and likewise of those without an answer in
    training. The estimate is :math:`(m + \frac12) / (n + 1)` (Jeffreys' prior), and holds for a
    graph that lacks as many triples as validation has. Without validation triples it is 1.

    Args:
        data: Dataset whose training and validation triples are counted.

    Example:
        >>> from kgflow.data import Triples, Vocabulary
        >>> names = Vocabulary(["Peru", "Lima", "Cusco", "Chile", "Santiago"])
        >>> train, valid = Triples.of([(0, 0, 1)]), Triples.of([(3, 0, 4)])
        >>> capital = Vocabulary(["has_capital"], kind="relation")
        >>> missing = MissingAnswerProbability(Dataset("capitals", names, capital, train, valid))
        >>> missing(np.array([0, 2]), np.array([0, 0])).tolist()  # Peru has one, Cusco none
        [0.25, 0.3]
    """

    def __init__(self, data: Dataset) -> None:
        self.data = data

    @cached_property
    def rates(self) -> Floats:
        """Probabilities without and with a known answer, by relation id, ``(2R, 2)``."""
        R, train, valid = 2 * len(self.data.relations), *map(self.data.queries, ("train", "valid"))
        if not len(valid):
            return np.ones((R, 2))
        answered = valid.find(train.h, train.r) >= 0
        trained = np.bincount(train.r, minlength=R)
        both = np.bincount(train.r[answered], minlength=R)
        only_valid = np.bincount(valid.r, minlength=R) - both
        without = (only_valid + 0.5) / (len(self.data.entities) - trained + 1)
        return np.stack([without, (both + 0.5) / (trained + 1)], axis=1)

    def has_known_answer(self, h: Ids, r: Ids) -> NDArray[np.bool_]:
        """Return whether queries have a known answer, ``(N,)``."""
        return self.data.known.find(h, r) >= 0

    def __call__(self, h: Ids, r: Ids) -> Floats:
        """Return the probabilities of queries, ``(N,)``; inverse relations have ids from R on."""
        return self.rates[r, self.has_known_answer(h, r).astype(np.int64)]
