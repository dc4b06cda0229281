"""How many answers of a query are missing from the graph, by relation and known answers."""

from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from kgflow.data import QueryIndex
from kgflow.evaluation.metrics import Floats
from kgflow.evaluation.scoring import Ids

GROUPS = 9
"""Groups of queries by their number of known answers: 0, 1, 2, 3-4, 5-8, …, more than 64."""
FUNCTIONAL = 1.5
"""Mean number of answers per query below which a relation counts as functional."""

Rate = Annotated[float, Field(gt=0)]


def group_of(count: Ids) -> Ids:
    """Return the group of queries with these numbers of known answers.

    Example:
        >>> group_of(np.array([0, 1, 2, 3, 4, 5, 64, 65, 10_000])).tolist()
        [0, 1, 2, 3, 3, 4, 7, 8, 8]
    """
    doublings = np.ceil(np.log2(np.maximum(count, 1))).astype(np.int64)
    return np.where(count == 0, 0, np.minimum(1 + doublings, GROUPS - 1))


class MissingAnswers(BaseModel):
    r"""Expected number λ of missing answers of a query (h, r, ?) with n known answers.

    .. math:: \lambda = \rho_{r, g(n)} \max(1, n), \qquad
        \rho_{r, g} = \frac{k_{r, g} + \alpha}{x_{r, g} + \alpha / \mu}

    where k is the number of removed answers of queries of relation r in group g, and x the number
    of their known ones (for n = 0, of queries). A graph that lacks every tenth fact has ρ = 1/9
    for relations with many answers, and almost 0 for functional ones that have their answer. The
    gamma prior with mean μ and shape α is that of all functional, or of all other relations in
    the group, by maximum likelihood (empirical Bayes; Robbins, 1956): relations with few facts
    get the mean of their like.

    Args:
        rates: ρ by relation and group, ``(2R, G)``; inverse relations have ids from R on.
        facts: Number of removed facts of each relation, ``(R,)``.
        answers: Mean number of known answers per query of relations, ``(2R,)``.

    Example:
        >>> from kgflow.data import Dataset, QueryIndex, Triples
        >>> known = Triples.of([(i, 0, 100 + i) for i in range(60)])
        >>> removed = Triples.of([(i, 0, 100 + i) for i in range(60, 80)])
        >>> capital = MissingAnswers.fit(*(QueryIndex.build(x, 200, 1) for x in (known, removed)))
        >>> capital.expected(np.array([0, 0]), np.array([0, 1])).round(2).tolist()
        [0.14, 0.0]
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    rates: tuple[tuple[Rate, ...], ...]
    facts: tuple[Annotated[int, Field(ge=0)], ...]
    answers: tuple[float, ...]

    @classmethod
    def fit(cls, known: QueryIndex, removed: QueryIndex) -> "MissingAnswers":
        """Estimate rates from the queries of known and of removed triples."""
        R = known.relations
        count, exposure = np.zeros((R, GROUPS)), np.zeros((R, GROUPS))
        at = known.find(removed.h, removed.r)
        group = np.where(at < 0, 0, group_of(known.counts)[at] if len(known) else 0)
        np.add.at(count, (removed.r, group), removed.counts)
        np.add.at(exposure, (known.r, group_of(known.counts)), known.counts)
        queries = np.bincount(known.r, minlength=R)
        exposure[:, 0] = np.maximum(known.entities - queries, 1)
        answers = np.bincount(known.r, known.counts, R) / np.maximum(queries, 1)
        functional = answers < FUNCTIONAL
        overall = (count[:, 1:].sum() + 0.5) / (exposure[:, 1:].sum() + 1)
        rates = np.empty((R, GROUPS))
        for kind in (functional, ~functional):
            for g in range(GROUPS):
                rates[kind, g] = _shrink(count[kind, g], exposure[kind, g], overall, g == 0)
        facts = np.bincount(removed.r, removed.counts, R)[: R // 2].astype(np.int64)
        return cls(
            rates=tuple(tuple(row) for row in rates.tolist()),
            facts=tuple(facts.tolist()),
            answers=tuple(answers.tolist()),
        )

    @property
    def swapped(self) -> NDArray[np.bool_]:
        """Whether (?, r, t) has fewer answers than (h, r, ?), ``(R,)``."""
        forward, inverse = np.split(np.array(self.answers), 2)
        return np.asarray(inverse < forward)

    def expected(self, r: Ids, count: Ids) -> Floats:
        """Return λ of queries of relations ``(N,)`` with `count` known answers: ``(N,)``."""
        rates = np.array(self.rates)
        return np.asarray(rates[r, group_of(count)] * np.maximum(count, 1), dtype=np.float64)


def _shrink(count: Floats, exposure: Floats, overall: float, unanswered: bool) -> Floats:
    """Return posterior means of Poisson rates; without any exposure, the rate of all groups.

    The prior of their mean is around the pooled rate with one fact at the rate of all groups, which
    is not comparable with that of queries without known answers.
    """
    from scipy.special import gammaln

    from kgflow.uncertainty.calibrators import minimize_bounded

    if not exposure.sum():
        return np.full(len(count), overall)
    seen = exposure > 0
    k, x = count[seen], exposure[seen]
    pooled = (k.sum() + 0.5) / (x.sum() + 1)
    centre = np.log(pooled if unanswered else (k.sum() + 1) / (x.sum() + 1 / overall))
    start = np.array([centre, 0.0])

    def loss(w: Floats) -> tuple[float, Floats]:
        def value(w: Floats) -> float:
            mean, shape = np.exp(np.clip(w, -30, 10))
            rate = shape / mean
            likelihood = gammaln(k + shape) - gammaln(shape) + shape * np.log(rate / (rate + x))
            # Few facts cannot move the mean far; the shape stays finite where all rates are equal.
            prior = 0.05 * w[1] ** 2 + (w[0] - centre) ** 2 / 2
            return float(prior - likelihood.sum() - (k * np.log(x / (rate + x))).sum())

        step = np.eye(2) * 1e-5
        return value(w), np.array([(value(w + s) - value(w - s)) / 2e-5 for s in step])

    mean, shape = np.exp(np.clip(minimize_bounded(loss, start, np.full(2, -np.inf)), -30, 10))
    return np.asarray((count + shape) / (exposure + shape / mean), dtype=np.float64)
