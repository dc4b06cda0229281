"""The most probable missing triples of a whole graph."""

import heapq
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from kgflow.data import QueryIndex
from kgflow.errors import KgflowError
from kgflow.evaluation import Progress, no_progress
from kgflow.evaluation.metrics import Floats
from kgflow.kernels import blocks
from kgflow.runs.answers import DISCOVERY_COLUMNS, Ids, frame, id_array, triple_names, trust_word
from kgflow.runs.predictor import Predictor
from kgflow.uncertainty.profiles import profiles_of
from kgflow.uncertainty.truth import known_counts

if TYPE_CHECKING:
    import polars as pl

HEADS = 256
"""Heads scored at a time, at most."""
GROWTH = 4
"""Factor by which the number of candidates grows until the k best are certain."""

Found = tuple[float, float, int, int, int]
"""Log-odds, score, head, relation, tail."""


def discover(
    predictor: Predictor, k: int, relation: str | None = None, progress: Progress = no_progress
) -> "pl.DataFrame":
    """Find the k most probable triples that are not in the graph.

    The probability is that of `Predictor.probability`: a triple (h, r, t) is an answer to (h, r, ?)
    and to (?, r, t), and a country with a known capital needs no second one. All tails of all heads
    and relations are scored; of equally probable triples those with larger scores come first.
    Entities and relations that do not occur in training are left out, as are triples (h, r, h) of
    relations without such training triples.
    """
    if k < 1:
        raise KgflowError(f"k is {k}: ask for 1 fact or more")
    search, heads = _Discovery(predictor, k), np.flatnonzero(predictor.trained_entities)
    size = predictor.scorer.batch_size(HEADS)
    relations = np.flatnonzero(predictor.trained_relations)
    if relation is not None:
        relations = np.intersect1d(relations, predictor.data.relations.id(relation))
    for done, r in enumerate(relations.tolist(), start=1):
        for low, high in blocks(len(heads), size):
            search.add(heads[low:high], r)
        progress(done / len(relations))
    return frame(_columns(predictor, search.best), DISCOVERY_COLUMNS)


class _Discovery:
    """The k most probable triples of the heads and relations added so far."""

    def __init__(self, predictor: Predictor, k: int) -> None:
        self.predictor, self.k, self.best = predictor, k, list[Found]()

    def add(self, h: Ids, r: int) -> None:
        """Consider all tails of heads ``(B,)`` and a relation.

        The probability increases with the scores of both queries. Triples are looked at in the
        order of either, until one with the last score of both would be less probable than the k
        best (Fagin, Lotem, Naor: Optimal aggregation algorithms for middleware, 2003).
        """
        S, size = self._scores(h, r), self.k
        while True:
            tops = [own.topk(min(size, len(own))) for own in S]
            index = torch.cat([top.indices for top in tops]).unique()
            index = index[S[0][index] > -torch.inf]
            scores = S[:, index].T.double().cpu().numpy()
            place = index.cpu().numpy()
            heads, tails = h[place // self._width], place % self._width
            odds, bound = self._log_odds(scores, heads, r, tails), -np.inf
            columns = (
                x.tolist() for x in (odds, scores[:, 0], heads, np.full_like(heads, r), tails)
            )
            best = heapq.nlargest(self.k, [*self.best, *zip(*columns, strict=True)])
            last = np.array([[float(top.values[-1]) for top in tops]])
            if size < S.shape[1] and np.isfinite(last).all():
                bound = self._bound(last, h, r)
            if bound == -np.inf or (len(best) == self.k and bound < best[-1][0]):
                self.best = best
                return
            size *= GROWTH

    @property
    def _width(self) -> int:
        return len(self.predictor.data.entities)

    def _log_odds(self, scores: Floats, h: Ids, r: int, t: Ids) -> Floats:
        calibration, known = self.predictor.calibration, self.predictor.known
        evidence = calibration.evidence_of(scores, known, h, np.full_like(h, r), t)
        return calibration.truth_log_odds(evidence)

    def _bound(self, last: Floats, h: Ids, r: int) -> float:
        """Return the log-odds of the most probable triple with these scores of both queries."""
        known, R, E = self.predictor.known, self.predictor.relations, np.arange(self._width)
        heads, tails = (_representatives(known, ids, r) for ids, r in ((h, r), (E, r + R)))
        h, t = np.repeat(heads, len(tails)), np.tile(tails, len(heads))
        return float(self._log_odds(np.repeat(last, len(h), axis=0), h, r, t).max())

    def _scores(self, h: Ids, r: int) -> Tensor:
        """Score all tails by both queries, ``(2, B E)``, -inf for known and untrained ones."""
        predictor, train = self.predictor, self.predictor.data.train
        S = predictor.scorer.filtered_scores(h, np.full_like(h, r))
        S[:, torch.from_numpy(~predictor.trained_entities).to(S.device)] = -torch.inf
        if not (train.h == train.t)[train.r == r].any():
            S[torch.arange(len(h), device=S.device), predictor.tensor(h)] = -torch.inf
        tails = np.arange(self._width)
        inverse = np.full_like(tails, r + predictor.relations)
        backward = predictor.scorer.scores_among(tails, inverse, h).T
        backward = torch.where(torch.isfinite(S), backward, -torch.inf)
        return torch.stack([S.flatten(), backward.flatten()])


def _representatives(known: QueryIndex, ids: Ids, r: int) -> Ids:
    """Return for each number of known answers the entity that should have most."""
    relation = np.full_like(ids, r)
    count = known_counts(known, ids, relation)
    order = np.lexsort((-profiles_of(known).log(ids, relation), count))
    return ids[order][np.unique(count[order], return_index=True)[1]]


def _columns(predictor: Predictor, found: list[Found]) -> dict[str, object]:
    triples = id_array([row[2:] for row in found])
    heads, _, tails = triples.T.tolist()
    score = np.array([row[1] for row in found], dtype=np.float64)
    probability = predictor.probability(triples)
    return {
        "rank": np.arange(1, len(found) + 1),
        **triple_names(predictor.data, triples),
        "head_label": [predictor.data.label(h) for h in heads],
        "tail_label": [predictor.data.label(t) for t in tails],
        "score": score,
        "probability": probability,
        "conditional_probability": predictor.conditional_probability(score, triples[:, 1]),
        "certainty": [predictor.certainty(t) for t in tails],
        "trust": [trust_word(p) for p in probability],
        "note": predictor.notes(triples),
    }
