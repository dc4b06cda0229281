"""The best missing facts of a whole graph."""

import heapq
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from kgflow.engine import scores
from kgflow.errors import KgflowError
from kgflow.prediction import CHUNK, Predictor, frame

if TYPE_CHECKING:
    import polars as pl

Fact = tuple[float, int, int, int]
"""Score, head, relation, tail."""


@torch.no_grad()
def discover(predictor: Predictor, k: int, relation: str | None = None) -> "pl.DataFrame":
    """The k most likely facts that the graph does not hold.

    Every head is asked for all tails of every relation; only the k best so far are kept.

    Args:
        predictor: model and names.
        k: how many facts.
        relation: of this relation only.
    """
    if k < 1:
        raise KgflowError(f"k is {k}: ask for 1 fact or more")
    predictor.model.eval()
    names = predictor.data.relations
    heads, best = np.arange(len(predictor.data.entities)), list[Fact]()
    for r in [names.id(relation)] if relation else range(len(names)):
        for low in range(0, len(heads), CHUNK):
            found = _best_of(predictor, heads[low : low + CHUNK], r, k)
            best = heapq.nlargest(k, [*best, *found])
    return frame([_row(predictor, place, fact) for place, fact in enumerate(best, start=1)])


def _best_of(predictor: Predictor, h: NDArray[np.int64], r: int, k: int) -> list[Fact]:
    model, relation = predictor.model, np.full_like(h, r)
    query = model.query(predictor.tensor(h), predictor.tensor(relation))
    S = scores(query.Q, query.a, model.entity.weight, model.lower_keys)
    S[predictor.known_tails(h, relation)] = -torch.inf
    score, place = S.flatten().topk(min(k, S.numel()))
    row, tail = (x.tolist() for x in (place // S.shape[1], place % S.shape[1]))
    found = zip(score.tolist(), h[row].tolist(), [r] * len(row), tail, strict=True)
    return [fact for fact in found if fact[0] > -np.inf]


def _row(predictor: Predictor, place: int, fact: Fact) -> dict[str, object]:
    score, h, r, t = fact
    entities, entropy = predictor.data.entities, predictor.entropy["entity"]
    row = {"rank": place, "head": entities[h], "relation": predictor.data.relations[r]}
    row |= {"tail": entities[t], "score": score, "probability": predictor.probability(score)}
    return row | {"uncertainty": None if entropy is None else float(entropy[t])}
