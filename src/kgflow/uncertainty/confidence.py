"""Evaluation of predicted confidences of triples: errors and nDCG."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from kgflow.data import Dataset, QueryIndex, Triples
from kgflow.errors import KgflowError
from kgflow.evaluation import Progress, Ranking, Scorer, no_progress, rank
from kgflow.evaluation.metrics import Floats
from kgflow.evaluation.scoring import MEMORY, Ids
from kgflow.kernels import count_higher_scores
from kgflow.models import Model
from kgflow.uncertainty.confidence_intervals import ConfidenceRegression

HIGH = 0.7
"""Smallest confidence of the triples whose ranking is reported by itself, as in unKR."""


class Errors(NamedTuple):
    """Mean squared and mean absolute error of predicted confidences."""

    mse: float
    mae: float


class AnswerRanks(NamedTuple):
    """Ranks of the known answers of queries, ``(P,)`` each: query, gain, first and last rank.

    Tied answers share the ranks from first to last, counted from 1.
    """

    row: Ids
    gain: Floats
    first: Ids
    last: Ids


class TailRanking(NamedTuple):
    """Filtered ranking of the tails of triples, ties realistic."""

    facts: int
    mrr: float
    hits1: float
    hits10: float

    def to_dict(self) -> dict[str, float] | None:
        """Return the metrics by their usual names; None without triples."""
        found = {k.replace("hits", "hits@"): v for k, v in self._asdict().items()}
        return found if self.facts else None


class ConfidenceMetrics(NamedTuple):
    """Errors of predicted confidences, and the ranking of answers.

    Attributes:
        facts: Number of triples.
        queries: Number of queries (h, r, ?).
        direct: Errors of σ(margin + score).
        mapped: Errors of isotonic regression on the scores of validation triples; None for the
            validation split itself or where it has no confidences.
        constant: Errors of the mean confidence of validation triples; None likewise.
        fitted: Errors of `ConfidenceRegression`; None without one.
        linear: Mean nDCG over queries with the confidences as gains.
        exponential: Mean nDCG with gains 2^confidence - 1.
        tails: Ranking of all triples of the split as (h, r, ?).
        high: Ranking of those with a confidence of `HIGH` or more.
    """

    facts: int
    queries: int
    direct: Errors
    mapped: Errors | None
    constant: Errors | None
    fitted: Errors | None
    linear: float
    exponential: float
    tails: TailRanking
    high: TailRanking

    def to_dict(self) -> dict[str, Any]:
        """Return the metrics as a dictionary."""
        found: dict[str, Any] = {"facts": self.facts, "queries": self.queries}
        for name in ("direct", "mapped", "fitted", "constant"):
            errors: Errors | None = getattr(self, name)
            found[name] = None if errors is None else errors._asdict()
        found["ndcg"] = {"linear": self.linear, "exponential": self.exponential}
        return found | {"tails": self.tails.to_dict(), "high": self.high.to_dict()}


def evaluate_confidence(
    model: Model,
    data: Dataset,
    margin: float,
    split: str = "test",
    regression: ConfidenceRegression | None = None,
    progress: Progress = no_progress,
) -> ConfidenceMetrics:
    """Evaluate confidences: errors on the triples of a split, ranking of its queries (h, r, ?).

    The gains of a query are the confidences of all its known answers, of any split; they are ranked
    among all entities, without a filter (Chen et al., Embedding Uncertain Knowledge Graphs, 2019,
    who use a sample of the queries; here all are used). Filtered ranks are of tails only, as in
    unKR. `margin` is that of the loss, and `regression` is fitted to validation triples.
    """
    facts = data.split(split)
    if facts.weight is None or not len(facts):
        raise KgflowError(
            f"{data.name} has no {split} facts with confidences: add a fourth column to the triples"
        )
    scorer = Scorer(model, data.known)
    score, true = _scores(scorer, facts), facts.weight.astype(np.float64)
    mapped = constant = None
    if data.valid.weight is not None and len(data.valid) and split != "valid":
        known = data.valid.weight.astype(np.float64)
        mapped = errors(fit_confidence(_scores(scorer, data.valid), known)(score), true)
        constant = errors(np.full(len(true), known.mean()), true)
    fitted = None if regression is None else errors(regression(*_ids(facts)), true)
    direct = errors(torch.sigmoid(torch.from_numpy(score + margin)).numpy(), true)
    queries = QueryIndex.build(
        facts, len(data.entities), len(data.relations), inverse_relations=False
    )
    ranks = rank_known_answers(model, queries, data.known, progress=progress)
    tails, (_, _, w) = rank(model, queries, data.known), queries.gather(np.arange(len(queries)))
    assert w is not None
    linear = ndcg(ranks).mean()
    exponential = ndcg(ranks._replace(gain=2**ranks.gain - 1)).mean()
    all_errors, gains = (direct, mapped, constant, fitted), (float(linear), float(exponential))
    ranked = _tail_ranking(tails), _tail_ranking(tails.take(w >= np.float32(HIGH)))
    return ConfidenceMetrics(len(facts), len(queries), *all_errors, *gains, *ranked)


def errors(predicted: Floats, true: Floats) -> Errors:
    """Compute the errors of N predictions.

    Example:
        >>> errors(np.array([0.5, 1.0]), np.array([1.0, 1.0]))
        Errors(mse=0.125, mae=0.25)
    """
    gap = predicted - true
    return Errors(float((gap**2).mean()), float(np.abs(gap).mean()))


def fit_confidence(score: Floats, confidence: Floats) -> Callable[[Floats], Floats]:
    """Fit isotonic regression of confidences ``(N,)`` on scores ``(N,)`` of held-out triples.

    Example:
        >>> f = fit_confidence(np.array([0.0, 1.0, 2.0]), np.array([0.1, 0.5, 0.3]))
        >>> f(np.array([-1.0, 0.0, 1.0, 9.0])).round(6).tolist()
        [0.1, 0.1, 0.4, 0.4]
    """
    from sklearn.isotonic import IsotonicRegression

    fitted = IsotonicRegression(out_of_bounds="clip").fit(score, confidence)
    return fitted.predict


def rank_known_answers(
    model: Model,
    queries: QueryIndex,
    known: QueryIndex,
    memory: int = MEMORY,
    progress: Progress = no_progress,
) -> AnswerRanks:
    """Rank all known answers of queries among all entities, without a filter.

    The confidences of the known answers are the gains; `memory` scores are held at a time.
    """
    scorer = Scorer(model, known, memory)
    parts = [_ranks(scorer, queries, rows, S) for rows, S in scorer.batches(queries, progress)]
    return AnswerRanks(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def ndcg(ranks: AnswerRanks) -> Floats:
    r"""Compute the normalised discounted cumulative gain of each query.

    .. math:: \frac{\sum_j g_j / \log_2(1 + \mathrm{rank}_j)}
                   {\sum_j g_{(j)} / \log_2(1 + j)}, \qquad g_{(1)} \ge g_{(2)} \ge \dots

    Tied answers share the mean discount of their ranks (Järvelin and Kekäläinen, Cumulated
    gain-based evaluation of IR techniques, 2002).

    Example:
        >>> two = np.array([0, 0])
        >>> first = last = np.array([2, 1])
        >>> ndcg(AnswerRanks(two, np.array([1.0, 0.5]), first, last)).round(3)
        array([0.86])
    """
    row, gain, first, last = ranks
    discount = 1 / np.log2(np.arange(2, last.max(initial=0) + 2))
    sums = np.concatenate(([0.0], np.cumsum(discount)))
    mean = (sums[last] - sums[first - 1]) / (last - first + 1)
    order = np.lexsort((-gain, row))
    starts = np.searchsorted(row[order], row[order])
    best = gain[order] * discount[np.arange(len(row)) - starts]
    return np.bincount(row, gain * mean) / np.bincount(row[order], best)


def _ids(facts: Triples) -> tuple[Ids, Ids, Ids]:
    return facts.h, facts.r, facts.t


def _tail_ranking(ranking: Ranking) -> TailRanking:
    found = ranking.metrics()["realistic"]
    return TailRanking(len(ranking), found.mrr, found.hits1, found.hits10)


def _scores(scorer: Scorer, facts: Triples) -> Floats:
    return scorer.score_triples(facts.h, facts.r, facts.t).double().numpy()


def _ranks(scorer: Scorer, queries: QueryIndex, rows: Ids, S: Tensor) -> AnswerRanks:
    known = scorer.known
    row, tail, weight = known.gather(known.find(queries.h[rows], queries.r[rows]))
    query = scorer.tensor(row)
    better, no_worse = count_higher_scores(S, query, S[query, scorer.tensor(tail)])
    gain = np.ones(len(row)) if weight is None else weight.astype(np.float64)
    return AnswerRanks(rows[row], gain, better.cpu().numpy() + 1, no_worse.cpu().numpy())
