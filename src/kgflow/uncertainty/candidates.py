"""True answers among all their candidates: what probabilities are fitted to and judged by."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from kgflow.data import QueryIndex
from kgflow.evaluation.metrics import Floats
from kgflow.evaluation.scored import Scored, scored
from kgflow.models import Model

HARD = 64
"""The best candidates of a question, each counted for itself."""
DRAWN = 64
"""Candidates drawn from all others of a question, counted for all of them."""


@dataclass(frozen=True, eq=False)
class CandidateScores:
    r"""Each true answer, and the candidates that are not known to be true, counted.

    A question (h, r, ?) is asked for a fact that the others do not hold; its candidates are the
    answer and every entity that is no known answer. All of them count once, so the frequency of
    truth among candidates of one score is what `kgflow predict --new` needs to know of an answer.
    On large graphs the `HARD` best candidates are taken one by one and `DRAWN` of the rest stand,
    drawn uniformly, for that rest by their weight: sums over candidates keep their expectation.

    Shapes:
        h, r: (P,), the question. fact: (P,), which fact it is from (each has two sides).
        true: (P,), the answer's score. other: (P, N), other candidates' scores.
        weight: (P, N), how many candidates each stands for; 0 where there is none.
    """

    h: NDArray[np.int64]
    r: NDArray[np.int64]
    fact: NDArray[np.int64]
    true: Floats
    other: Floats
    weight: Floats

    def __len__(self) -> int:
        return len(self.true)

    def take(self, mask: NDArray[np.bool_]) -> "CandidateScores":
        """Some of the answers."""
        h, r, fact = self.h[mask], self.r[mask], self.fact[mask]
        return CandidateScores(h, r, fact, self.true[mask], self.other[mask], self.weight[mask])

    def labelled(self) -> tuple[Floats, Floats, Floats]:
        """All candidates in one row: score, truth (1 or 0) and weight, each ``(M,)``."""
        real = self.weight > 0
        score = np.concatenate([self.true, self.other[real]])
        truth = np.repeat([1.0, 0.0], [len(self), int(real.sum())])
        return score, truth, np.concatenate([np.ones(len(self)), self.weight[real]])


def score_candidates(
    model: Model,
    questions: QueryIndex,
    known: QueryIndex,
    seed: int = 0,
    progress: Callable[[float], None] = lambda share: None,
) -> CandidateScores:
    """Count the candidates of every answer of some questions.

    Args:
        model: what scores.
        questions: the queries of some facts, inverse_relations included.
        known: the queries of all known facts.
        seed: of what is drawn.
        progress: called with the share of the work that is done.
    """
    generator = torch.Generator().manual_seed(seed)
    parts = [
        _counted(found, generator) for found in scored(model, questions, known, progress=progress)
    ]
    h, r, t, true, other, weight = (np.concatenate(column) for column in zip(*parts, strict=True))
    relations = questions.relations // 2
    back = r >= relations
    ends = np.where(back, t, h), np.where(back, h, t)
    key = (ends[0] * relations + r % relations) * questions.entities + ends[1]
    return CandidateScores(h, r, np.unique(key, return_inverse=True)[1], true, other, weight)


def _counted(found: Scored, generator: torch.Generator) -> tuple[NDArray[np.generic], ...]:
    S = found.S.scatter(1, torch.from_numpy(found.t).to(found.S.device)[:, None], -torch.inf)
    if S.shape[1] <= HARD + DRAWN:
        other, weight = S, torch.isfinite(S).double()
    else:
        hard, place = S.topk(HARD, dim=1)
        rest = S.scatter(1, place, -torch.inf)
        drawn = torch.randint(S.shape[1], (len(S), DRAWN), generator=generator).to(S.device)
        easy = rest.gather(1, drawn)
        there, size = torch.isfinite(easy).double(), torch.isfinite(rest).sum(1, keepdim=True)
        share = size / there.sum(1, keepdim=True).clamp(min=1)
        other = torch.cat([hard, easy], dim=1)
        weight = torch.cat([torch.isfinite(hard).double(), there * share], dim=1)
    other = torch.where(weight > 0, other, 0).double()
    columns = (found.score.double(), other, weight)
    return found.h, found.r, found.t, *(x.cpu().numpy() for x in columns)
