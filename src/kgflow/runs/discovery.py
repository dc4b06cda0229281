"""The best missing facts of a whole graph."""

import heapq
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from kgflow.errors import KgflowError
from kgflow.runs.predictor import CHUNK, Predictor, frame
from kgflow.uncertainty import Existence

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
"""Probability, score, head, relation, tail."""

WIDER = 4
"""By how much more candidates are looked at where the first ones do not settle it."""


@torch.no_grad()
def discover(predictor: Predictor, k: int, relation: str | None = None) -> "pl.DataFrame":
    """The k most likely facts that the graph does not hold.

    A fact (h, r, t) is an answer to (h, r, ?) and to (?, r, t). By each it is true with the chance
    that the question has a missing answer (see `Existence`), times the probability of being it; the
    lesser of the two counts: a country that has its capital wants no second one. Every head is
    asked for all tails of every relation; only the k most probable so far are kept, and of equals
    those of the better score. Of names that training never saw a model knows nothing: they are left
    out, as are facts (h, r, h) where training has none such of r.

    Args:
        predictor: model and names.
        k: how many facts.
        relation: of this relation only.
    """
    if k < 1:
        raise KgflowError(f"k is {k}: ask for 1 fact or more")
    predictor.model.eval()
    heads, best = np.flatnonzero(predictor.trained_entities), list[Fact]()
    size, existence = chunk(len(predictor.data.entities)), Existence(predictor.data)
    for r in _relations(predictor, relation):
        has = existence.has(heads, np.full_like(heads, r))
        # Within each group probabilities ascend with scores, so that few candidates settle it.
        for group in (heads[has == 0], heads[has == 1]):
            for low in range(0, len(group), size):
                best = _better(predictor, existence, group[low : low + size], r, k, best)
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


def _better(
    predictor: Predictor,
    existence: Existence,
    h: NDArray[np.int64],
    r: int,
    k: int,
    best: list[Fact],
) -> list[Fact]:
    """The best k facts so far, with those of some heads and a relation among them.

    Candidates come in the order of one side's probability. That bounds the lesser of both, so when
    it falls below the k-th best there is, no later one can be better.
    """
    S, size = _scores(predictor, h, r), k
    while True:
        top = S.flatten().topk(min(size, S.numel()))
        real = int((top.values > -torch.inf).sum())
        score, place = (x[:real].cpu().numpy() for x in (top.values.double(), top.indices))
        heads, tails = h[place // S.shape[1]], place % S.shape[1]
        forth = _chance(predictor, existence, heads, r, score)
        back = predictor.score(tails, np.full(real, r + predictor.relations), heads).double()
        lesser = np.minimum(
            forth, _chance(predictor, existence, tails, r + predictor.relations, back.numpy())
        )
        columns = (x.tolist() for x in (lesser, score, heads, np.full(real, r), tails))
        found = heapq.nlargest(k, [*best, *zip(*columns, strict=True)])
        if real < size or (len(found) == k and forth[-1] < found[-1][0]):
            return found
        size *= WIDER


def _chance(
    predictor: Predictor,
    existence: Existence,
    h: NDArray[np.int64],
    r: int,
    score: NDArray[np.float64],
) -> NDArray[np.float64]:
    """How probable answers to (h, r, ?) are as facts, ``(N,)``."""
    relation = np.full(len(h), r)
    return existence(h, relation) * predictor.probability(score, relation)


def _scores(predictor: Predictor, h: NDArray[np.int64], r: int) -> torch.Tensor:
    """All tails of heads ``(B, E)``, -inf where they are known or were never trained."""
    relation = np.full_like(h, r)
    query = predictor.model.query(predictor.tensor(h), predictor.tensor(relation))
    S = predictor.entities.scores(query.Q, query.a)
    S[predictor.known_tails(h, relation)] = -torch.inf
    S[:, torch.from_numpy(~predictor.trained_entities).to(S.device)] = -torch.inf
    train = predictor.data.train
    if not (train.h == train.t)[train.r == r].any():
        S[torch.arange(len(h), device=S.device), predictor.tensor(h)] = -torch.inf
    return S


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
        "probability": np.array([fact[0] for fact in facts], dtype=np.float64),
        "uncertainty": [predictor.uncertainty(t) for t in tails],
    }
