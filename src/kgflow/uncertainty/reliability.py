"""Whether probabilities are frequencies: Brier score, log loss, calibration error, their table."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kgflow.evaluation.metrics import Floats
from kgflow.uncertainty.calibration import Calibration
from kgflow.uncertainty.candidates import CandidateScores

BINS = 10
DRAWS = 1000


class Bin(NamedTuple):
    """Candidates of like probability: what was said of them, and what came true."""

    probability: float
    frequency: float
    candidates: float
    true: int


@dataclass(frozen=True, eq=False)
class Reliability:
    r"""Probabilities of all candidates, held against which of them is true.

    - brier: :math:`\sum_e (p_e - y_e)^2` over the candidates e of a question, the mean of questions
    - log_loss: :math:`-\sum_e y_e \log p_e + (1-y_e) \log(1-p_e)`, in nats, likewise
    - ece: :math:`\sum_b |\sum_{e \in b} (p_e - y_e)|` over bins of equal numbers of true answers,
      for a question: 0 where what is said in every bin comes true; at most 2 or so

    Shapes:
        query: (P,), which question an answer is to. log_odds, truth, weight, answer: (M,), what is
        said of each candidate, whether it is true, how many it stands for, and which answer's
        candidate it is.
    """

    query: NDArray[np.int64]
    log_odds: Floats
    truth: Floats
    weight: Floats
    answer: NDArray[np.int64]

    @classmethod
    def of(cls, calibration: Calibration, census: CandidateScores) -> "Reliability":
        """What a calibration says of the candidates of a census."""
        score, truth, weight = census.labelled()
        place = np.nonzero(census.weight > 0)[0]
        answer = np.concatenate([np.arange(len(census)), place])
        width = int(census.r.max(initial=0)) + 1
        query = np.unique(census.h * width + census.r, return_inverse=True)[1]
        odds = calibration.log_odds(score, census.r[answer])
        return cls(query, odds, truth, weight, answer)

    @property
    def p(self) -> Floats:
        """The probabilities, ``(M,)``."""
        from scipy.special import expit

        found: Floats = expit(self.log_odds)
        return found

    def brier(self) -> Floats:
        """The Brier score of each answer's question, ``(P,)``."""
        return self._sum((self.p - self.truth) ** 2)

    def log_loss(self) -> Floats:
        """The log loss of each answer's question, ``(P,)``."""
        sign = np.where(self.truth > 0, -1.0, 1.0)
        return self._sum(np.logaddexp(0, sign * self.log_odds))

    def excess(self) -> Floats:
        """What was said too much in each bin, of each answer's question: ``(P, B)``."""
        bins, size = self._bins(), len(self.query)
        width = int(bins.max()) + 1
        said = self.weight * (self.p - self.truth)
        cells = np.bincount(self.answer * width + bins, said, size * width)
        return cells.reshape(size, width).astype(np.float64)

    def table(self) -> list[Bin]:
        """The bins, by ascending probability."""
        bins, p = self._bins(), self.p
        mass = np.bincount(bins, self.weight)
        said = np.bincount(bins, self.weight * p) / mass
        true = np.bincount(bins, self.truth)
        rows = zip(said.tolist(), (true / mass).tolist(), mass.tolist(), true.tolist(), strict=True)
        return [Bin(said, seen, count, int(right)) for said, seen, count, right in rows]

    def to_dict(self) -> dict[str, Any]:
        """The numbers and the table."""
        return {
            "brier": float(self.brier().mean()),
            "log_loss": float(self.log_loss().mean()),
            "ece": float(np.abs(self.excess().mean(0)).sum()),
            "bins": [row._asdict() for row in self.table()],
        }

    def _sum(self, values: Floats) -> Floats:
        total = np.bincount(self.answer, self.weight * values, len(self.query))
        return total.astype(np.float64)

    def _bins(self) -> NDArray[np.int64]:
        right = self.log_odds[self.truth > 0]
        inner = np.quantile(right, np.arange(1, BINS) / BINS, method="lower")
        # A bin without a candidate would have no frequency.
        bins = np.searchsorted(np.unique(inner), self.log_odds, side="left")
        return np.unique(bins, return_inverse=True)[1]


def differences(
    before: Reliability, after: Reliability, draws: int = DRAWS, seed: int = 0
) -> dict[str, tuple[float, float]]:
    """After less before, of each number, with its bootstrap error over questions (h, r)."""
    rng, queries = np.random.default_rng(seed), int(before.query.max()) + 1
    times = rng.multinomial(queries, np.full(queries, 1 / queries), size=draws).astype(np.float64)
    times = np.vstack([np.ones(queries), times])
    size = times @ np.bincount(before.query, minlength=queries)

    def means(values: Floats) -> Floats:
        columns = values.reshape(len(values), -1).T
        total = np.stack([np.bincount(before.query, x, queries) for x in columns], axis=1)
        found: Floats = times @ total / size[:, None]
        return found

    def ece(found: Reliability) -> Floats:
        return np.abs(means(found.excess())).sum(1)

    drawn = {
        "brier": means(after.brier() - before.brier())[:, 0],
        "log_loss": means(after.log_loss() - before.log_loss())[:, 0],
        "ece": ece(after) - ece(before),
    }
    return {name: (float(x[0]), float(x[1:].std(ddof=1))) for name, x in drawn.items()}
