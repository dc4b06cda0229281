"""The best missing facts of a whole graph."""

import heapq
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from kgflow.errors import KgflowError
from kgflow.prediction import CHUNK, Predictor, frame

if TYPE_CHECKING:
    import polars as pl

SCORES = 2**25
"""Scores held at once, at most."""

COLUMNS: dict[str, type] = {
    "rank": int,
    "head": str,
    "relation": str,
    "tail": str,
    "head_label": str,
    "tail_label": str,
    "score": float,
    "probability": float,
    "uncertainty": float,
}
"""What is said of a fact."""

Fact = tuple[float, float, int, int, int]
"""Log-odds of truth, score, head, relation, tail."""


@torch.no_grad()
def discover(predictor: Predictor, k: int, relation: str | None = None) -> "pl.DataFrame":
    """The k most likely facts that the graph does not hold.

    Every head is asked for all tails of every relation; only the k most probable so far are kept,
    and of equals those of the better score. Of names that training never saw a model knows nothing:
    they are left out.

    Args:
        predictor: model and names.
        k: how many facts.
        relation: of this relation only.
    """
    if k < 1:
        raise KgflowError(f"k is {k}: ask for 1 fact or more")
    predictor.model.eval()
    heads, best = np.flatnonzero(predictor.trained_entities), list[Fact]()
    size = chunk(len(predictor.data.entities))
    for r in _relations(predictor, relation):
        for low in range(0, len(heads), size):
            found = _best_of(predictor, heads[low : low + size], r, k)
            best = heapq.nlargest(k, [*best, *found])
    return frame(_columns(predictor, best), COLUMNS)


def chunk(entities: int) -> int:
    """How many heads to ask at once.

    Example:
        >>> chunk(1_000), chunk(2**20), chunk(2**30)
        (256, 32, 1)
    """
    return max(1, min(CHUNK, SCORES // max(entities, 1)))


def _relations(predictor: Predictor, relation: str | None) -> list[int]:
    names, trained = predictor.data.relations, predictor.trained_relations
    wanted = range(len(names)) if relation is None else [names.id(relation)]
    return [r for r in wanted if trained[r]]


def _best_of(predictor: Predictor, h: NDArray[np.int64], r: int, k: int) -> list[Fact]:
    model, relation = predictor.model, np.full_like(h, r)
    query = model.query(predictor.tensor(h), predictor.tensor(relation))
    S = predictor.entities.scores(query.Q, query.a)
    S[predictor.known_tails(h, relation)] = -torch.inf
    S[:, torch.from_numpy(~predictor.trained_entities).to(S.device)] = -torch.inf
    score, place = S.flatten().topk(min(k, S.numel()))
    row, tail = (x.tolist() for x in (place // S.shape[1], place % S.shape[1]))
    real = int((score > -torch.inf).sum())
    odds = predictor.calibration.log_odds(score.double().cpu().numpy(), np.full(len(row), r))
    found = zip(odds.tolist(), score.tolist(), h[row].tolist(), [r] * len(row), tail, strict=True)
    return list(found)[:real]


def _columns(predictor: Predictor, facts: list[Fact]) -> dict[str, object]:
    score = np.array([fact[1] for fact in facts], dtype=np.float64)
    triples = np.array([fact[2:] for fact in facts], dtype=np.int64).reshape(-1, 3)
    heads, _, tails = triples.T.tolist()
    return {
        "rank": np.arange(1, len(facts) + 1),
        **predictor.names(triples),
        "head_label": [predictor.data.label(h) for h in heads],
        "tail_label": [predictor.data.label(t) for t in tails],
        "score": score,
        "probability": predictor.probability(score, triples[:, 1]),
        "uncertainty": [predictor.uncertainty(t) for t in tails],
    }
