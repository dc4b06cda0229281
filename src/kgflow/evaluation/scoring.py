"""Scores of all entities for batches of queries, with known answers masked."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kgflow.data import QueryIndex
from kgflow.evaluation.metrics import Floats
from kgflow.kernels import EncodedEntities, ExactSearch, TopKSearch, blocks, require_finite
from kgflow.models import Model

MEMORY = 2**25
"""Scores held at a time."""
QUERIES = 8192
"""Queries scored at a time, at most."""
TOP_K_QUERIES = 512
"""Queries whose k best entities are searched at a time."""
TRIPLES = 2**14
"""Triples scored at a time."""

Ids = NDArray[np.int64]
Progress = Callable[[float], None]
"""Callback that is given the completed share of the work, from 0 to 1."""


def no_progress(share: float) -> None:
    """Report nothing."""


class ScoredAnswers(NamedTuple):
    """Answers of some queries with the scores of their candidates.

    The candidates of an answer are itself and every entity that is not a known answer.

    Shapes:
        h, r, t: (P,), query and answer; inverse relations have ids from R on.
        score: (P,), score of the answer. S: (P, E), -inf for entities that are no candidates.
    """

    h: Ids
    r: Ids
    t: Ids
    score: Tensor
    S: Tensor


@contextmanager
def evaluation_mode(model: Model) -> Iterator[None]:
    """Set a model to evaluation mode without gradients, and restore its mode afterwards."""
    training = model.training
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        model.train(training)


class Scorer:
    """Scores queries (h, r, ?) against all entities, in evaluation mode and without gradients.

    After every call, and between two batches, the model is in the mode it was in before. Keys of
    entities are encoded once and kept, so the model's parameters must not change while a scorer
    is in use.

    Args:
        model: Model that scores.
        known: Query index of the known triples, whose answers are masked.
        memory: Number of scores held at a time.

    Example:
        >>> import kgflow
        >>> from kgflow.models import MODELS
        >>> world = kgflow.load("world")
        >>> model = MODELS["nfe-1"](len(world.entities), 2 * len(world.relations), dim=4)
        >>> scorer = Scorer(model, world.known)
        >>> france, borders = world.entities.ids(["France"]), world.relations.ids(["borders"])
        >>> S = scorer.filtered_scores(france, borders)
        >>> S.shape == (1, len(world.entities)), S[0, world.entities.id("Spain")].item()
        (True, -inf)
    """

    def __init__(self, model: Model, known: QueryIndex, memory: int = MEMORY) -> None:
        self.model, self.known, self.memory = model, known, memory

    @cached_property
    def entities(self) -> EncodedEntities:
        """Keys of all entities, as they are scored."""
        return EncodedEntities(
            self.model.entity.weight, self.model.encode_keys, self.model.interaction
        )

    @cached_property
    def embedding_keys(self) -> EncodedEntities:
        """Keys of all entities as the trained model encodes them, for distances of entities."""
        trained = self.model.trained
        if trained is self.model:
            return self.entities
        return EncodedEntities(trained.entity.weight, trained.encode_keys, trained.interaction)

    @cached_property
    def search(self) -> TopKSearch:
        """Search for the k best entities: exact, unless another one is assigned."""
        return ExactSearch(self.entities)

    def scores(self, h: Ids, r: Ids) -> Tensor:
        """Score all entities for queries of ids ``(B,)``, without a filter: S, ``(B, E)``.

        An inverse relation makes it a query for heads.

        Raises:
            FloatingPointError: A score is infinite or not a number.
        """
        with evaluation_mode(self.model):
            query = self.model.query(self.tensor(h), self.tensor(r))
            return self.entities.scores(query.Q, query.a)

    def scores_among(self, h: Ids, r: Ids, entities: Ids) -> Tensor:
        """Score some entities ``(N,)`` for queries ``(B,)``, without a filter: ``(B, N)``."""
        model, S = self.model, torch.empty(len(h), len(entities), device=self.device)
        with evaluation_mode(model):
            table = model.entity.weight[self.tensor(entities)]
            among = EncodedEntities(table, model.encode_keys, model.interaction)
            for low, high in blocks(len(h), self.batch_size(QUERIES)):
                query = model.query(self.tensor(h[low:high]), self.tensor(r[low:high]))
                S[low:high] = among.scores(query.Q, query.a)
        return S

    def filtered_scores(self, h: Ids, r: Ids) -> Tensor:
        """Score all entities, ``(B, E)``, with -inf for known answers."""
        S = self.scores(h, r)
        S[self.known_answers(h, r)] = -torch.inf
        return S

    def known_answers(self, h: Ids, r: Ids) -> tuple[Tensor, Tensor]:
        """Return the position of the query and the entity of every known answer, ``(N,)`` each."""
        row, tail, _ = self.known.gather(self.known.find(h, r))
        return self.tensor(row), self.tensor(tail)

    def batches(
        self, queries: QueryIndex, progress: Progress = no_progress
    ) -> Iterator[tuple[Ids, Tensor]]:
        """Yield positions of queries, ``(B,)``, and their scores without a filter, ``(B, E)``."""
        for low, high in blocks(len(queries), self.batch_size(QUERIES)):
            rows = np.arange(low, high)
            yield rows, self.scores(queries.h[rows], queries.r[rows])
            progress(high / len(queries))

    def answers(
        self, queries: QueryIndex, progress: Progress = no_progress
    ) -> Iterator[ScoredAnswers]:
        """Yield the answers of queries with the scores of their candidates, in batches."""
        row, t, _ = queries.gather(np.arange(len(queries)))
        # Half the batch size: scores are held once per query and once per answer.
        for low, high in blocks(len(row), max(1, self.batch_size() // 2)):
            rows, inverse = np.unique(row[low:high], return_inverse=True)
            h, r, answer = queries.h[rows], queries.r[rows], t[low:high]
            S, at = self.scores(h, r), (self.tensor(inverse), self.tensor(answer))
            score = S[at]
            S[self.known_answers(h, r)] = -torch.inf
            S = S[at[0]]
            S[torch.arange(len(S), device=S.device), at[1]] = score
            yield ScoredAnswers(h[inverse], r[inverse], answer, score, S)
            progress(high / len(row))

    def top_k(
        self,
        h: Ids,
        r: Ids,
        k: int,
        new: bool = True,
        allowed: NDArray[np.bool_] | None = None,
        progress: Progress = no_progress,
    ) -> tuple[Floats, Ids]:
        """Find the k best entities of queries.

        Args:
            h: Entity ids, ``(B,)``.
            r: Relation ids, ``(B,)``.
            k: Number of entities per query.
            new: Whether known answers are left out.
            allowed: True for entities that may be answers, ``(E,)``.
            progress: Progress callback.

        Returns:
            Scores and entity ids, ``(B, k)`` each, best first; -inf where there are fewer than k.
        """
        k = min(k, len(self.entities))
        mask = None if allowed is None else torch.from_numpy(allowed).to(self.device)
        # The empty first part is the result for no queries.
        parts: list[tuple[Floats, Ids]] = [(np.empty((0, k)), np.empty((0, k), dtype=np.int64))]
        for low, high in blocks(len(h), TOP_K_QUERIES):
            head, relation = h[low:high], r[low:high]
            excluded = self.known_answers(head, relation) if new else None
            with evaluation_mode(self.model):
                query = self.model.query(self.tensor(head), self.tensor(relation))
                best = self.search(query.Q, query.a, k, excluded, mask)
            parts.append((best.score.cpu().double().numpy(), best.entity.cpu().numpy()))
            progress(high / len(h))
        score, entity = (np.concatenate(column) for column in zip(*parts, strict=True))
        return score, entity

    def score_triples(self, h: Ids, r: Ids, t: Ids) -> Tensor:
        """Score triples of ids, ``(N,)`` each, to ``(N,)`` on the CPU; all scores are finite."""
        parts = []
        with evaluation_mode(self.model):
            size = max(1, min(TRIPLES, self.memory // self.model.relation.weight.shape[1]))
            for low, high in blocks(max(1, len(h)), size):
                ids = (self.tensor(x[low:high]) for x in (h, r, t))
                parts.append(self.model.score(*ids).cpu())
        score = torch.cat(parts)
        require_finite(score)
        return score

    def batch_size(self, most: int | None = None) -> int:
        """Return the number of queries whose scores fit into memory, at most `most`."""
        # A query may copy the embedding of its relation, which is large for matrices.
        widest = max(1, len(self.entities), self.model.relation.weight.shape[1])
        size = max(1, self.memory // widest)
        return size if most is None else min(size, most)

    @property
    def device(self) -> torch.device:
        """Device of the model."""
        return self.model.entity.weight.device

    def tensor(self, array: Ids) -> Tensor:
        """Copy an array of ids to the device of the model."""
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.device)
