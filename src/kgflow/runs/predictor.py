"""Ranked answers, by name."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kgflow.data import Dataset, QueryIndex
from kgflow.errors import KgflowError
from kgflow.kernels import Entities, Exact, Search
from kgflow.kernels.entities import require_finite
from kgflow.models import Model
from kgflow.models.entropy import entity_entropy, relation_entropy
from kgflow.uncertainty import Calibration

if TYPE_CHECKING:
    import polars as pl

CHUNK = 256
"""Queries answered in one matrix product."""

COLUMNS: dict[str, type] = {
    "query": int,
    "rank": int,
    "head": str,
    "relation": str,
    "tail": str,
    "answer": str,
    "score": float,
    "probability": float,
    "uncertainty": float,
    "known": bool,
    "trained": bool,
}
"""What is said of an answer."""

Ids = NDArray[np.int64]
Answers = tuple[Ids, NDArray[np.float64]]
"""Ids and scores, best first."""

_NONE: Answers = (np.empty(0, dtype=np.int64), np.empty(0))


@dataclass(frozen=True)
class Question:
    """A triple with one part missing: (h, r, ?), (?, r, t) or (h, ?, t).

    Entities go by name or by label; `where` it was asked, such as ``q.tsv:3``, opens complaints.
    """

    head: str | None = None
    relation: str | None = None
    tail: str | None = None
    where: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if sum(part is None for part in (self.head, self.relation, self.tail)) != 1:
            raise KgflowError("ask with two of head, relation and tail; the third is the answer")

    def ids(self, data: Dataset) -> tuple[int, int, int]:
        """Head, relation and tail by id, -1 for what is missing."""
        try:
            return (
                -1 if self.head is None else data.entity_id(self.head),
                -1 if self.relation is None else data.relations.id(self.relation),
                -1 if self.tail is None else data.entity_id(self.tail),
            )
        except KgflowError as error:
            raise KgflowError(f"{self.where}: {error}" if self.where else str(error)) from None


class Predictor:
    """A model that speaks the names of a data set.

    Args:
        model: what scores.
        data: names, and the facts that are known.
        margin: what the loss added to scores: their logit is margin + score.
        calibration: what scores mean as probabilities; as the loss has it if not given.
    """

    def __init__(
        self, model: Model, data: Dataset, margin: float, calibration: Calibration | None = None
    ) -> None:
        self.model, self.data = model, data
        self.calibration = calibration or Calibration(margin=margin)
        self.relations = len(data.relations)

    @cached_property
    def known(self) -> QueryIndex:
        """Every fact of every split."""
        return self.data.queries()

    @cached_property
    def trained_entities(self) -> NDArray[np.bool_]:
        """Whether an entity occurs in training, ``(E,)``."""
        return self.data.train.entity_mask(len(self.data.entities))

    @cached_property
    def trained_relations(self) -> NDArray[np.bool_]:
        """Whether a relation occurs in training, ``(R,)``."""
        return self.data.train.relation_mask(self.relations)

    @cached_property
    def entities(self) -> Entities:
        """All answers there can be."""
        return Entities(self.model.entity.weight, self.model.encode_keys, self.model.interaction)

    @cached_property
    def places(self) -> Entities:
        """Keys of all entities as the trained model encodes them, in its own geometry."""
        trained = self.model.trained
        if trained is self.model:
            return self.entities
        return Entities(trained.entity.weight, trained.encode_keys, trained.interaction)

    @cached_property
    def search(self) -> Search:
        """How the best answers are found: among all scores, unless an index is set in its place."""
        return Exact(self.entities)

    @cached_property
    def entropy(self) -> dict[str, NDArray[np.float64] | None]:
        """The uncertainty of entities and relations, where the model knows one."""
        found = {"entity": entity_entropy(self.model), "relation": relation_entropy(self.model)}
        return {k: None if v is None else v.double().cpu().numpy() for k, v in found.items()}

    @torch.no_grad()
    def score(self, h: Ids, r: Ids, t: Ids) -> Tensor:
        """The scores of triples of ids, ``(N,)``."""
        self.model.eval()
        score = self.model.score(*(self.tensor(x) for x in (h, r, t))).cpu()
        require_finite(score)
        return score

    def predict(
        self,
        questions: Sequence[Question],
        k: int,
        new: bool = False,
        types: str | Sequence[str] = (),
    ) -> "pl.DataFrame":
        """The k best answers to each question, in the order of the questions.

        Args:
            questions: what is asked.
            k: answers each.
            new: leave out answers that are known facts.
            types: allow only entities of these types, or of this one.
        """
        if k < 1:
            raise KgflowError(f"k is {k}: ask for 1 answer or more")
        self.model.eval()
        allowed = self._allowed([types] if isinstance(types, str) else types)
        asked = np.array([q.ids(self.data) for q in questions], dtype=np.int64).reshape(-1, 3)
        answers: list[Answers] = []
        for low in range(0, len(asked), CHUNK):
            answers += self._answers(asked[low : low + CHUNK], k, new, allowed)
        return self.described(asked, answers)

    @torch.no_grad()
    def _answers(self, asked: Ids, k: int, new: bool, allowed: Tensor | None) -> list[Answers]:
        entity = asked[:, 1] >= 0
        found = self._entities(asked[entity], k, new, allowed) if entity.any() else iter(())
        return [
            next(found) if of_entity else self._relations(h, t, k, new)
            for of_entity, (h, _, t) in zip(entity, asked, strict=True)
        ]

    def asked_for_tails(self, asked: Ids) -> tuple[Ids, Ids]:
        """Questions as (h, r, ?): a missing head is the tail of the reciprocal relation."""
        h, r, t = asked.T
        return np.where(h < 0, t, h), np.where(h < 0, r + self.relations, r)

    def _entities(self, asked: Ids, k: int, new: bool, allowed: Tensor | None) -> Iterator[Answers]:
        h, r = self.asked_for_tails(asked)
        banned = self.known_tails(h, r) if new else None
        query = self.model.query(self.tensor(h), self.tensor(r))
        best = self.search(query.Q, query.a, k, banned, allowed)
        for score, answer in zip(best.score.cpu().numpy(), best.entity.cpu().numpy(), strict=True):
            real = np.isfinite(score)
            yield answer[real], score[real].astype(np.float64)

    def _relations(self, head: int, tail: int, k: int, new: bool) -> Answers:
        r = np.arange(self.relations)
        h, t = np.full_like(r, head), np.full_like(r, tail)
        score = self.score(h, r, t).double().numpy()
        order = np.argsort(-score, kind="stable")
        if new:
            order = order[~self.known.contains(h, r, t)[order]]
        return order[:k], score[order[:k]]

    def known_tails(self, h: Ids, r: Ids) -> tuple[Tensor, Tensor]:
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

    def described(self, asked: Ids, answers: Sequence[Answers]) -> "pl.DataFrame":
        """What is said of answers, as `COLUMNS` has it.

        Args:
            asked: head, relation and tail of each question, -1 for what is missing: ``(N, 3)``.
            answers: to each.
        """
        return frame(self._columns(asked, answers), COLUMNS)

    def _columns(self, asked: Ids, answers: Sequence[Answers]) -> dict[str, object]:
        counts = [len(ids) for ids, _ in answers]
        query = np.repeat(np.arange(len(asked)), counts)
        answer, score = (np.concatenate(x) for x in zip(_NONE, *answers, strict=True))
        rank = [place for count in counts for place in range(1, count + 1)]
        triple, of_relation = asked[query], (asked[query, 1] < 0).tolist()
        triple[triple < 0] = answer  # each row lacks one part, so the order is that of the rows
        shown = list(zip(of_relation, answer.tolist(), strict=True))
        columns: dict[str, object] = {"query": query + 1, "rank": rank, **self.names(triple)}
        columns["answer"] = [self.data.relations[i] if r else self.data.label(i) for r, i in shown]
        of_head = asked[query, 0] < 0
        probability = self.probability(score, triple[:, 1] + self.relations * of_head)
        columns |= {"score": score, "probability": probability}
        columns["uncertainty"] = [
            self.uncertainty(i, "relation" if r else "entity") for r, i in shown
        ]
        return columns | {"known": self.known.contains(*triple.T), "trained": self.trained(triple)}

    def names(self, triples: Ids) -> dict[str, list[str]]:
        """Head, relation and tail of triples of ids, ``(N, 3)``."""
        entities, relations = self.data.entities, self.data.relations
        h, r, t = triples.T.tolist()
        return {
            "head": [entities[i] for i in h],
            "relation": [relations[i] for i in r],
            "tail": [entities[i] for i in t],
        }

    def trained(self, triples: Ids) -> NDArray[np.bool_]:
        """Whether head, relation and tail all occur in training, ``(N,)``."""
        h, r, t = triples.T
        seen = self.trained_entities
        return seen[h] & self.trained_relations[r] & seen[t]

    def uncertainty(self, i: int, kind: str = "entity") -> float | None:
        """The uncertainty of an entity or relation, where the model knows one."""
        entropy = self.entropy[kind]
        return None if entropy is None else float(entropy[i])

    def probability(self, score: NDArray[np.float64], r: Ids) -> NDArray[np.float64]:
        """What scores mean, as `Calibration` says it.

        Args:
            score: ``(N,)``.
            r: the relation of each, ``(N,)``; plus the number of relations where it is the score of
                a head-side question.
        """
        return self.calibration.probability(score, r)

    def tensor(self, array: Ids) -> Tensor:
        """Ids on the model's device."""
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.model.entity.weight.device)


def frame(columns: Mapping[str, object], schema: Mapping[str, type]) -> "pl.DataFrame":
    """Columns as a table, which keeps their kinds when it is empty."""
    import polars as pl

    return pl.DataFrame(columns, schema=schema)
