"""What a run knows of its entities and relations, as plain values."""

from collections.abc import Callable
from dataclasses import asdict
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kgflow.data import describe
from kgflow.errors import KgflowError
from kgflow.runs.run import Run
from kgflow.search.space import Distance, find_space
from kgflow.serving.names import Names

SHOWN = 100
"""Letters of a name that a sentence repeats."""


class UnknownNameError(KgflowError):
    """A name that the run does not hold."""


class Catalogue:
    """Entities and relations of a run, by name, label or number."""

    def __init__(self, run: Run) -> None:
        self.run, self.data, self.predictor = run, run.data, run.predictor

    @cached_property
    def names(self) -> Names:
        """All entities, to be searched."""
        data = self.data
        return Names(data.entities.names, [data.label(i) for i in range(len(data.entities))])

    @cached_property
    def _labelled(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for name, label in self.data.labels.items():
            if name in self.data.entities:
                found.setdefault(label, []).append(self.data.entities.id(name))
        return found

    @cached_property
    def types(self) -> frozenset[str]:
        """Every type that an entity has."""
        return frozenset(t for types in self.data.types.values() for t in types)

    def entity_id(self, text: str) -> int:
        """By name or, if no name is so, by a label that only it has."""
        if text in self.data.entities:
            return self.data.entities.id(text)
        named = self._labelled.get(text, [])
        if len(named) > 1:
            first, second = (self.data.entities[i] for i in named[:2])
            raise UnknownNameError(
                f"{shorten(text)} is the label of {first!r} and {second!r}: ask by name"
            )
        if not named:
            # Suggestions come from the index of names: comparing with every one takes too long.
            near = ", ".join(self.data.label(i) for i in self.names.search(text)[:3])
            hint = f"; did you mean {near}?" if near else ""
            raise UnknownNameError(f"unknown entity {shorten(text)}{hint}")
        return named[0]

    def relation_id(self, text: str) -> int:
        """By name."""
        if text not in self.data.relations:
            known = Names(self.data.relations.names, self.data.relations.names).search(text)[:3]
            near = ", ".join(self.data.relations[i] for i in known)
            hint = f"; did you mean {near}?" if near else ""
            raise UnknownNameError(f"unknown relation {shorten(text)}{hint}")
        return self.data.relations.id(text)

    def check_types(self, types: list[str]) -> None:
        """Refuse a type that no entity has."""
        for name in types:
            if name not in self.types:
                raise UnknownNameError(f"no entity has type {shorten(name)}")

    def entity_key(self, text: str) -> int:
        """By name, by label, or by number."""
        return _numbered(text, len(self.data.entities), self.entity_id)

    def relation_key(self, text: str) -> int:
        """By name, or by number."""
        return _numbered(text, len(self.data.relations), self.relation_id)

    def entity(self, i: int) -> dict[str, Any]:
        """An entity in a line."""
        name = self.data.entities[i]
        types = list(self.data.types.get(name, ()))
        return {"id": i, "name": name, "label": self.data.label(i), "types": types}

    def find_entities(self, query: str, limit: int, offset: int) -> tuple[int, list[int]]:
        """How many entities a search finds, and a page of them; all for an empty query.

        Without a query those with the most facts come first.
        """
        if not query:
            return len(self._frequent), self._frequent[offset : offset + limit].tolist()
        found = self.names.search(query)
        return len(found), found[offset : offset + limit]

    @cached_property
    def _frequent(self) -> NDArray[np.int64]:
        facts = np.bincount(
            self.predictor.known.h,
            weights=self.predictor.known.counts,
            minlength=len(self.data.entities),
        )
        return np.argsort(-facts, kind="stable")

    def about_entity(self, i: int, limit: int) -> dict[str, Any]:
        """An entity with its facts, uncertainty and neighbours."""
        count, facts = self.facts(i, limit)
        measure, near = self.neighbours(i, min(limit, 10))
        return self.entity(i) | {
            "trained": bool(self.predictor.trained_entities[i]),
            "uncertainty": self.predictor.uncertainty(i),
            "surer": self.surer(i),
            "fact_count": count,
            "facts": facts,
            "measure": measure,
            "neighbours": [{"name": self.data.entities[j], "label": self.data.label(j), "value": v}
                           for j, v in near],
        }  # fmt: skip

    def surer(self, i: int) -> float | None:
        """The share of entities that are more uncertain, where the model knows uncertainty."""
        entropy = self.predictor.entropy["entity"]
        return None if entropy is None else float((entropy > entropy[i]).mean())

    @cached_property
    def percentiles(self) -> list[float] | None:
        """The uncertainty below which 0, 1, … 100 % of entities are, where the model knows one."""
        entropy = self.predictor.entropy["entity"]
        return None if entropy is None else np.percentile(entropy, np.arange(101)).tolist()

    def facts(self, i: int, limit: int) -> tuple[int, list[dict[str, str]]]:
        """How many facts an entity stands in, and some of them: as head first, then as tail."""
        known, R = self.predictor.known, len(self.data.relations)
        rows = np.arange(*np.searchsorted(known.h, [i, i + 1]))
        position, tail, _ = known.gather(rows)
        r = known.r[rows][position]
        forward = r < R
        head, tail = np.where(forward, i, tail), np.where(forward, tail, i)
        triples = np.stack([head, r % R, tail], axis=1)[np.argsort(~forward, kind="stable")]
        columns = self.predictor.names(triples[:limit]) | self.labels(triples[:limit])
        rows_of = zip(*columns.values(), strict=True)
        return len(triples), [dict(zip(columns, row, strict=True)) for row in rows_of]

    def labels(self, triples: NDArray[np.int64]) -> dict[str, list[str]]:
        """The labels of heads and tails, ``(N, 3)``."""
        h, _, t = triples.T
        label = self.data.label
        return {"head_label": [label(i) for i in h], "tail_label": [label(i) for i in t]}

    @cached_property
    def _near_by_distance(self) -> bool:
        keys = self.predictor.embedding_keys
        return self.run.model.interaction is not None or isinstance(
            find_space(keys, True), Distance
        )

    @torch.no_grad()
    def neighbours(self, i: int, k: int) -> tuple[str, list[tuple[int, float]]]:
        """The entities whose keys are nearest to those of one, and by what measure.

        The distance of keys (for Wasserstein models that of the distributions), or their cosine
        where scores are inner products.
        """
        keys = self.predictor.embedding_keys
        own, _ = keys.encode(keys.table[i : i + 1])
        near = _closeness if self._near_by_distance else _cosine
        values = torch.cat([near(own, K[:, :-2]) for _, _, K in keys.key_blocks()])
        values[i] = -torch.inf
        best = values.topk(min(k, len(values) - 1))
        sign = -1 if self._near_by_distance else 1
        found = zip(best.indices.tolist(), (sign * best.values).tolist(), strict=True)
        return "distance" if self._near_by_distance else "cosine", list(found)

    @cached_property
    def relations(self) -> list[dict[str, Any]]:
        """Statistics of every relation in training."""
        found = describe(self.data).by_relation
        return [
            {"id": i, **asdict(r), "uncertainty": self.predictor.uncertainty(i, "relation")}
            for i, r in enumerate(found)
        ]

    def about_run(self) -> dict[str, Any]:
        """The run without any path: model, settings, sizes and metrics."""
        config, data = self.run.config, self.data
        sizes = {split: len(data.split(split)) for split in ("train", "valid", "test")}
        return {
            "data": data.name,
            "entities": len(data.entities),
            "relations": len(data.relations),
            "facts": sizes,
            "types": sorted(self.types),
            "uncertainty": self.percentiles,
            "model": config.model.model_dump(),
            "training": config.training.model_dump(),
            "best_epoch": None if self.run.config.model.members else self.run.best_epoch,
            "metrics": self.run.metrics,
            "kgflow": config.run.kgflow,
        }


def shorten(name: str) -> str:
    """A name as a sentence can show it, whatever is in it."""
    return repr(name if len(name) <= SHOWN else name[: SHOWN - 1] + "…")


def _numbered(text: str, count: int, by_name: Callable[[str], int]) -> int:
    try:
        return by_name(text)
    except UnknownNameError:
        if text.isascii() and text.isdigit() and len(text) < 19 and int(text) < count:
            return int(text)
        raise


def _closeness(own: Tensor, K: Tensor) -> Tensor:
    return -torch.cdist(own, K)[0]


def _cosine(own: Tensor, K: Tensor) -> Tensor:
    return torch.cosine_similarity(own, K)
