"""Ranking metrics."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Metrics(NamedTuple):
    r"""Link prediction metrics over N ranks.

    - mrr: :math:`\frac1N \sum 1/\mathrm{rank}`
    - mr: mean rank
    - hits@k: share of ranks of at most k
    - amr: mean rank divided by its expectation under random scores, :math:`\sum \mathrm{rank} /
      \sum \frac{c+1}2` with c candidates (Berrendorf et al. 2020)
    - amri: :math:`1 - \sum(\mathrm{rank}-1) / \sum\frac{c-1}2`, 1 at best and 0 for random scores
    """

    mrr: float
    mr: float
    hits1: float
    hits3: float
    hits10: float
    amr: float
    amri: float

    def to_dict(self) -> dict[str, float]:
        """Return the metrics by their usual names, such as ``hits@10``."""
        return {k.replace("hits", "hits@"): v for k, v in self._asdict().items()}


def metrics(rank: Floats, candidates: Floats) -> Metrics:
    """Compute the metrics of ranks ``(N,)`` among numbers of candidates ``(N,)``.

    Example:
        >>> m = metrics(np.array([1.0, 2.0, 4.0]), np.array([5.0, 5.0, 5.0]))
        >>> round(m.mrr, 4), m.mr, m.hits3, m.amri
        (0.5833, 2.3333333333333335, 0.6666666666666666, 0.33333333333333337)
    """
    if not len(rank):
        return Metrics._make([float("nan")] * len(Metrics._fields))
    amr = rank.sum() / ((candidates + 1) / 2).sum()
    # With one candidate per query, every rank is 1 and random scores are perfect.
    chance = ((candidates - 1) / 2).sum()
    amri = 1 - (rank - 1).sum() / chance if chance else 1.0
    return Metrics(
        mrr=float((1 / rank).mean()),
        mr=float(rank.mean()),
        hits1=float((rank <= 1).mean()),
        hits3=float((rank <= 3).mean()),
        hits10=float((rank <= 10).mean()),
        amr=float(amr),
        amri=float(amri),
    )
