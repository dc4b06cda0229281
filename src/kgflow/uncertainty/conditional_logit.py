"""Conditional logit: the probability of each candidate, from scores and statistics."""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
import torch
from torch import Tensor

from kgflow.evaluation import ScoredAnswers, Scorer
from kgflow.evaluation.scoring import Ids
from kgflow.uncertainty.candidate_statistics import CandidateStatistics, RandomWalk
from kgflow.uncertainty.nonconformity import FitData
from kgflow.uncertainty.pointwise_scores import PointwiseScore

FACTS = 1500
"""Largest number of triples that it is fitted to."""
TOP, SAMPLED = 64, 256
"""Best candidates of a query, and candidates that are drawn from the others, in fitting."""
PENALTY = 3.0
"""L2 penalty of the coefficients of a relation, in standard deviations, towards the common ones."""
ITERATIONS = 100
"""Largest number of iterations of L-BFGS."""
MEMORY = 2**22
"""Scores held at a time in fitting."""


class Samples(NamedTuple):
    """Answers (first column) and sampled candidates of their queries.

    Shapes:
        r: (P,). x: (P, N, F). log_weight: (P, N), -inf for padding.
    """

    r: Tensor
    x: Tensor
    log_weight: Tensor


@dataclass(frozen=True, eq=False)
class ConditionalLogit(PointwiseScore):
    r"""Negative log probability of a candidate in a conditional logit model.

    .. math:: V_t = -\log p_t, \qquad
              p_t = \frac{\exp(w_r \cdot x_t)}{\sum_e \exp(w_r \cdot x_e)}

    where :math:`x_e` are the score of the model (0 for queries about entities that are not in
    training), the statistics of `CandidateStatistics`, and `RandomWalk`. They order the tail of the
    ranking, where scores say little: the entities that may answer the relation at all. Coefficients
    :math:`w_r` of relations are penalized towards common ones, and these towards the softmax of the
    model's scores (McFadden: Conditional logit analysis of qualitative choice behavior, 1974).

    It is fitted to validation triples that fit no threshold; the sum over candidates is estimated
    by the best ones and a weighted sample of the others.

    Shapes:
        score, walk: (2R,), coefficients. prior: (2R, E), sum of all that depends on the relation
        and the candidate only.
    """

    name = "logit"

    statistics: CandidateStatistics
    score: Tensor
    walk: Tensor
    prior: Tensor
    proximity: RandomWalk

    @classmethod
    def fit(cls, data: FitData) -> Self:
        statistics = CandidateStatistics(data.data)
        proximity = RandomWalk(statistics)
        samples = _samples(data, statistics, proximity)
        w = _coefficients(samples, 1 / data.temperature, statistics.relations)
        prior = torch.stack(
            [torch.from_numpy(statistics.columns(r)) @ w[r, 2:] for r in range(len(w))]
        )
        return cls(statistics, w[:, 0], w[:, 1], prior, proximity)

    def rescore(self, h: Ids, r: Ids, S: Tensor) -> Tensor:
        """Return log probabilities of the candidates, ``(B, E)``, -inf for other entities."""
        row, used = torch.from_numpy(r), torch.from_numpy(self.statistics.trained(h))
        scale = torch.where(used, self.score[row], 0)[:, None]
        walks = torch.from_numpy(self.proximity(h)) * self.walk[row][:, None]
        other = (self.prior[row] + walks).to(S.device).double()
        logit = torch.where(torch.isfinite(S), S * scale.to(S.device), -torch.inf) + other
        return torch.log_softmax(logit, dim=1)

    def values(self, S: Tensor) -> Tensor:
        return -S


def _samples(data: FitData, statistics: CandidateStatistics, proximity: RandomWalk) -> Samples:
    facts = data.facts
    if len(facts) > FACTS:
        order = np.random.default_rng(data.seed).permutation(len(facts))
        facts = facts.take(order[:FACTS])
    generator, parts = torch.Generator().manual_seed(data.seed), []
    for found in Scorer(data.model, data.data.known, MEMORY).answers(data.data.index(facts)):
        e, log_weight = _sample(found, generator)
        used = torch.from_numpy(statistics.trained(found.h))[:, None]
        S = torch.where(torch.isfinite(log_weight), found.S.cpu().gather(1, e), 0) * used
        walks = torch.from_numpy(proximity(found.h)).gather(1, e)
        counted = torch.zeros(*e.shape, len(statistics.COLUMNS))
        for r in np.unique(found.r):
            here = torch.from_numpy(found.r == r)
            counted[here] = torch.from_numpy(statistics.columns(int(r)))[e[here]]
        x = torch.cat([S[..., None], walks[..., None], counted], dim=2).double()
        parts.append((torch.from_numpy(found.r), x, log_weight))
    return Samples(*(torch.cat(part) for part in zip(*parts, strict=True)))


def _sample(found: ScoredAnswers, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Return the answer and sampled candidates, and log weights, ``(P, N)`` each."""
    S, t = found.S.cpu(), torch.from_numpy(found.t)[:, None]
    rest = S.scatter(1, t, -torch.inf)
    value, top = rest.topk(min(TOP, S.shape[1]), dim=1)
    rest = rest.scatter(1, top, -torch.inf)
    drawn = torch.randint(S.shape[1], (len(S), SAMPLED), generator=generator)
    real = torch.isfinite(rest.gather(1, drawn)).double()
    size = torch.isfinite(rest).sum(1, keepdim=True)
    each = size / real.sum(1, keepdim=True).clamp(min=1)
    weight = torch.cat([torch.ones(t.shape), torch.isfinite(value).double(), real * each], dim=1)
    return torch.cat([t, top, drawn], dim=1), weight.log()


def _coefficients(samples: Samples, start: float, relations: int) -> Tensor:
    """Return the coefficients of each relation, ``(2R, F)``, of penalized maximum likelihood."""
    r, x, log_weight = samples
    real = torch.isfinite(log_weight)
    scale = x[real].std(0).clamp(min=1e-6)
    x, centre = x / scale, torch.zeros(len(scale), dtype=torch.float64)
    centre[0] = start * scale[0]  # the softmax of the scores
    common = centre.clone().requires_grad_()
    own = torch.zeros(relations, len(scale), dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([common, own], max_iter=ITERATIONS, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        optimizer.zero_grad()
        logit = (x @ common[:, None])[:, :, 0] + torch.einsum("pnf,pf->pn", x, own[r])
        likelihood = logit[:, 0] - torch.logsumexp(logit + log_weight, dim=1)
        penalty = PENALTY * (own**2).sum() + ((common - centre) ** 2).sum()
        found = penalty - likelihood.sum()
        found.backward()
        return found

    with torch.enable_grad():
        optimizer.step(loss)
    return ((common + own) / scale).detach().float()
