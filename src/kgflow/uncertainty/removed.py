"""Sample of all triples that are not known, in which the removed ones are marked."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kgflow.data import QueryIndex
from kgflow.evaluation import Scorer
from kgflow.evaluation.metrics import Floats
from kgflow.evaluation.scoring import Ids
from kgflow.kernels import blocks

QUERIES = 2000
"""Queries of each of three kinds that are sampled."""
TOP = 32
"""Best candidates of a query, each with weight 1."""
SAMPLED = 16
"""Candidates sampled from the others, weighted to represent all of them."""
BATCH = 256
"""Queries scored at a time, at most."""


@dataclass(frozen=True, eq=False)
class TripleSample:
    """Triples that are not known, weighted to represent all of them.

    A triple is an answer to two queries and counts half in each.

    Shapes:
        h, r, t: (M,), triple. removed: (M,), whether it was removed. weight: (M,), number of
        triples that each represents.
    """

    h: Ids
    r: Ids
    t: Ids
    removed: NDArray[np.bool_]
    weight: Floats

    def __len__(self) -> int:
        return len(self.h)

    def take(self, where: NDArray[np.bool_]) -> "TripleSample":
        """Select triples by a mask."""
        h, r, t = self.h[where], self.r[where], self.t[where]
        return TripleSample(h, r, t, self.removed[where], self.weight[where])


def sample_triples(
    scorer: Scorer,
    removed: QueryIndex,
    seed: int = 0,
    queries: int = QUERIES,
    left_out: QueryIndex | None = None,
) -> TripleSample:
    """Sample triples that are not among the known ones of the scorer.

    Sampled are queries with removed answers, other queries with known answers, and queries of any
    entity and relation without either. Of each, all removed answers are in the sample, the best
    other candidates, and some of the rest. Triples of `left_out` are not.
    """
    rng, known = np.random.default_rng(seed), scorer.known
    generator, parts = torch.Generator().manual_seed(seed), []
    for h, r in _strata(known, removed):
        chosen, weight = _choose(r, queries, rng)
        h, r = h[chosen], r[chosen]
        for low, high in blocks(len(h), scorer.batch_size(BATCH)):
            here = h[low:high], r[low:high]
            rows, t, is_removed, each = _candidates(scorer, removed, *here, generator)
            parts.append((here[0][rows], here[1][rows], t, is_removed, each * weight / 2))
    h, r, t, is_removed, weights = (np.concatenate(x) for x in zip(*parts, strict=True))
    relations = known.relations // 2
    inverse = r >= relations
    head, tail = np.where(inverse, t, h), np.where(inverse, h, t)
    sample = TripleSample(head, r % relations, tail, is_removed, weights)
    if left_out is None:
        return sample
    return sample.take(~left_out.contains(sample.h, sample.r, sample.t))


def _strata(known: QueryIndex, removed: QueryIndex) -> list[tuple[Ids, Ids]]:
    """Return queries with removed answers, with known ones only, and with neither."""
    only_known = removed.find(known.h, known.r) < 0
    neither = np.ones(known.entities * known.relations, dtype=bool)
    for index in (known, removed):
        neither[index.h * known.relations + index.r] = False
    h, r = np.divmod(np.flatnonzero(neither), known.relations)
    return [(removed.h, removed.r), (known.h[only_known], known.r[only_known]), (h, r)]


def _choose(r: Ids, size: int, rng: np.random.Generator) -> tuple[Ids, float]:
    """Choose `size` positions at random, of each relation its share; and the weight of each."""
    order = np.lexsort((rng.random(len(r)), r))
    if len(r) <= size:
        return order, 1.0
    places = ((np.arange(size) + rng.random()) * len(r) / size).astype(np.int64)
    return order[places], len(r) / size


def _candidates(
    scorer: Scorer, removed: QueryIndex, h: Ids, r: Ids, generator: torch.Generator
) -> tuple[Ids, Ids, NDArray[np.bool_], Floats]:
    """Return row, candidate, whether it is removed, and weight, of candidates of queries."""
    S = scorer.filtered_scores(h, r)
    row, t, _ = removed.gather(removed.find(h, r))
    S[scorer.tensor(row), scorer.tensor(t)] = -torch.inf
    top = S.topk(min(TOP, S.shape[1]), dim=1)
    found = [(row, t, np.ones(len(row))), _finite(top.values, top.indices, None)]
    S.scatter_(1, top.indices, -torch.inf)
    drawn = torch.randint(S.shape[1], (len(S), SAMPLED), generator=generator).to(S.device)
    found.append(_finite(S.gather(1, drawn), drawn, torch.isfinite(S).sum(1)))
    rows, entity, weight = (np.concatenate(x) for x in zip(*found, strict=True))
    return rows, entity, np.arange(len(rows)) < len(row), weight


def _finite(S: Tensor, entity: Tensor, total: Tensor | None) -> tuple[Ids, Ids, Floats]:
    """Return row, entity and weight of finite scores; all of a row together weigh `total`."""
    finite = torch.isfinite(S)
    row, column = finite.nonzero(as_tuple=True)
    each = torch.ones(len(S), dtype=torch.float64)
    if total is not None:
        each = (total / finite.sum(1).clamp(min=1)).cpu().double()
    weight = each.numpy()[row.cpu().numpy()]
    return row.cpu().numpy(), entity[row, column].cpu().numpy(), weight
