"""Lookup and description of the entities and relations of a run, as JSON values."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kgflow.data import describe
from kgflow.errors import KgflowError
from kgflow.runs.answers import TripleQuery
from kgflow.runs.run import Run
from kgflow.search.transform import DistanceTransform, choose_transform
from kgflow.serving.name_index import NameIndex

Values = dict[str, Any]

MAX_SHOWN = 100
"""Largest number of characters of a name in an error message."""


class UnknownNameError(KgflowError):
    """A name that is not in the vocabulary of the run."""


class RunService:
    """Entities and relations of a run by name, label or id.

    Args:
        run: opened run.
    """

    def __init__(self, run: Run) -> None:
        self.run, self.data, self.predictor = run, run.data, run.predictor

    def warm_up(self) -> None:
        """Compute the caches for which the first request would have to wait."""
        _ = self.entity_names
        _ = self.predictor.known
        _ = self.predictor.entropy
        if len(self.data.relations):
            self.run.predict(head=self.data.entities[0], relation=self.data.relations[0], k=1)

    @cached_property
    def entity_names(self) -> NameIndex:
        """Names and labels of all entities."""
        data = self.data
        return NameIndex(data.entities.names, [data.label(i) for i in range(len(data.entities))])

    @cached_property
    def _ids_by_label(self) -> dict[str, list[int]]:
        ids: dict[str, list[int]] = {}
        for name, label in self.data.labels.items():
            if name in self.data.entities:
                ids.setdefault(label, []).append(self.data.entities.id(name))
        return ids

    @cached_property
    def types(self) -> frozenset[str]:
        """Types of all entities."""
        return frozenset(t for types in self.data.types.values() for t in types)

    def entity_id(self, text: str) -> int:
        """Return the id of an entity by its name, or by its label if that is unique."""
        if text in self.data.entities:
            return self.data.entities.id(text)
        ids = self._ids_by_label.get(text, [])
        if not ids and (found := self.data.entities.by_short_name(text)) is not None:
            return found
        if len(ids) > 1:
            first, second = (self.data.entities[i] for i in ids[:2])
            raise UnknownNameError(
                f"{shorten(text)} is the label of {first!r} and {second!r}: use the name"
            )
        if not ids:
            # Suggestions come from the name index: comparing with every name takes too long.
            similar = [self.data.label(i) for i in self.entity_names.search(text)[:3]]
            raise UnknownNameError(f"unknown entity {shorten(text)}{_hint(similar)}")
        return ids[0]

    def relation_id(self, text: str) -> int:
        """Return the id of a relation by its name or unique short name."""
        names = self.data.relations.names
        if text not in self.data.relations and self.data.relations.by_short_name(text) is None:
            similar = [names[i] for i in NameIndex(names, names).search(text)[:3]]
            raise UnknownNameError(f"unknown relation {shorten(text)}{_hint(similar)}")
        return self.data.relations.id(text)

    def check_types(self, types: list[str]) -> None:
        """Raise an error for a type that no entity has."""
        for name in types:
            if name not in self.types:
                raise UnknownNameError(f"no entity has type {shorten(name)}")

    def resolve_entity(self, text: str) -> int:
        """Return the id of an entity by name, label or id."""
        return _resolve(text, len(self.data.entities), self.entity_id)

    def resolve_relation(self, text: str) -> int:
        """Return the id of a relation by name or id."""
        return _resolve(text, len(self.data.relations), self.relation_id)

    def entity_summary(self, i: int) -> Values:
        """Return id, name, label and types of an entity."""
        name = self.data.entities[i]
        types = list(self.data.types.get(name, ()))
        return {"id": i, "name": name, "label": self.data.label(i), "types": types}

    def search_entities(self, text: str, limit: int, offset: int) -> tuple[int, list[int]]:
        """Return the number of entities that match a text, and the ids on one page of them.

        An empty text matches all entities, those with the most known triples first.
        """
        if not text:
            return len(self._by_degree), self._by_degree[offset : offset + limit].tolist()
        found = self.entity_names.search(text)
        return len(found), found[offset : offset + limit]

    @cached_property
    def _by_degree(self) -> NDArray[np.int64]:
        known, E = self.predictor.known, len(self.data.entities)
        degrees = np.bincount(known.h, weights=known.counts, minlength=E)
        return np.argsort(-degrees, kind="stable")

    def answer(
        self, queries: Sequence[TripleQuery], k: int, new: bool, types: Sequence[str]
    ) -> list[list[Values]]:
        """Return the k best answers to each query, as in `Run.predict`."""
        answers: list[list[Values]] = [[] for _ in queries]
        for row in self.predictor.predict(queries, k, new, types).iter_rows(named=True):
            answers[row["query"] - 1].append(row)
        return answers

    def score(self, triples: Sequence[tuple[str, str, str]]) -> list[Values]:
        """Return the rows of `Run.score`."""
        return self.run.score(triples).to_dicts()

    def describe_entities(
        self, ids: Sequence[int], limit: int, entropy: bool = False
    ) -> list[Values]:
        """Return entities with their known triples, certainty and neighbours."""
        return [self._describe_entity(i, limit, entropy) for i in ids]

    def _describe_entity(self, i: int, limit: int, entropy: bool) -> Values:
        group, groups = self.predictor.certainty_groups
        count, triples = self.known_triples(i, limit)
        measure, neighbours = self.neighbours(i, min(limit, 10))
        return self.entity_summary(i) | {
            "trained": bool(self.predictor.trained_entities[i]),
            "certainty": self.predictor.certainty(i),
            "certainty_among": groups[group[i]],
            "entropy_change": self.predictor.uncertainty(i) if entropy else None,
            "triple_count": count,
            "triples": triples,
            "measure": measure,
            "neighbours": [
                {"name": self.data.entities[j], "label": self.data.label(j), "value": value}
                for j, value in neighbours
            ],
        }

    def known_triples(self, i: int, limit: int) -> tuple[int, list[dict[str, str]]]:
        """Return the number of known triples of an entity, and some: as head, then as tail."""
        known, R = self.predictor.known, len(self.data.relations)
        queries = np.arange(*np.searchsorted(known.h, [i, i + 1]))
        position, tail, _ = known.gather(queries)
        r = known.r[queries][position]
        forward = r < R
        head, tail = np.where(forward, i, tail), np.where(forward, tail, i)
        triples = np.stack([head, r % R, tail], axis=1)[np.argsort(~forward, kind="stable")]
        shown = triples[:limit]
        columns = self.predictor.names(shown) | {
            "head_label": [self.data.label(h) for h in shown[:, 0]],
            "tail_label": [self.data.label(t) for t in shown[:, 2]],
        }
        values = zip(*columns.values(), strict=True)
        return len(triples), [dict(zip(columns, value, strict=True)) for value in values]

    @cached_property
    def _by_distance(self) -> bool:
        if self.run.model.interaction is not None:
            return True
        transform = choose_transform(self.predictor.embedding_keys, exhaustive=True)
        return isinstance(transform, DistanceTransform)

    @torch.no_grad()
    def neighbours(self, i: int, k: int) -> tuple[str, list[tuple[int, float]]]:
        """Return the k nearest entities with the values of a measure, after its name.

        The measure is the distance of key vectors (for Wasserstein models that of the
        distributions), or their cosine where scores are inner products.
        """
        keys = self.predictor.embedding_keys
        own, _ = keys.encode(keys.table[i : i + 1])
        similarity = _negative_distance if self._by_distance else _cosine
        values = torch.cat([similarity(own, K[:, :-2]) for _, _, K in keys.key_blocks()])
        values[i] = -torch.inf
        best = values.topk(min(k, len(values) - 1))
        sign = -1 if self._by_distance else 1
        found = zip(best.indices.tolist(), (sign * best.values).tolist(), strict=True)
        return "distance" if self._by_distance else "cosine", list(found)

    @cached_property
    def relation_statistics(self) -> list[Values]:
        """Statistics of every relation in the training split."""
        return [
            {"id": i, **asdict(r), "certainty": self.predictor.certainty(i, "relation")}
            for i, r in enumerate(describe(self.data).by_relation)
        ]

    def describe_run(self) -> Values:
        """Return model, settings, sizes and metrics of the run, without any path."""
        config, data = self.run.config, self.data
        return {
            "data": data.name,
            "entities": len(data.entities),
            "relations": len(data.relations),
            "triples": {split: len(data.split(split)) for split in ("train", "valid", "test")},
            "types": sorted(self.types),
            "model": config.model.model_dump(),
            "training": config.training.model_dump(),
            "best_epoch": None if config.model.members else self.run.best_epoch,
            "metrics": self.run.metrics,
            "kgflow": config.run.kgflow,
        }


def shorten(name: str) -> str:
    """Return a name, quoted and shortened for an error message."""
    return repr(name if len(name) <= MAX_SHOWN else name[: MAX_SHOWN - 1] + "…")


def _hint(similar: list[str]) -> str:
    return f"; did you mean {', '.join(similar)}?" if similar else ""


def _resolve(text: str, count: int, by_name: Callable[[str], int]) -> int:
    try:
        return by_name(text)
    except UnknownNameError:
        if text.isascii() and text.isdigit() and len(text) < 19 and int(text) < count:
            return int(text)
        raise


def _negative_distance(own: Tensor, K: Tensor) -> Tensor:
    return -torch.cdist(own, K)[0]


def _cosine(own: Tensor, K: Tensor) -> Tensor:
    return torch.cosine_similarity(own, K)
