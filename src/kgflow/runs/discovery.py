"""The most probable missing triples of a whole graph."""

import heapq
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from kgflow.errors import KgflowError
from kgflow.evaluation import Progress, no_progress
from kgflow.evaluation.metrics import Floats
from kgflow.kernels import blocks
from kgflow.runs.answers import DISCOVERY_COLUMNS, Ids, frame, id_array, triple_names
from kgflow.runs.predictor import Predictor
from kgflow.uncertainty import MissingAnswerProbability

if TYPE_CHECKING:
    import polars as pl

HEADS = 256
"""Heads scored at a time, at most."""
GROWTH = 4
"""Factor by which the number of candidates grows until the k best are certain."""

Found = tuple[float, float, int, int, int]
"""Probability, score, head, relation, tail."""


def discover(
    predictor: Predictor, k: int, relation: str | None = None, progress: Progress = no_progress
) -> "pl.DataFrame":
    """Find the k most probable triples that are not in the graph.

    A triple (h, r, t) is an answer to (h, r, ?) and to (?, r, t). By either query it is true with
    the probability that the query has a missing answer (see `MissingAnswerProbability`) times the
    calibrated probability of the answer; the smaller of the two counts: a country with a known
    capital needs no second one. All tails of all heads and relations are scored; of equally
    probable triples those with larger scores come first. Entities and relations that do not occur
    in training are left out, as are triples (h, r, h) of relations without such training triples.
    """
    if k < 1:
        raise KgflowError(f"k is {k}: ask for 1 fact or more")
    search, heads = _Discovery(predictor, k), np.flatnonzero(predictor.trained_entities)
    size = predictor.scorer.batch_size(HEADS)
    relations = np.flatnonzero(predictor.trained_relations)
    if relation is not None:
        relations = np.intersect1d(relations, predictor.data.relations.id(relation))
    for done, r in enumerate(relations.tolist(), start=1):
        known = search.missing.has_known_answer(heads, np.full_like(heads, r))
        # Within each group probabilities ascend with scores, so that few candidates are needed.
        for group in (heads[~known], heads[known]):
            for low, high in blocks(len(group), size):
                search.add(group[low:high], r)
        progress(done / len(relations))
    return frame(_columns(predictor, search.best), DISCOVERY_COLUMNS)


class _Discovery:
    """The k most probable triples of the heads and relations added so far."""

    def __init__(self, predictor: Predictor, k: int) -> None:
        self.predictor, self.k, self.best = predictor, k, list[Found]()
        self.missing = MissingAnswerProbability(predictor.data)

    def add(self, h: Ids, r: int) -> None:
        """Consider all tails of heads ``(B,)`` and a relation.

        Candidates are sorted by the probability of one query, which bounds the smaller one of both:
        once it is below the k-th best probability, no later candidate can be better.
        """
        S, size, inverse = self._scores(h, r), self.k, r + self.predictor.relations
        while True:
            top = S.flatten().topk(min(size, S.numel()))
            real = int((top.values > -torch.inf).sum())
            score, index = (x[:real].cpu().numpy() for x in (top.values.double(), top.indices))
            heads, tails = h[index // S.shape[1]], index % S.shape[1]
            forward = self._probability(heads, r, score)
            inverse_score = self.predictor.score(tails, np.full(real, inverse), heads)
            backward = self._probability(tails, inverse, inverse_score.double().numpy())
            smaller = np.minimum(forward, backward)
            columns = (x.tolist() for x in (smaller, score, heads, np.full(real, r), tails))
            best = heapq.nlargest(self.k, [*self.best, *zip(*columns, strict=True)])
            if real < size or (len(best) == self.k and forward[-1] < best[-1][0]):
                self.best = best
                return
            size *= GROWTH

    def _probability(self, h: Ids, r: int, score: Floats) -> Floats:
        """Return the probabilities of answers to (h, r, ?), ``(N,)``."""
        relation = np.full(len(h), r)
        return self.missing(h, relation) * self.predictor.probability(score, relation)

    def _scores(self, h: Ids, r: int) -> Tensor:
        """Score all tails, ``(B, E)``, with -inf for known triples and untrained entities."""
        predictor, train = self.predictor, self.predictor.data.train
        S = predictor.scorer.filtered_scores(h, np.full_like(h, r))
        S[:, torch.from_numpy(~predictor.trained_entities).to(S.device)] = -torch.inf
        if not (train.h == train.t)[train.r == r].any():
            S[torch.arange(len(h), device=S.device), predictor.tensor(h)] = -torch.inf
        return S


def _columns(predictor: Predictor, found: list[Found]) -> dict[str, object]:
    triples = id_array([row[2:] for row in found])
    heads, _, tails = triples.T.tolist()
    return {
        "rank": np.arange(1, len(found) + 1),
        **triple_names(predictor.data, triples),
        "head_label": [predictor.data.label(h) for h in heads],
        "tail_label": [predictor.data.label(t) for t in tails],
        "score": np.array([row[1] for row in found], dtype=np.float64),
        "probability": np.array([row[0] for row in found], dtype=np.float64),
        "certainty": [predictor.certainty(t) for t in tails],
        "uncertainty": [predictor.uncertainty(t) for t in tails],
    }
