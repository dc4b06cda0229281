"""Filtered ranks of the answers of a split, and their metrics as a table or as JSON."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from kgflow.data import QueryIndex
from kgflow.errors import KgflowError
from kgflow.evaluation.metrics import Floats, Metrics, metrics
from kgflow.evaluation.scoring import MEMORY, Ids, Progress, Scorer, no_progress
from kgflow.kernels import filtered_ranks
from kgflow.models import Model

POLICIES = ("optimistic", "realistic", "pessimistic")
GROUPS = ("relation", "side", "category")


@dataclass(frozen=True, eq=False)
class Ranking:
    """Filtered ranks of answers, of queries for tails and for heads.

    Shapes:
        h, r, t: (P,), query and answer; in queries for heads, r is the inverse relation, with an
            id of `relations` or more. optimistic, pessimistic: (P,), ranks with ties won and lost.
        candidates: (P,), number of entities that are ranked.
    """

    h: Ids
    r: Ids
    t: Ids
    optimistic: Ids
    pessimistic: Ids
    candidates: Ids
    relations: int

    @classmethod
    def of(cls, columns: Iterable[Ids], relations: int) -> "Ranking":
        """Create a ranking from its six columns in order."""
        h, r, t, optimistic, pessimistic, candidates = columns
        return cls(h, r, t, optimistic, pessimistic, candidates, relations)

    def __len__(self) -> int:
        return len(self.t)

    @property
    def side(self) -> NDArray[np.str_]:
        """Part of the triple that each query asks for, "head" or "tail", ``(P,)``."""
        return np.where(self.r < self.relations, "tail", "head")

    def rank(self, policy: str) -> Floats:
        """Return ranks with ties won, lost, or (realistic) the mean of both, ``(P,)``."""
        if policy == "realistic":
            return (self.optimistic + self.pessimistic) / 2
        chosen = self.optimistic if policy == "optimistic" else self.pessimistic
        return chosen.astype(np.float64)

    def take(self, which: NDArray[np.bool_] | NDArray[np.intp]) -> "Ranking":
        """Select answers by a mask or by positions."""
        arrays = (self.h, self.r, self.t, self.optimistic, self.pessimistic, self.candidates)
        return Ranking.of((x[which] for x in arrays), self.relations)

    def metrics(self) -> dict[str, Metrics]:
        """Compute the metrics under each of the three tie policies."""
        candidates = self.candidates.astype(np.float64)
        return {p: metrics(self.rank(p), candidates) for p in POLICIES}

    def by(self, group: NDArray[np.str_]) -> dict[str, "Ranking"]:
        """Split the ranking by the group of each answer, ``(P,)``."""
        return {str(name): self.take(group == name) for name in np.unique(group)}


def rank(
    model: Model,
    queries: QueryIndex,
    known: QueryIndex,
    memory: int = MEMORY,
    progress: Progress = no_progress,
) -> Ranking:
    """Rank the answers of queries among all entities that are not other known answers.

    Each distinct (h, r) is scored once, with `memory` scores held at a time. `queries` are those of
    a split, with inverse relations. The model is in the same mode afterwards.
    """
    scorer = Scorer(model, known, memory)
    parts = [_rank(scorer, queries, rows, S) for rows, S in scorer.batches(queries, progress)]
    parts = parts or [[np.empty(0, dtype=np.int64)] * 6]
    columns = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Ranking.of(columns, queries.relations // 2)


def _rank(scorer: Scorer, queries: QueryIndex, rows: Ids, S: Tensor) -> list[Ids]:
    h, r = queries.h[rows], queries.r[rows]
    row, answer, _ = queries.gather(rows)
    answers = scorer.tensor(row), scorer.tensor(answer)
    ranks = filtered_ranks(S, answers, scorer.known_answers(h, r))
    return [h[row], r[row], answer, *(part.cpu().numpy() for part in ranks)]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Filtered ranking metrics of a split, overall and by group.

    Args:
        split: Name of the split.
        ranking: Ranks of its answers.
        by: Group of `GROUPS` to break the metrics down by, or None.
        relations: Names of the relations.
        categories: Category (1-1, 1-N, N-1 or N-N) of each relation name, for ``by="category"``.
        untrained: Number of answers with an entity that does not occur in training; they are
            included in the metrics.
    """

    split: str
    ranking: Ranking
    by: str | None
    relations: Sequence[str]
    categories: Mapping[str, str]
    untrained: int = 0

    def __post_init__(self) -> None:
        if self.by is not None and self.by not in GROUPS:
            raise KgflowError(f"unknown group '{self.by}': choose {', '.join(GROUPS)}")

    def __getitem__(self, policy: str) -> dict[str, float]:
        return self.ranking.metrics()[policy].to_dict()

    def to_dict(self) -> dict[str, Any]:
        """Return the metrics of each tie policy, and those of each group under "by"."""
        result: dict[str, Any] = {"split": self.split, "answers": len(self.ranking)}
        result |= {"untrained": self.untrained, **_summary(self.ranking)}
        if self.by is not None:
            groups = self._groups().items()
            result["by"] = {name: {"count": len(g), **_summary(g)} for name, g in groups}
        return result

    def __str__(self) -> str:
        names = list(self["realistic"])
        lines = [f"{self.split:<16}" + "".join(f"{name:>10}" for name in names)]
        for title, ranking in [("all", self.ranking), *self._groups().items()]:
            values = ranking.metrics()["realistic"].to_dict().values()
            lines.append(f"{title:<16}" + "".join(f"{v:>10.4g}" for v in values))
        return "\n".join(lines)

    def _groups(self) -> dict[str, Ranking]:
        return {} if self.by is None else self.ranking.by(self._group(self.by))

    def _group(self, by: str) -> NDArray[np.str_]:
        if by == "side":
            return self.ranking.side
        names = np.array(self.relations)[self.ranking.r % self.ranking.relations]
        if by == "relation":
            return names
        return np.array([self.categories[name] for name in names])


def _summary(ranking: Ranking) -> dict[str, dict[str, float]]:
    found = ranking.metrics()
    return {policy: found[policy].to_dict() for policy in POLICIES}
