"""Ranked answers to queries by name."""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from kgflow.data import Dataset, QueryIndex, short_name
from kgflow.errors import KgflowError
from kgflow.evaluation import Scorer
from kgflow.evaluation.metrics import Floats
from kgflow.kernels import EncodedEntities
from kgflow.models import Model
from kgflow.models.entropy import entity_entropy, relation_entropy
from kgflow.runs.answers import (
    COLUMNS,
    ENTROPY_COLUMN,
    SCORE_COLUMNS,
    Ids,
    TripleQuery,
    frame,
    id_array,
    triple_ids,
    triple_names,
    trust_word,
)
from kgflow.runs.certainty import certainty_groups, fitted_certainty, percentile
from kgflow.runs.update_log import UpdateLog
from kgflow.uncertainty import Calibration

if TYPE_CHECKING:
    import polars as pl

Answers = tuple[Ids, Floats]
"""Ids and scores of the answers to one query, best first."""

UNTRAINED = "head, relation or tail is not in the training data"
ADDED = "head, relation or tail was added after training: the probability is not guaranteed"
NO_FACTS = "no validation fact has this relation: estimated from similar relations"
FEW_FACTS = "too few validation facts to estimate the probability"

_NONE: Answers = (np.empty(0, dtype=np.int64), np.empty(0))


