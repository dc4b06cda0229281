"""Presets: complete settings for a graph, chosen by its statistics from a table of recipes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from kgflow.config import PRESETS, Experiment, expand, merge
from kgflow.data import Dataset
from kgflow.data.statistics import MANY
from kgflow.errors import KgflowError, suggest
from kgflow.runs.build import complete

SCALES = {"fast": (0.5, 0.5), "auto": (1.0, 1.0), "best": (2.0, 1.5), "paper": (1.0, 1.0)}
"""Factors of the dimension and of the epochs."""


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
            >>> found.entities, found.facts, round(found.facts_per_entity, 1)
            (1281, 2974, 2.3)
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
    def facts_per_entity(self) -> float:
        """Mean number of training facts of an entity, each counted once."""
        return self.facts / max(1, self.entities)

    @property
    def facts_per_query(self) -> float:
        """Mean number of known answers of a query."""
        return 2 * self.facts / max(1, self.queries)

    @property
    def filled(self) -> float:
        """Share of all entities that are known answers of a query, in the mean."""
        return self.facts_per_query / max(1, self.entities)


Settings = dict[str, Any]
"""Settings by dotted key."""

INFINITE = float("inf")
DENSE = 4.5
"""Training facts per entity from which inner products with N3 beat distances with DURA."""
FILLED = 0.1
"""Share of all entities among the answers of a query from which binary cross entropy is better."""
FEW_ENTITIES = 5_000
"""Entities up to which the cross entropy over all of them costs no more than over a sample."""
WEIGHT_FACTOR = 3
"""Factor of the weaker and the stronger regularizer in a race."""
MANY_RELATIONS = 100
"""Relations from which relation prediction is worth its time in a long training."""
AVERAGED = 5
"""Number of last epochs that the moving average of the weights covers, about."""


class Size(NamedTuple):
    """Dimension, epochs and batch size for graphs up to a number of training facts."""

    facts: float
    dim: int
    epochs: int
    batch_size: int


@dataclass(frozen=True)
class Recipe:
    """Settings that were best on some graphs, with sizes for small and large ones.

    Args:
        evidence: Where the settings come from.
        sizes: Sizes by the number of training facts, ascending.
        settings: All other settings by dotted key; those that are missing have their defaults.
    """

    evidence: str
    sizes: Sequence[Size]
    settings: Mapping[str, Any]

    def at(self, graph: GraphStatistics, preset: str = "auto") -> Settings:
        """Return the settings for a graph, at the scale of a preset.

        Example:
            >>> wordnet = GraphStatistics(40_943, 11, 86_835, queries=100_000)
            >>> RECIPES["sparse"].at(wordnet, "fast")["model.dim"]
            128
        """
        larger, longer = SCALES[preset]
        size = next(size for size in self.sizes if graph.facts <= size.facts)
        epochs = max(1, round(size.epochs * longer))
        every = max(1, epochs // 8)
        common = {
            "model.dim": max(8, int(size.dim * larger) // 8 * 8),
            "training.epochs": epochs,
            "training.batch_size": size.batch_size,
            "training.ema_decay": ema_decay(epochs),
            "training.validate_every": every,
            "training.patience": 3,
        }
        return common | dict(self.settings)


def ema_decay(epochs: int) -> float:
    """Return a decay of the moving average of weights that suits the number of epochs.

    Example:
        >>> [ema_decay(epochs) for epochs in (4, 10, 25, 100)]
        [0.0, 0.5, 0.8, 0.9]
    """
    return round(min(0.9, max(0.0, 1 - AVERAGED / epochs)), 2)


def _cross_entropy(
    model: str, lr: float, regularizer: tuple[str, float], loss: Mapping[str, Any]
) -> Settings:
    """Return what recipes with a cross entropy have in common."""
    return {
        "model.name": model,
        "model.bidirectional": True,
        **{f"training.loss.{key}": value for key, value in loss.items()},
        "training.loss.dropout": 0.0,
        "training.regularizer.name": regularizer[0],
        "training.regularizer.weight": regularizer[1],
        "training.optimizer.name": "adagrad",
        "training.optimizer.lr": lr,
        "training.lr_schedule.decay": 1.0,
    }


# Every size: facts up to, dimension, epochs, batch size.
SMALL = [Size(3_000, 256, 40, 50), Size(20_000, 256, 60, 100), Size(INFINITE, 512, 24, 500)]
INNER = [
    Size(600_000, 512, 16, 2000),
    Size(3_000_000, 128, 8, 4000),
    Size(INFINITE, 64, 4, 8000),
]
DISTANCE = [
    Size(300_000, 256, 16, 1000),
    Size(3_000_000, 96, 8, 4000),
    Size(INFINITE, 48, 4, 8000),
]
LONGER = [Size(size.facts, size.dim, 2 * size.epochs, size.batch_size) for size in INNER]
BCE = [Size(INFINITE, 128, 80, 64)]

ALL = {"name": "softmax"}
SAMPLE, LARGER_SAMPLE = (
    {"name": "sampled-softmax", "num_negatives": number} for number in (2048, 4096)
)

RECIPES: Mapping[str, Recipe] = MappingProxyType(
    {
        "filled": Recipe(
            "nations: .833 on test (docs/results/small.md); with cross entropy .773 on validation",
            BCE,
            {"model.name": "nfe-1"},
        ),
        "filled-point": Recipe(
            "nations: .832 on test (docs/results/small.md)", BCE, {"model.name": "nfe-point"}
        ),
        "small": Recipe(
            "codex-s: .480 on validation (codex-s/bidirectional-complex-flow of the benchmarks)",
            SMALL,
            _cross_entropy("complex-flow", 0.1, ("n3", 0.01), ALL),
        ),
        "small-complex": Recipe(
            "codex-s: .484 on validation (codex-s/bidirectional-complex of the benchmarks)",
            SMALL,
            _cross_entropy("complex", 0.1, ("n3", 0.01), ALL),
        ),
        "small-sparse": Recipe(
            "world: .83 on validation, .82 with the recipe small",
            SMALL,
            _cross_entropy("nfe-1-complex", 0.2, ("dura", 0.1), ALL),
        ),
        "dense": Recipe(
            "fb15k-237: .352 on validation after 10 epochs (docs/results/notes.md)",
            INNER,
            _cross_entropy("complex-flow", 0.2, ("n3", 0.05), SAMPLE),
        ),
        "relations": Recipe(
            "fb15k-237: .378 on validation after 60 epochs with n = 1024, behind dense before 20"
            " (fb15k-237/relations-complex of the benchmarks)",
            LONGER,
            _cross_entropy("complex", 0.2, ("n3", 0.05), SAMPLE)
            | {"training.relation_prediction_weight": 4.0},
        ),
        "sparse": Recipe(
            "wn18rr: .477 on validation after 12 epochs with n = 192, .495 after 30 with n = 384"
            " (wn18rr/bidirectional-nfe-1-complex of the benchmarks)",
            DISTANCE,
            _cross_entropy("nfe-1-complex", 0.3, ("dura", 0.3), LARGER_SAMPLE),
        ),
        "sparse-quaternion": Recipe(
            "wn18rr: .487 on validation after 24 epochs with n = 512 (docs/results/notes.md)",
            DISTANCE,
            _cross_entropy("nfe-1-quaternion", 0.3, ("dura", 0.3), LARGER_SAMPLE),
        ),
        "paper": Recipe(
            "Tables 6 and 7 of the paper; fb15k-237: .345 on test, .355 in the paper"
            " (docs/results/notes.md)",
            [Size(INFINITE, 1024, 50, 1024)],
            {
                "model.name": "nfe-1",
                "training.batches": "facts",
                "training.ema_decay": 0.0,
                "training.loss.margin": 2.0,
                "training.loss.dropout": 0.0,
                "training.optimizer.lr": 0.001,
                "training.lr_schedule.decay": 0.93,
            },
        ),
    }
)
"""Recipes by name."""


def ranking(graph: GraphStatistics, preset: str = "auto") -> list[str]:
    """Return the recipes that may suit a graph, the most probable first.

    Example:
        >>> ranking(GraphStatistics(entities=40_943, relations=11, facts=86_835, queries=120_000))
        ['sparse', 'sparse-quaternion', 'dense']
        >>> ranking(GraphStatistics(entities=14, relations=55, facts=1_592, queries=900))
        ['filled', 'filled-point', 'small']
    """
    if preset == "paper":
        return ["paper"]
    if graph.filled >= FILLED:
        return ["filled", "filled-point", "small"]
    sparse = graph.facts_per_entity < DENSE
    if graph.entities <= FEW_ENTITIES:
        best = "small-sparse" if sparse else "small"
        return [best, *(x for x in ("small-complex", "small", "small-sparse") if x != best)]
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
        settings = expand(RECIPES[name].at(graph, preset))
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
