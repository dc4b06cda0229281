"""Filtered ranking: where the true answers of a split stand."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kgflow.data import QueryIndex
from kgflow.evaluation.metrics import Floats, Metrics, metrics
from kgflow.kernels import Entities, filtered_ranks
from kgflow.models import Model

MEMORY = 2**25
"""Scores held at a time; fewer queries are taken at once where there are more entities."""

POLICIES = ("optimistic", "realistic", "pessimistic")


@dataclass(frozen=True, eq=False)
class Ranking:
    """The rank of every answer, both sides; arrays ``(P,)``.

    A head-side answer stands under its reciprocal relation, whose id is `relations` or more.
    """

    h: NDArray[np.int64]
    r: NDArray[np.int64]
    t: NDArray[np.int64]
    optimistic: NDArray[np.int64]
    pessimistic: NDArray[np.int64]
    candidates: NDArray[np.int64]
    relations: int

    @classmethod
    def of(cls, columns: Sequence[NDArray[np.int64]], relations: int) -> "Ranking":
        """From the six columns in order."""
        h, r, t, optimistic, pessimistic, candidates = columns
        return cls(h, r, t, optimistic, pessimistic, candidates, relations)

    def __len__(self) -> int:
        return len(self.t)

    @property
    def side(self) -> NDArray[np.str_]:
        """Which side was asked for."""
        return np.where(self.r < self.relations, "tail", "head")

    def rank(self, policy: str) -> Floats:
        """Ranks with ties won, lost, or (realistic) the mean of both."""
        if policy == "realistic":
            return (self.optimistic + self.pessimistic) / 2
        chosen = self.optimistic if policy == "optimistic" else self.pessimistic
        return chosen.astype(np.float64)

    def take(self, which: NDArray[np.bool_] | NDArray[np.intp]) -> "Ranking":
        """Some of the answers, by a mask or in an order."""
        arrays = (self.h, self.r, self.t, self.optimistic, self.pessimistic, self.candidates)
        return Ranking.of([x[which] for x in arrays], self.relations)

    def metrics(self) -> dict[str, Metrics]:
        """The metrics under each of the three tie policies."""
        candidates = self.candidates.astype(np.float64)
        return {p: metrics(self.rank(p), candidates) for p in POLICIES}

    def by(self, group: NDArray[np.str_]) -> dict[str, "Ranking"]:
        """The answers of each group, by the group's name."""
        return {str(name): self.take(group == name) for name in np.unique(group)}


@torch.no_grad()
def rank(
    model: Model,
    questions: QueryIndex,
    known: QueryIndex,
    memory: int = MEMORY,
    progress: Callable[[float], None] = lambda share: None,
) -> Ranking:
    """Rank the answers of every question among all entities, other known answers removed.

    Each distinct (h, r) is scored once. Memory stays bounded: so many questions are taken at a
    time that their scores over all entities fill `memory` numbers.

    Args:
        model: what scores.
        questions: the split's queries, inverse_relations included.
        known: the queries of all splits, and of whatever else is known to be true.
        memory: scores held at a time.
        progress: called with the share of the work that is done.
    """
    parts = [
        _rank_rows(S, questions, known, rows)
        for rows, S in all_scores(model, questions, memory, progress)
    ]
    joined = [np.concatenate(column) for column in zip(*parts, strict=True)] if parts else _EMPTY
    return Ranking.of(joined, questions.relations // 2)


_EMPTY = [np.empty(0, dtype=np.int64)] * 6


@torch.no_grad()
def all_scores(
    model: Model,
    questions: QueryIndex,
    memory: int = MEMORY,
    progress: Callable[[float], None] = lambda share: None,
) -> Iterator[tuple[NDArray[np.int64], Tensor]]:
    """Rows of the questions, and their scores over all entities, ``(B, E)``, so many at a time.

    Args:
        model: what scores; not training meanwhile.
        questions: what is asked.
        memory: scores held at a time.
        progress: called with the share of the work that is done.
    """
    training, device = model.training, model.entity.weight.device
    # A query may have to copy its relation's numbers, which for matrices are many.
    widest = max(1, questions.entities, model.relation.weight.shape[1])
    size = max(1, min(memory // widest, 8192))
    model.eval()
    try:
        entities = Entities(model.entity.weight, model.encode_keys, model.interaction)
        for low in range(0, len(questions), size):
            rows = np.arange(low, min(low + size, len(questions)))
            h, r = (torch.from_numpy(ids[rows]).to(device) for ids in (questions.h, questions.r))
            query = model.query(h, r)
            yield rows, entities.scores(query.Q, query.a)
            progress((int(rows[-1]) + 1) / len(questions))
    finally:
        model.train(training)


def _rank_rows(
    S: Tensor, questions: QueryIndex, known: QueryIndex, rows: NDArray[np.int64]
) -> list[NDArray[np.int64]]:
    device, h, r = S.device, questions.h[rows], questions.r[rows]
    row, answer, _ = questions.gather(rows)
    known_row, known_tail, _ = known.gather(known.find(h, r))
    ranks = filtered_ranks(
        S,
        (torch.from_numpy(row).to(device), torch.from_numpy(answer).to(device)),
        (torch.from_numpy(known_row).to(device), torch.from_numpy(known_tail).to(device)),
    )
    return [h[row], r[row], answer, *(part.cpu().numpy() for part in ranks)]
