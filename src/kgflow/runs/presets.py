"""Presets: complete settings for a graph, chosen by its statistics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kgflow.config import PRESETS, Experiment, expand, merge
from kgflow.data import Dataset
from kgflow.data.statistics import MANY
from kgflow.errors import KgflowError, suggest
from kgflow.runs.build import complete
from kgflow.runs.recipes import RECIPES

FEW_ANSWERS = 2.0
"""Mean number of answers of a query below which distances with DURA beat inner products with N3.

It is 1.7 for wn18rr and world, 2.3 for half of a graph of packages, where they do not.
"""
FEW_RELATIONS = 5
"""Relations below which distances are better on small graphs: .736 and .565 on countries-s2."""
MANY_FACTS = 10.0
"""Training facts per entity from which a small graph needs a weaker regularizer."""
FILLED = 0.1
"""Share of all entities among the answers of a query from which binary cross entropy is better."""
FEW_ENTITIES = 5_000
"""Entities up to which the cross entropy over all of them costs no more than over a sample."""
ENTITY_COST = 3
"""Cost of an entity in checkpoints and validations, in training facts."""
WEIGHT_FACTOR = 3
"""Factor of the weaker and the stronger regularizer in a race."""
MANY_RELATIONS = 100
"""Relations from which relation prediction is worth its time in a long training."""


@dataclass(frozen=True)
class GraphStatistics:
    """Sizes of a graph that decide on its recipe.

    Args:
        entities: Number of entities E.
        relations: Number of relations.
        facts: Number of training facts.
        queries: Number of distinct queries (h, r) and (t, r⁻¹) in training.
        valid: Number of validation facts.
        many_to_many: Share of training facts whose relation is N-N.
        confidences: Whether training facts have confidences.
    """

    entities: int
    relations: int
    facts: int
    queries: int
    valid: int = 0
    many_to_many: float = 0.0
    confidences: bool = False

    @classmethod
    def of(cls, data: Dataset) -> GraphStatistics:
        """Compute the statistics of a data set.

        Example:
            >>> from kgflow.data import load
            >>> found = GraphStatistics.of(load("world"))
            >>> found.entities, found.facts, round(found.facts_per_query, 1)
            (1281, 2974, 1.7)
        """
        index = data.queries("train")
        queries = np.bincount(index.r, minlength=index.relations)
        facts = np.bincount(index.r, index.counts, minlength=index.relations)
        tails, heads = np.split(facts / np.maximum(queries, 1), 2)
        many = facts[: len(tails)][(tails >= MANY) & (heads >= MANY)].sum()
        return cls(
            entities=len(data.entities),
            relations=len(data.relations),
            facts=len(data.train),
            queries=len(index),
            valid=len(data.valid),
            many_to_many=float(many / max(1, len(index.tails) // 2)),
            confidences=data.train.weight is not None,
        )

    @property
    def size(self) -> int:
        """Facts and entities, as far as they determine the time of an epoch."""
        return self.facts + ENTITY_COST * self.entities

    @property
    def facts_per_entity(self) -> float:
        """Number of training facts for each entity."""
        return self.facts / max(1, self.entities)

    @property
    def facts_per_query(self) -> float:
        """Mean number of known answers of a query."""
        return 2 * self.facts / max(1, self.queries)

    @property
    def filled(self) -> float:
        """Share of all entities that are known answers of a query, in the mean."""
        return self.facts_per_query / max(1, self.entities)


def ranking(graph: GraphStatistics, preset: str = "auto") -> list[str]:
    """Return the recipes that may suit a graph, the most probable first.

    Example:
        >>> ranking(GraphStatistics(entities=40_943, relations=11, facts=86_835, queries=120_000))
        ['sparse', 'sparse-quaternion', 'dense']
        >>> ranking(GraphStatistics(entities=14, relations=55, facts=1_592, queries=900))
        ['filled', 'filled-point', 'small-dense']
    """
    if preset == "paper":
        return ["paper"]
    if graph.filled >= FILLED:
        return ["filled", "filled-point", "small-dense"]
    sparse = graph.facts_per_query < FEW_ANSWERS
    if graph.entities <= FEW_ENTITIES and (sparse or graph.relations < FEW_RELATIONS):
        return ["small-sparse", "small", "small-dense"]
    if graph.entities <= FEW_ENTITIES and graph.facts_per_entity >= MANY_FACTS:
        return ["small-dense", "small-dense-complex", "filled"]
    if graph.entities <= FEW_ENTITIES:
        return ["small", "small-complex", "small-sparse"]
    if sparse:
        return ["sparse", "sparse-quaternion", "dense"]
    # Relation prediction needs many epochs and relations.
    if preset == "best" and graph.relations >= MANY_RELATIONS:
        return ["relations", "dense"]
    return ["dense", "sparse"]


class Candidate(NamedTuple):
    """An experiment, its name in a race, and the preset that its run records."""

    name: str
    experiment: Experiment
    preset: str = ""


def candidates(
    values: Mapping[str, Any], preset: str | None, data: Dataset, source: str, race: bool = False
) -> list[Candidate]:
    """Return the experiments of a preset: one, several for an ensemble, or all for a race.

    Without a preset, settings of the model mean that its defaults are wanted.

    Args:
        values: Nested settings that a user gave, which override those of the preset.
        preset: Name of the preset, or None.
        data: Data set to train on.
        source: Where the settings come from, for error messages.
        race: Whether the best of several recipes is to be found.

    Example:
        >>> from kgflow.data import load
        >>> world = load("world")
        >>> (found,) = candidates({"data": "world", "seed": 1}, None, world, "here")
        >>> found.preset, found.experiment.model.name, found.experiment.seed
        ('auto/small-sparse', 'nfe-1-complex', 1)
        >>> (found,) = candidates({"data": "world", "model": {"dim": 8}}, None, world, "here")
        >>> found.preset, found.experiment.model.name
        ('', 'nfe-1')
    """
    if preset is None and values.get("model"):
        experiment = complete(values, source)
        return [Candidate(experiment.model.name, experiment)]
    preset = preset or "auto"
    if preset not in PRESETS:
        known = suggest(preset, PRESETS) or f"; known are {', '.join(PRESETS)}"
        raise KgflowError(f"unknown preset '{preset}'{known}")
    graph = GraphStatistics.of(data)
    names = ranking(graph, preset)
    found = []
    for name in names if race else names[: 2 if preset == "best" else 1]:
        settings = expand(RECIPES[name].at(graph.size, preset))
        if "name" in values.get("model", {}):
            settings["model"].pop("bidirectional", None)  # which not every model has
        experiment = complete(merge(settings, values), source)
        found.append(Candidate(name, experiment, f"{preset}/{name}"))
    if race and "regularizer" not in values.get("training", {}):
        found[1:1] = _other_weights(found[0])
    return found


def _other_weights(candidate: Candidate) -> list[Candidate]:
    """Return an experiment with a weaker and with a stronger regularizer, if it has one.

    Of all settings, its weight changes the results of a graph the most.
    """
    name, experiment, preset = candidate
    weight = getattr(experiment.training.regularizer, "weight", None)
    if weight is None:
        return []
    found = []
    for word, factor in (("weak", 1 / WEIGHT_FACTOR), ("strong", WEIGHT_FACTOR)):
        changed = {"training": {"regularizer": {"weight": round(weight * factor, 6)}}}
        other = complete(merge(experiment.model_dump(), changed), name)
        found.append(Candidate(f"{name}-{word}", other, f"{preset}-{word}"))
    return found
