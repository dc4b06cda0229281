"""What an entity's missing facts may be."""

from typing import TYPE_CHECKING

import numpy as np

from kgflow.runs.answers import TripleQuery
from kgflow.serving.catalogue import Catalogue

if TYPE_CHECKING:
    import polars as pl

NEAR = 10
"""Neighbours whose relations are asked about too."""

SHARED = 2
"""How many neighbours must have a relation for that."""

ASKED = 60
"""Questions, at most."""

EACH = 5
"""Answers to each question, at most."""


def suggestions(catalogue: Catalogue, entity: int, k: int) -> "pl.DataFrame":
    """The k most probable facts about an entity and another that are not known.

    It is asked about the relations that it has itself, on either side, and about those that several
    of its neighbours in the embedding have: others are foreign to it. Columns as of `Run.predict`,
    and which part was "asked".
    """
    import polars as pl

    data, predictor = catalogue.data, catalogue.predictor
    name, R = data.entities[entity], len(data.relations)
    questions = [
        TripleQuery(head=name, relation=data.relations[d])
        if d < R
        else TripleQuery(relation=data.relations[d - R], tail=name)
        for d in fitting(catalogue, entity)
    ]
    found = predictor.predict(questions, EACH, new=True)
    asked = ["head" if questions[i - 1].head is None else "tail" for i in found["query"]]
    found = found.with_columns(pl.Series("asked", asked, dtype=pl.String))
    found = found.filter(pl.col("head") != pl.col("tail"))
    return found.sort("probability", "score", descending=True, maintain_order=True).head(k)


def fitting(catalogue: Catalogue, entity: int) -> list[int]:
    """The relations and inverse_relations that fit an entity, most usual first."""
    _, near = catalogue.neighbours(entity, NEAR)
    own = _used(catalogue, entity)
    around = np.concatenate([own[:0], *(_used(catalogue, i) for i, _ in near)])
    ids, count = np.unique(around, return_counts=True)
    often = ids[count >= SHARED][np.argsort(-count[count >= SHARED], kind="stable")]
    return list(dict.fromkeys([*own.tolist(), *often.tolist()]))[:ASKED]


def _used(catalogue: Catalogue, entity: int) -> "np.ndarray":
    """The relations, and inverse_relations, of which an entity is head."""
    known = catalogue.predictor.known
    return known.r[slice(*np.searchsorted(known.h, [entity, entity + 1]))]
