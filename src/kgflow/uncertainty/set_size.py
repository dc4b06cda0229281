"""Choice of a nonconformity score by the mean size of its prediction sets."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from kgflow.data import Triples
from kgflow.evaluation import Progress, Scorer, no_progress
from kgflow.evaluation.metrics import Floats
from kgflow.evaluation.scoring import Ids
from kgflow.uncertainty.conformal import Conformal, min_answers
from kgflow.uncertainty.nonconformity import (
    NONCONFORMITY,
    FitData,
    NonconformityScore,
    answer_values,
    nonconformity_class,
    scores_of,
)

FACTS = 500
"""Largest number of triples on which sizes are compared."""
SHARE = 1 / 3
"""Share of the triples on which sizes are compared; scores are fitted to the others."""
MIN_FACTS = 20
"""Smallest number of triples to choose by; with fewer, the first name is taken."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Fitted nonconformity scores, compared on triples that fit neither them nor a threshold.

    Args:
        scores: Nonconformity scores by name.
        sizes: Mean sizes of their sets by name; empty if there were too few triples.
        r: Relations of the answers, ``(n,)``.
        values: V of the answers by name, ``(n,)`` each.
    """

    scores: dict[str, NonconformityScore]
    sizes: dict[str, float]
    r: Ids
    values: dict[str, Floats]

    @property
    def smallest(self) -> str:
        """Name of the score with the smallest sets."""
        return min(self.scores, key=lambda name: self.sizes.get(name, 0.0))


def compare_sizes(
    data: FitData,
    coverage: float,
    names: Sequence[str] = (),
    progress: Progress = no_progress,
) -> Comparison:
    """Fit nonconformity scores, and compare the mean sizes of their sets on other triples.

    The thresholds here are order statistics of the same triples. They are not used for prediction
    sets, whose thresholds come from a further part of validation, so that the choice leaves their
    coverage as promised. Without names, all registered scores are compared.
    """
    fitting, comparing = _split(data.facts, data.seed)
    wanted = list(names or NONCONFORMITY)
    scores = {name: nonconformity_class(name).fit(replace(data, facts=fitting)) for name in wanted}
    if len(data.facts) < MIN_FACTS:
        return Comparison(scores, {}, np.empty(0, int), {})
    queries = data.data.index(comparing)
    scorer, generator = (
        Scorer(data.model, data.data.known),
        torch.Generator().manual_seed(data.seed),
    )
    drawn = torch.rand(int(queries.counts.sum()), generator=generator, dtype=torch.float64)
    r, done, values = [], 0, {name: list[Floats]() for name in scores}
    for found in scorer.answers(queries, lambda share: progress(share / 2)):
        u, done = drawn[done : done + len(found.t)].to(found.S.device), done + len(found.t)
        r.append(found.r)
        for name, score in scores.items():
            values[name].append(answer_values(score, found, u).cpu().numpy())
    joined = {name: np.concatenate(parts) for name, parts in values.items()}
    limits = {name: _limit(value, coverage) for name, value in joined.items()}
    total, done = dict.fromkeys(scores, 0.0), 0
    for found in scorer.answers(queries, lambda share: progress((1 + share) / 2)):
        u, done = drawn[done : done + len(found.t)].to(found.S.device), done + len(found.t)
        for name, score in scores.items():
            S = scores_of(score, found.h, found.r, found.S)
            limit = torch.full((len(S),), limits[name], dtype=torch.float64, device=S.device)
            total[name] += float(score.sizes(S, limit, u).sum())
    sizes = {name: found / len(drawn) for name, found in total.items()}
    return Comparison(scores, sizes, np.concatenate(r), joined)


def _split(facts: Triples, seed: int) -> tuple[Triples, Triples]:
    size = min(FACTS, int(SHARE * len(facts)))
    order = np.random.default_rng(seed).permutation(len(facts))
    return facts.take(order[size:]), facts.take(order[:size])


def _limit(value: Floats, coverage: float) -> float:
    k = int(np.ceil(coverage * (len(value) + 1)))
    return float(np.sort(value)[k - 1]) if k <= len(value) else np.inf


def relation_clusters(
    compared: Comparison, conformal: Conformal, coverage: float
) -> dict[int, int]:
    """Group the relations that have too few held-out answers for a threshold of their own.

    Relations are ordered by the quantile of V on the triples of the comparison, and cut into
    clusters of enough held-out answers: relations of a cluster need similar thresholds (Ding et
    al.: Class-conditional conformal prediction with many classes, 2023, by one quantile).

    Returns:
        Clusters by relation id, numbered from -2 downwards; relations without a quantile lack one.
    """
    value, wanted = compared.values.get(conformal.nonconformity.name), min_answers(coverage)
    if value is None:
        return {}
    relations, counts = np.unique(conformal.r, return_counts=True)
    small = dict(zip(relations.tolist(), counts.tolist(), strict=True))
    quantile = {
        r: np.quantile(value[compared.r == r], coverage)
        for r in np.unique(compared.r).tolist()
        if small.get(r, 0) < wanted
    }
    found: dict[int, int] = {}
    cluster, held_out = -2, 0
    for r in sorted(quantile, key=lambda r: (quantile[r], r)):
        found[r] = cluster
        held_out += small.get(r, 0)
        if held_out >= wanted:
            cluster, held_out = cluster - 1, 0
    # The last relations were too few for a cluster: they join the one before.
    last = cluster + 1 if cluster < -2 else -1
    return {r: last if c == cluster else c for r, c in found.items()}
