"""Ranked answers, by name."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kgflow.data import Dataset, QueryIndex
from kgflow.engine import Best, top_k
from kgflow.errors import KgflowError
from kgflow.models import Model
from kgflow.models.entropy import entity_entropy, relation_entropy

if TYPE_CHECKING:
    import polars as pl

CHUNK = 256
"""Queries answered in one matrix product."""


@dataclass(frozen=True)
class Question:
    """A triple with one part missing: (h, r, ?), (?, r, t) or (h, ?, t)."""

    head: str | None = None
    relation: str | None = None
    tail: str | None = None

    def __post_init__(self) -> None:
        if sum(part is None for part in (self.head, self.relation, self.tail)) != 1:
            raise KgflowError("ask with two of head, relation and tail; the third is the answer")

    @property
    def asked(self) -> str:
        """Which part is missing."""
        parts = {"head": self.head, "relation": self.relation, "tail": self.tail}
        return next(name for name, part in parts.items() if part is None)


class Predictor:
    """A model that speaks the names of a data set.

    Args:
        model: what scores.
        data: names, and the facts that are known.
        margin: what the loss added to scores: their logit is margin + score.
    """

    def __init__(self, model: Model, data: Dataset, margin: float) -> None:
        self.model, self.data, self.margin = model, data, margin
        self.relations = len(data.relations)

    @cached_property
    def known(self) -> QueryIndex:
        """Every fact of every split."""
        return self.data.queries()

    @cached_property
    def trained(self) -> NDArray[np.bool_]:
        """Whether an entity occurs in training, ``(E,)``."""
        seen = np.zeros(len(self.data.entities), dtype=bool)
        seen[self.data.train.h] = seen[self.data.train.t] = True
        return seen

    @cached_property
    def entropy(self) -> dict[str, NDArray[np.float64] | None]:
        """The uncertainty of entities and relations, where the model knows one."""
        found = {"entity": entity_entropy(self.model), "relation": relation_entropy(self.model)}
        return {k: None if v is None else v.double().cpu().numpy() for k, v in found.items()}

    @torch.no_grad()
    def score(self, h: NDArray[np.int64], r: NDArray[np.int64], t: NDArray[np.int64]) -> Tensor:
        """The scores of triples of ids, ``(N,)``."""
        self.model.eval()
        return self.model.score(*(self.tensor(x) for x in (h, r, t))).cpu()

    def predict(
        self, questions: Sequence[Question], k: int, new: bool = False, types: Sequence[str] = ()
    ) -> "pl.DataFrame":
        """The k best answers to each question, in the order of the questions.

        Args:
            questions: what is asked.
            k: answers each.
            new: leave out answers that are known facts.
            types: allow only entities of these types.
        """
        if k < 1:
            raise KgflowError(f"k is {k}: ask for 1 answer or more")
        self.model.eval()
        allowed = self._allowed(types)
        rows: list[dict[str, object]] = []
        for low in range(0, len(questions), CHUNK):
            chunk = questions[low : low + CHUNK]
            for number, answers in enumerate(self._answers(chunk, k, new, allowed), start=low):
                rows += self._rows(number, questions[number], answers)
        return frame(rows)

    @torch.no_grad()
    def _answers(
        self, questions: Sequence[Question], k: int, new: bool, allowed: Tensor | None
    ) -> list[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        entity = [i for i, q in enumerate(questions) if q.asked != "relation"]
        found = self._entities([questions[i] for i in entity], k, new, allowed) if entity else []
        answers = dict(zip(entity, found, strict=True))
        return [
            answers[i] if i in answers else self._relations(question, k, new)
            for i, question in enumerate(questions)
        ]

    def _entities(
        self, questions: Sequence[Question], k: int, new: bool, allowed: Tensor | None
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        h, r = (np.array(part) for part in zip(*map(self._ids, questions), strict=True))
        banned = self.known_tails(h, r) if new else None
        best = self._top(h, r, k, banned, allowed)
        for score, answer in zip(best.score.cpu().numpy(), best.entity.cpu().numpy(), strict=True):
            real = np.isfinite(score)
            yield answer[real], score[real].astype(np.float64)

    def _top(
        self,
        h: NDArray[np.int64],
        r: NDArray[np.int64],
        k: int,
        banned: tuple[Tensor, Tensor] | None,
        allowed: Tensor | None,
    ) -> Best:
        query, model = self.model.query(self.tensor(h), self.tensor(r)), self.model
        table = model.entity.weight
        return top_k(query.Q, query.a, table, model.lower_keys, k, banned, allowed)

    def _relations(
        self, question: Question, k: int, new: bool
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        entities = self.data.entities
        h, t = entities.id(question.head or ""), entities.id(question.tail or "")
        r = np.arange(self.relations)
        score = self.score(np.full_like(r, h), r, np.full_like(r, t)).double().numpy()
        order = np.argsort(-score, kind="stable")
        if new:
            order = order[~self.known.contains(np.full_like(r, h), r, np.full_like(r, t))[order]]
        return order[:k], score[order[:k]]

    def _ids(self, question: Question) -> tuple[int, int]:
        # A missing head is the tail of the reciprocal relation.
        r = self.data.relations.id(question.relation or "")
        if question.asked == "tail":
            return self.data.entities.id(question.head or ""), r
        return self.data.entities.id(question.tail or ""), r + self.relations

    def known_tails(self, h: NDArray[np.int64], r: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        """Position and tail of every known fact of these queries."""
        row, tail, _ = self.known.gather(self.known.find(h, r))
        return self.tensor(row), self.tensor(tail)

    def _allowed(self, types: Sequence[str]) -> Tensor | None:
        if not types:
            return None
        wanted, known = set(types), {t for ts in self.data.types.values() for t in ts}
        for name in wanted - known:
            raise KgflowError(f"no entity has type '{name}'; known are {sorted(known) or 'none'}")
        fits = [bool(wanted & set(self.data.types.get(e, ()))) for e in self.data.entities]
        return torch.tensor(fits, device=self.model.entity.weight.device)

    def _rows(
        self,
        number: int,
        question: Question,
        answers: tuple[NDArray[np.int64], NDArray[np.float64]],
    ) -> list[dict[str, object]]:
        kind = "relation" if question.asked == "relation" else "entity"
        names = self.data.relations if kind == "relation" else self.data.entities
        entropy = self.entropy[kind]
        rows: list[dict[str, object]] = []
        for place, (i, score) in enumerate(zip(*answers, strict=True), start=1):
            triple = {"head": question.head, "relation": question.relation, "tail": question.tail}
            triple[question.asked] = names[i]
            label = self.data.label(i) if kind == "entity" else names[i]
            uncertainty = None if entropy is None else float(entropy[i])
            row: dict[str, object] = {"query": number + 1, "rank": place, **triple, "answer": label}
            row |= {"score": float(score), "probability": self.probability(score)}
            row |= {"uncertainty": uncertainty, "known": self._is_known(triple)}
            row |= {"trained": kind == "relation" or bool(self.trained[i])}
            rows.append(row)
        return rows

    def probability(self, score: float) -> float:
        """What the loss took the score to mean: the logistic function of margin + score."""
        return float(torch.sigmoid(torch.tensor(self.margin + float(score), dtype=torch.float64)))

    def _is_known(self, triple: dict[str, str | None]) -> bool:
        h, t = (self.data.entities.id(triple[side] or "") for side in ("head", "tail"))
        return bool(
            self.known.contains([h], [self.data.relations.id(triple["relation"] or "")], [t])[0]
        )

    def tensor(self, array: NDArray[np.int64]) -> Tensor:
        """Ids on the model's device."""
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.model.entity.weight.device)


def frame(rows: list[dict[str, object]]) -> "pl.DataFrame":
    """Rows as a table."""
    import polars as pl

    return pl.DataFrame(rows, infer_schema_length=None)