class Predictor:
    """Predicts answers to queries by name.

    Args:
        model: Model that scores.
        data: Dataset with the names and the known triples.
        margin: Margin of the loss: without a calibration, probabilities are σ(margin + score).
        calibration: Calibration of scores to probabilities.
        updates: Entities and relations that were fitted after training.
    """

    def __init__(
        self,
        model: Model,
        data: Dataset,
        margin: float,
        calibration: Calibration | None = None,
        updates: UpdateLog | None = None,
    ) -> None:
        self.model, self.data, self.updates = model, data, updates or UpdateLog()
        self.calibration = calibration or Calibration(margin=margin)
        self.relations = len(data.relations)

    @cached_property
    def scorer(self) -> Scorer:
        """Scorer of the model, filtered by the known triples."""
        return Scorer(self.model, self.known)

    @property
    def known(self) -> QueryIndex:
        """Query index of the triples of all splits."""
        return self.data.known

    @property
    def entities(self) -> EncodedEntities:
        """Keys of all entities, as they are scored."""
        return self.scorer.entities

    @property
    def embedding_keys(self) -> EncodedEntities:
        """Keys of all entities as in training, for distances between entities."""
        return self.scorer.embedding_keys

    @cached_property
    def trained_entities(self) -> NDArray[np.bool_]:
        """Whether entities occur in training, ``(E,)``."""
        return self.data.train.entity_mask(len(self.data.entities))

    @cached_property
    def trained_relations(self) -> NDArray[np.bool_]:
        """Whether relations occur in training, ``(R,)``."""
        return self.data.train.relation_mask(self.relations)

    @cached_property
    def entropy(self) -> dict[str, Floats | None]:
        """Entropy change of entities and relations in nats, None where the model has none."""
        found = {"entity": entity_entropy(self.model), "relation": relation_entropy(self.model)}
        return {k: None if v is None else v.double().cpu().numpy() for k, v in found.items()}

    def predict(
        self,
        queries: Sequence[TripleQuery],
        k: int,
        new: bool = False,
        types: str | Sequence[str] = (),
        entropy: bool = False,
    ) -> "pl.DataFrame":
        """Find the k best answers to each query.

        Args:
            queries: Queries by name.
            k: Number of answers per query.
            new: Whether known triples are left out.
            types: Entity type, or types, of the answers.
            entropy: Whether to add a column entropy_change, in nats, of the answers.

        Returns:
            A table with the columns `COLUMNS`, in the order of the queries.
        """
        if k < 1:
            raise KgflowError(f"k is {k}: ask for 1 answer or more")
        allowed = self._allowed([types] if isinstance(types, str) else types)
        ids = id_array([query.ids(self.data) for query in queries])
        is_entity = ids[:, 1] >= 0
        score, entity = self.scorer.top_k(*self.tail_queries(ids[is_entity]), k, new, allowed)
        found = zip(entity, score, np.isfinite(score), strict=True)
        entities = iter([(e[real], s[real]) for e, s, real in found])
        answers = [
            next(entities) if entity_query else self._best_relations(h, t, k, new)
            for entity_query, (h, _, t) in zip(is_entity, ids, strict=True)
        ]
        return self.answer_table(ids, answers, entropy)

    def score_names(self, triples: Sequence[tuple[str, str, str]]) -> "pl.DataFrame":
        """Score triples of names or labels, as a table with the columns `SCORE_COLUMNS`."""
        if any(len(triple) != 3 for triple in triples):
            raise KgflowError("score needs triples of (head, relation, tail)")
        ids = id_array([triple_ids(self.data, *triple) for triple in triples])
        score, probability = self.score(*ids.T).double().numpy(), self.probability(ids)
        columns = {
            **triple_names(self.data, ids),
            "score": score,
            "probability": probability,
            "conditional_probability": self.conditional_probability(score, ids[:, 1]),
            "known": self.known.contains(*ids.T),
            "trust": [trust_word(p) for p in probability],
            "note": self.notes(ids),
        }
        return frame(columns, SCORE_COLUMNS)

    def score(self, h: Ids, r: Ids, t: Ids) -> Tensor:
        """Score triples of ids, ``(N,)`` each, to ``(N,)``."""
        return self.scorer.score_triples(h, r, t)

    def tail_queries(self, ids: Ids) -> tuple[Ids, Ids]:
        """Rewrite queries for entities, ``(N, 3)``, as (h, r, ?), heads by inverse relations."""
        h, r, t = ids.T
        return np.where(h < 0, t, h), np.where(h < 0, r + self.relations, r)

    def _best_relations(self, head: int, tail: int, k: int, new: bool) -> Answers:
        r = np.arange(self.relations)
        h, t = np.full_like(r, head), np.full_like(r, tail)
        score = self.score(h, r, t).double().numpy()
        order = np.argsort(-score, kind="stable")
        if new:
            order = order[~self.known.contains(h, r, t)[order]]
        return order[:k], score[order[:k]]

    def _allowed(self, types: Sequence[str]) -> NDArray[np.bool_] | None:
        if not types:
            return None
        wanted, known = set(types), {t for ts in self.data.types.values() for t in ts}
        for name in wanted - known:
            raise KgflowError(f"no entity has type '{name}'; known are {sorted(known) or 'none'}")
        return np.array(
            [bool(wanted & set(self.data.types.get(e, ()))) for e in self.data.entities]
        )

    def answer_table(
        self, ids: Ids, answers: Sequence[Answers], entropy: bool = False
    ) -> "pl.DataFrame":
        """Return answers as a table with the columns `COLUMNS`.

        Args:
            ids: Head, relation and tail of each query, -1 for the missing part, ``(N, 3)``.
            answers: Answers to each query.
            entropy: Whether to add a column entropy_change, in nats, of the answers.
        """
        counts = [len(entity) for entity, _ in answers]
        query = np.repeat(np.arange(len(ids)), counts)
        answer, score = (np.concatenate(x) for x in zip(_NONE, *answers, strict=True))
        triple, of_head, of_relation = ids[query], ids[query, 0] < 0, ids[query, 1] < 0
        triple[triple < 0] = answer  # each row lacks one part, so the order is that of the rows
        probability = self.probability(triple)
        shown = list(zip(of_relation.tolist(), answer.tolist(), strict=True))
        relations = self.data.relations
        labels = [short_name(relations[i]) if r else self.data.label(i) for r, i in shown]
        kinds = [(i, "relation" if r else "entity") for r, i in shown]
        columns = {
            "query": query + 1,
            "rank": [rank for count in counts for rank in range(1, count + 1)],
            **triple_names(self.data, triple),
            "answer": labels,
            "score": score,
            "probability": probability,
            "conditional_probability": self.conditional_probability(
                score, triple[:, 1] + self.relations * of_head
            ),
            "certainty": [self.certainty(*kind) for kind in kinds],
            "known": self.known.contains(*triple.T),
            "trained": self.trained(triple),
            "trust": [trust_word(p) for p in probability],
            "note": self.notes(triple),
        }
        if not entropy:
            return frame(columns, COLUMNS)
        columns["entropy_change"] = [self.uncertainty(*kind) for kind in kinds]
        return frame(columns, COLUMNS | ENTROPY_COLUMN)

    def names(self, triples: Ids) -> dict[str, list[str]]:
        """Return the columns head, relation and tail of triples of ids, ``(N, 3)``."""
        return triple_names(self.data, triples)

    def trained(self, triples: Ids) -> NDArray[np.bool_]:
        """Return whether head, relation and tail all occur in training, ``(N,)``."""
        h, r, t = triples.T
        trained = self.trained_entities
        return trained[h] & self.trained_relations[r] & trained[t]

    def uncertainty(self, i: int, kind: str = "entity") -> float | None:
        """Return the entropy change of an entity or relation, None where the model has none."""
        entropy = self.entropy[kind]
        return None if entropy is None else float(entropy[i])

    @cached_property
    def certainty_groups(self) -> tuple[Ids, list[str]]:
        """Group of each entity among which its certainty is a percentile, and their names."""
        return certainty_groups(self.data)

    @cached_property
    def certainties(self) -> dict[str, Floats | None]:
        """Certainty of entities and of relations: percentiles, None where there is no entropy.

        What was fitted after training has a certainty by its number of facts: see
        `fitted_certainty`.
        """
        found = dict[str, Floats | None](self.entropy)
        if (entropy := self.entropy["entity"]) is not None:
            found["entity"] = percentile(-entropy, self.certainty_groups[0])
        if (entropy := self.entropy["relation"]) is not None:
            found["relation"] = percentile(-entropy[: self.relations])  # no inverse relations
        train, log = self.data.train, self.updates
        facts = (
            train.degrees(len(self.data.entities)),
            np.bincount(train.r, minlength=self.relations),
        )
        pairs = zip(("entity", "relation"), facts, (log.entities, log.relations), strict=True)
        for kind, counts, ids in pairs:
            if (values := found[kind]) is not None and ids:
                values[list(ids)] = fitted_certainty(counts, ids)
        return found

    def certainty(self, i: int, kind: str = "entity") -> float | None:
        """Return the certainty of an entity or a relation, 0 to 100, else None.

        It is the percentile among the entities of its type or degree, or among the relations.
        """
        found = self.certainties[kind]
        return None if found is None else float(found[i])

    def fitted(self, query: TripleQuery) -> str | None:
        """Return the first name in a query that was fitted after training, or None."""
        h, r, t = query.ids(self.data)
        names = [self.data.entities[i] for i in (h, t) if i in self.updates.entities]
        names += [self.data.relations[r]] if r in self.updates.relations else []
        return next(iter(names), None)

    def conditional_probability(self, score: Floats, r: Ids) -> Floats:
        """Return the probabilities ``(N,)`` of answers to queries that have an answer missing.

        They are the calibrated scores of one query; answers that are heads have the relation r⁻¹.
        """
        return self.calibration.probability(score, r)

    def probability(self, triples: Ids) -> list[float | None]:
        """Return the probability that triples of ids ``(N, 3)`` are true.

        It is one number for a triple, whichever query finds it (see `TruthModel`), and None for
        known triples, which are not in doubt, and without enough validation triples.
        """
        found: list[float | None] = [None] * len(triples)
        unknown = np.flatnonzero(~self.known.contains(*triples.T))
        if self.calibration.truth is not None and len(unknown):
            evidence = self.calibration.evidence(self.scorer, *triples[unknown].T)
            p = 1 / (1 + np.exp(-self.calibration.truth.log_odds(evidence)))
            for i, value in zip(unknown.tolist(), p.tolist(), strict=True):
                found[i] = value
        return found

    def notes(self, triples: Ids) -> list[str | None]:
        """Return what makes the probabilities of triples of ids ``(N, 3)`` doubtful, else None."""
        truth, known = self.calibration.truth, self.known.contains(*triples.T)
        if truth is None:
            return [None if k else FEW_FACTS for k in known.tolist()]
        h, r, t = triples.T
        added = np.isin(h, self.updates.entities) | np.isin(t, self.updates.entities)
        added |= np.isin(r, self.updates.relations)
        notes = np.where(np.array(truth.missing.facts)[r] == 0, NO_FACTS, "").astype(object)
        notes[added], notes[~self.trained(triples)], notes[known] = ADDED, UNTRAINED, ""
        return [note or None for note in notes.tolist()]

    def tensor(self, array: Ids) -> Tensor:
        """Copy an array of ids to the device of the model."""
        return self.scorer.tensor(array)
