"""Reliability of probabilities: Brier score, log loss, expected calibration error, bins."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kgflow.evaluation.metrics import Floats
from kgflow.evaluation.scoring import Ids
from kgflow.uncertainty.calibration import Calibration
from kgflow.uncertainty.candidates import CandidateScores

BINS = 10
"""Bins of probability."""
DRAWS = 1000
"""Bootstrap samples."""


class Bin(NamedTuple):
    """Bin of candidates: mean probability, share of true ones, their numbers."""

    probability: float
    frequency: float
    candidates: float
    true: int


@dataclass(frozen=True, eq=False)
class Reliability:
    r"""Probabilities of candidates compared with their truth.

    - brier: Brier score :math:`\sum_e (p_e - y_e)^2` over the candidates e of an answer, the mean
      over answers
    - log_loss: :math:`-\sum_e y_e \log p_e + (1-y_e) \log(1-p_e)`, in nats, likewise
    - ece: expected calibration error :math:`\sum_b |\sum_{e \in b} (p_e - y_e)|` per answer, over
      bins with equal numbers of true answers

    Shapes:
        query: (P,), index of the query of each answer. log_odds, truth, weight: (M,), of each
        candidate. answer: (M,), index of the answer whose candidate it is.
    """

    query: Ids
    log_odds: Floats
    truth: Floats
    weight: Floats
    answer: Ids

    @classmethod
    def of(cls, calibration: Calibration, candidates: CandidateScores) -> "Reliability":
        """Compute the probabilities of candidates by a calibration."""
        score, truth, weight = candidates.flatten()
        other = np.nonzero(candidates.weight > 0)[0]
        answer = np.concatenate([np.arange(len(candidates)), other])
        width = int(candidates.r.max(initial=0)) + 1
        query = np.unique(candidates.h * width + candidates.r, return_inverse=True)[1]
        odds = calibration.log_odds(score, candidates.r[answer])
        return cls(query, odds, truth, weight, answer)

    @property
    def p(self) -> Floats:
        """Probabilities of candidates, ``(M,)``."""
        from scipy.special import expit

        return expit(self.log_odds)

    def brier(self) -> Floats:
        """Compute the Brier score of the candidates of each answer, ``(P,)``."""
        return self._sum((self.p - self.truth) ** 2)

    def log_loss(self) -> Floats:
        """Compute the log loss of the candidates of each answer, ``(P,)``."""
        sign = np.where(self.truth > 0, -1.0, 1.0)
        return self._sum(np.logaddexp(0, sign * self.log_odds))

    def calibration_gaps(self) -> Floats:
        """Sum probability minus truth over the candidates of each answer by bin, ``(P, B)``."""
        bins, size = self._bins(), len(self.query)
        width = int(bins.max()) + 1
        gap = self.weight * (self.p - self.truth)
        cells = np.bincount(self.answer * width + bins, gap, size * width)
        return cells.reshape(size, width).astype(np.float64)

    def bins(self) -> list[Bin]:
        """Return the bins, by ascending probability."""
        bins, p = self._bins(), self.p
        mass = np.bincount(bins, self.weight)
        mean = np.bincount(bins, self.weight * p) / mass
        true = np.bincount(bins, self.truth)
        rows = zip(mean.tolist(), (true / mass).tolist(), mass.tolist(), true.tolist(), strict=True)
        return [Bin(mean, share, count, int(number)) for mean, share, count, number in rows]

    def to_dict(self) -> dict[str, Any]:
        """Return the mean metrics and the bins."""
        return {
            "brier": float(self.brier().mean()),
            "log_loss": float(self.log_loss().mean()),
            "ece": float(np.abs(self.calibration_gaps().mean(0)).sum()),
            "bins": [row._asdict() for row in self.bins()],
        }

    def _sum(self, values: Floats) -> Floats:
        total = np.bincount(self.answer, self.weight * values, len(self.query))
        return total.astype(np.float64)

    def _bins(self) -> Ids:
        true = self.log_odds[self.truth > 0]
        inner = np.quantile(true, np.arange(1, BINS) / BINS, method="lower")
        # Empty bins, which have no share of true candidates, are left out.
        bins = np.searchsorted(np.unique(inner), self.log_odds, side="left")
        return np.unique(bins, return_inverse=True)[1]


def compare_reliability(
    before: Reliability, after: Reliability, draws: int = DRAWS, seed: int = 0
) -> dict[str, tuple[float, float]]:
    """Compute after minus before of each metric, and its bootstrap standard error over queries.

    Both are reliabilities on the same candidates; there are `draws` bootstrap samples.
    """
    rng, queries = np.random.default_rng(seed), int(before.query.max()) + 1
    times = rng.multinomial(queries, np.full(queries, 1 / queries), size=draws).astype(np.float64)
    times = np.vstack([np.ones(queries), times])
    size = times @ np.bincount(before.query, minlength=queries)

    def means(values: Floats) -> Floats:
        columns = values.reshape(len(values), -1).T
        total = np.stack([np.bincount(before.query, x, queries) for x in columns], axis=1)
        return times @ total / size[:, None]

    def ece(found: Reliability) -> Floats:
        return np.abs(means(found.calibration_gaps())).sum(1)

    drawn = {
        "brier": means(after.brier() - before.brier())[:, 0],
        "log_loss": means(after.log_loss() - before.log_loss())[:, 0],
        "ece": ece(after) - ece(before),
    }
    return {name: (float(x[0]), float(x[1:].std(ddof=1))) for name, x in drawn.items()}
