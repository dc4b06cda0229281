"""How well a model knows the confidence of facts."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kgflow.data import Dataset, QueryIndex, Triples
from kgflow.errors import KgflowError
from kgflow.evaluation.metrics import Floats
from kgflow.evaluation.ranking import MEMORY, all_scores
from kgflow.kernels import count_higher_scores, require_finite
from kgflow.models import Model

AT_ONCE = 2**14
"""Facts scored at a time."""

Ids = NDArray[np.int64]


class Errors(NamedTuple):
    """How far predicted confidences are from true ones: the mean of squares, of absolute values."""

    mse: float
    mae: float


class Placed(NamedTuple):
    """The known answers of some queries, ``(P,)`` each: query, gain, first and last place.

    Answers that share a score share the places from first to last, counted from 1.
    """

    row: Ids
    gain: Floats
    first: Ids
    last: Ids


class ConfidenceMetrics(NamedTuple):
    """Errors of predicted confidences, and how well the order of answers follows them.

    facts: how many were predicted. direct: by σ(margin + score). mapped: by the monotone map of
    scores that fits the validation facts best. constant: by their mean, which knows nothing of a
    fact; both are None without validation facts, and of validation facts themselves. linear,
    exponential: the mean nDCG over queries.
    """

    facts: int
    queries: int
    direct: Errors
    mapped: Errors | None
    constant: Errors | None
    linear: float
    exponential: float

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        found: dict[str, Any] = {"facts": self.facts, "queries": self.queries}
        for name in ("direct", "mapped", "constant"):
            errors: Errors | None = getattr(self, name)
            found[name] = None if errors is None else errors._asdict()
        return found | {"ndcg": {"linear": self.linear, "exponential": self.exponential}}


def evaluate_confidence(
    model: Model,
    data: Dataset,
    margin: float,
    split: str = "test",
    progress: Callable[[float], None] = lambda share: None,
) -> ConfidenceMetrics:
    """Errors on the facts of a split, and nDCG over its queries (h, r, ?).

    A query's gains are the confidences of all its known facts, of any split; they are ranked among
    all entities, nothing filtered out (Chen et al., Embedding Uncertain Knowledge Graphs, 2019, who
    report it over a sample of the queries; this is over all of them).

    Args:
        model: what scores.
        data: the facts with their confidences.
        margin: the margin of the loss.
        split: whose facts and queries.
        progress: called with the share of the work that is done.
    """
    facts = data.split(split)
    if facts.weight is None or not len(facts):
        raise KgflowError(
            f"{data.name} has no {split} facts with confidences: give them in a fourth column"
        )
    score, true = _scores(model, facts), facts.weight.astype(np.float64)
    mapped = constant = None
    if data.valid.weight is not None and len(data.valid) and split != "valid":
        known = data.valid.weight.astype(np.float64)
        mapped = errors(confidence_map(_scores(model, data.valid), known)(score), true)
        constant = errors(np.full(len(true), known.mean()), true)
    direct = errors(torch.sigmoid(torch.from_numpy(score + margin)).numpy(), true)
    questions = QueryIndex.build(
        facts, len(data.entities), len(data.relations), inverse_relations=False
    )
    placed = place(model, questions, data.queries(), progress=progress)
    linear = ndcg(placed).mean()
    exponential = ndcg(placed._replace(gain=2**placed.gain - 1)).mean()
    sizes = len(facts), len(questions)
    return ConfidenceMetrics(*sizes, direct, mapped, constant, float(linear), float(exponential))


def errors(predicted: Floats, true: Floats) -> Errors:
    """The errors of N predictions.

    Example:
        >>> errors(np.array([0.5, 1.0]), np.array([1.0, 1.0]))
        Errors(mse=0.125, mae=0.25)
    """
    gap = predicted - true
    return Errors(float((gap**2).mean()), float(np.abs(gap).mean()))


def confidence_map(score: Floats, confidence: Floats) -> Callable[[Floats], Floats]:
    """The increasing function of scores that is nearest to confidences, in squares.

    Args:
        score: of facts that were not trained on, ``(N,)``.
        confidence: theirs, ``(N,)``.

    Example:
        >>> f = confidence_map(np.array([0.0, 1.0, 2.0]), np.array([0.1, 0.5, 0.3]))
        >>> f(np.array([-1.0, 0.0, 1.0, 9.0])).round(6).tolist()
        [0.1, 0.1, 0.4, 0.4]
    """
    from sklearn.isotonic import IsotonicRegression

    fitted = IsotonicRegression(out_of_bounds="clip").fit(score, confidence)

    def f(score: Floats) -> Floats:
        found: Floats = fitted.predict(score)
        return found

    return f


@torch.no_grad()
def place(
    model: Model,
    questions: QueryIndex,
    known: QueryIndex,
    memory: int = MEMORY,
    progress: Callable[[float], None] = lambda share: None,
) -> Placed:
    """The places of all known answers of some queries among all entities.

    Args:
        model: what scores.
        questions: which (h, r).
        known: their answers, whose confidences are the gains.
        memory: scores held at a time.
        progress: called with the share of the work that is done.
    """
    parts = [
        _place_rows(S, questions, known, rows)
        for rows, S in all_scores(model, questions, memory, progress)
    ]
    return Placed(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def ndcg(placed: Placed) -> Floats:
    r"""The normalised discounted cumulative gain of each query.

    .. math:: \frac{\sum_j g_j / \log_2(1 + \mathrm{place}_j)}
                   {\sum_j g_{(j)} / \log_2(1 + j)}, \qquad g_{(1)} \ge g_{(2)} \ge \dots

    Tied answers share the mean of their places' discounts (Järvelin and Kekäläinen, Cumulated
    gain-based evaluation of IR techniques, 2002).

    Example:
        >>> two = np.array([0, 0])
        >>> ndcg(Placed(two, np.array([1.0, 0.5]), np.array([2, 1]), np.array([2, 1]))).round(3)
        array([0.86])
    """
    row, gain, first, last = placed
    discount = 1 / np.log2(np.arange(2, last.max(initial=0) + 2))
    sums = np.concatenate(([0.0], np.cumsum(discount)))
    mean = (sums[last] - sums[first - 1]) / (last - first + 1)
    order = np.lexsort((-gain, row))
    starts = np.searchsorted(row[order], row[order])
    best = gain[order] * discount[np.arange(len(row)) - starts]
    found: Floats = np.bincount(row, gain * mean) / np.bincount(row[order], best)
    return found


@torch.no_grad()
def _scores(model: Model, facts: Triples) -> Floats:
    """The scores of facts, asked for their tails: (N,)."""
    model.eval()
    device, parts = model.entity.weight.device, []
    for low in range(0, len(facts), AT_ONCE):
        part = facts.take(slice(low, low + AT_ONCE))
        ids = (torch.from_numpy(x).to(device) for x in (part.h, part.r, part.t))
        score = model.score(*ids)
        require_finite(score)
        parts.append(score.double().cpu().numpy())
    return np.concatenate(parts)


def _place_rows(S: Tensor, questions: QueryIndex, known: QueryIndex, rows: Ids) -> Placed:
    device, h, r = S.device, questions.h[rows], questions.r[rows]
    row, tail, weight = known.gather(known.find(h, r))
    asked = torch.from_numpy(row).to(device)
    better, no_worse = count_higher_scores(S, asked, S[asked, torch.from_numpy(tail).to(device)])
    gain = np.ones(len(row)) if weight is None else weight.astype(np.float64)
    return Placed(rows[row], gain, better.cpu().numpy() + 1, no_worse.cpu().numpy())
