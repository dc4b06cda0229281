"""Scores of true answers and of their candidates, to fit and to evaluate calibration."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from kgflow.data import QueryIndex
from kgflow.evaluation import Progress, ScoredAnswers, Scorer, no_progress
from kgflow.evaluation.metrics import Floats
from kgflow.evaluation.scoring import Ids
from kgflow.models import Model

TOP = 64
"""Best candidates of a query, each with weight 1."""
SAMPLED = 64
"""Candidates sampled from the others, weighted to represent all of them."""


@dataclass(frozen=True, eq=False)
class CandidateScores:
    r"""Scores of true answers and of the other candidates of their queries.

    The candidates of a query (h, r, ?) are the true answer and every entity that is not a known
    answer. In large graphs the `TOP` best candidates have weight 1, and `SAMPLED` of the others,
    drawn uniformly, are weighted to represent all others: weighted sums over candidates keep their
    expectation.

    Shapes:
        h, r: (P,), query. fact: (P,), index of its triple, which has a query for either side.
        true: (P,), score of the answer. other: (P, N), scores of other candidates.
        weight: (P, N), number of candidates that each represents; 0 for padding.
    """

    h: Ids
    r: Ids
    fact: Ids
    true: Floats
    other: Floats
    weight: Floats

    def __len__(self) -> int:
        return len(self.true)

    def take(self, mask: NDArray[np.bool_]) -> "CandidateScores":
        """Select answers by a mask, ``(P,)``."""
        h, r, fact = self.h[mask], self.r[mask], self.fact[mask]
        return CandidateScores(h, r, fact, self.true[mask], self.other[mask], self.weight[mask])

    def flatten(self) -> tuple[Floats, Floats, Floats]:
        """Return score, truth (1 or 0) and weight of all candidates, ``(M,)`` each."""
        real = self.weight > 0
        score = np.concatenate([self.true, self.other[real]])
        truth = np.repeat([1.0, 0.0], [len(self), int(real.sum())])
        return score, truth, np.concatenate([np.ones(len(self)), self.weight[real]])


def score_candidates(
    model: Model,
    queries: QueryIndex,
    known: QueryIndex,
    seed: int = 0,
    progress: Progress = no_progress,
) -> CandidateScores:
    """Score the candidates of every answer of some queries, which include inverse relations."""
    generator = torch.Generator().manual_seed(seed)
    answers = Scorer(model, known).answers(queries, progress)
    parts = [_sample(found, generator) for found in answers]
    h, r, t, true, other, weight = (np.concatenate(column) for column in zip(*parts, strict=True))
    relations = queries.relations // 2
    inverse = r >= relations
    head, tail = np.where(inverse, t, h), np.where(inverse, h, t)
    key = (head * relations + r % relations) * queries.entities + tail
    return CandidateScores(h, r, np.unique(key, return_inverse=True)[1], true, other, weight)


def _sample(found: ScoredAnswers, generator: torch.Generator) -> tuple[NDArray[np.generic], ...]:
    """Return h, r, t, true, other and weight of `CandidateScores`."""
    S = found.S.scatter(1, torch.from_numpy(found.t).to(found.S.device)[:, None], -torch.inf)
    if S.shape[1] <= TOP + SAMPLED:
        other, weight = S, torch.isfinite(S).double()
    else:
        top, entity = S.topk(TOP, dim=1)
        rest = S.scatter(1, entity, -torch.inf)
        drawn = torch.randint(S.shape[1], (len(S), SAMPLED), generator=generator).to(S.device)
        sampled = rest.gather(1, drawn)
        real, size = torch.isfinite(sampled).double(), torch.isfinite(rest).sum(1, keepdim=True)
        each = size / real.sum(1, keepdim=True).clamp(min=1)
        other = torch.cat([top, sampled], dim=1)
        weight = torch.cat([torch.isfinite(top).double(), real * each], dim=1)
    other = torch.where(weight > 0, other, 0).double()
    columns = (found.score.double(), other, weight)
    return found.h, found.r, found.t, *(x.cpu().numpy() for x in columns)
