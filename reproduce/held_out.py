"""Entities held out of a graph with all their facts, to be added to a trained model later."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kgflow.data import SPLITS, Dataset, Triples

Ids = NDArray[np.int64]
Names = tuple[str, str, str]

MIN_FACTS = 12
"""Smallest number of facts of a held-out entity."""
MAX_GIVEN = 10
"""Largest number of facts that a held-out entity is added with."""
MAX_OTHERS = 20
"""Largest number of other facts of an entity that are ranked, so that hubs do not dominate."""
SHARE, MAX_SHARE = 0.05, 0.1
"""Fraction of the entities that are held out, and largest fraction of those with enough facts."""


@dataclass(frozen=True, eq=False)
class HeldOut:
    """A graph without some entities, and the facts of these with entities that remain.

    Args:
        base: the graph without the held-out entities.
        entities: names of the held-out entities.
        given: up to `MAX_GIVEN` facts of each entity, in random order.
        others: further facts of each entity, to be ranked.
    """

    base: Dataset
    entities: tuple[str, ...]
    given: tuple[tuple[Names, ...], ...]
    others: tuple[tuple[Names, ...], ...]

    def facts(self, count: int) -> list[Names]:
        """Return the first facts of every held-out entity."""
        return [fact for facts in self.given for fact in facts[:count]]

    @property
    def ranked(self) -> list[Names]:
        """The facts that are ranked."""
        return [fact for facts in self.others for fact in facts]


def hold_out(data: Dataset, draw: int = 0, seed: int = 0) -> HeldOut:
    """Take some entities out of a graph with all their facts.

    Entities are drawn among those with `MIN_FACTS` facts or more: 5 % of all entities, but at most
    10 % of those, so that graphs of few hubs keep most of them. Facts between two of them are left
    out altogether.

    Args:
        data: graph.
        draw: 0 for the entities that are tested, 1 for others, on which settings are chosen.
        seed: random seed.

    Example:
        >>> from kgflow.data import load
        >>> held_out = hold_out(load("world"))
        >>> len(held_out.entities), len(held_out.base.entities) < len(load("world").entities)
        (15, True)
    """
    rng, E = np.random.default_rng(seed), len(data.entities)
    facts = Triples.concatenate([data.split(split) for split in SPLITS])
    enough = np.flatnonzero(facts.degrees(E) >= MIN_FACTS)
    count = min(round(SHARE * E), int(MAX_SHARE * len(enough)))
    chosen = rng.permutation(enough)[draw * count : (draw + 1) * count]
    out = np.zeros(E, dtype=bool)
    out[chosen] = True
    facts = facts.take(rng.permutation(len(facts)))
    base = _without(data, out)
    pairs = [_of_entity(facts, entity, out, data, base) for entity in chosen.tolist()]
    kept = [
        (data.entities[e], f)
        for e, f in zip(chosen.tolist(), pairs, strict=True)
        if len(f) > MAX_GIVEN
    ]
    return HeldOut(
        base,
        tuple(name for name, _ in kept),
        tuple(tuple(f[:MAX_GIVEN]) for _, f in kept),
        tuple(tuple(f[MAX_GIVEN : MAX_GIVEN + MAX_OTHERS]) for _, f in kept),
    )


def _without(data: Dataset, out: NDArray[np.bool_]) -> Dataset:
    """Return the data set without some entities, and without names that training lacks then."""
    train = data.train.take(~(out[data.train.h] | out[data.train.t]))
    entities = train.entity_mask(len(data.entities))
    relations = train.relation_mask(len(data.relations))
    found = data.select(np.flatnonzero(entities), np.flatnonzero(relations))
    return replace(found, notices=(), duplicates={})


def _of_entity(
    facts: Triples, entity: int, out: NDArray[np.bool_], data: Dataset, base: Dataset
) -> Sequence[Names]:
    """Return the facts of a held-out entity whose other entity and relation remain."""
    mine = (facts.h == entity) | (facts.t == entity)
    one = out[facts.h] != out[facts.t]
    found = []
    for h, r, t in facts.take(mine & one).array().tolist():
        names = data.entities[h], data.relations[r], data.entities[t]
        other = names[2] if h == entity else names[0]
        if other in base.entities and names[1] in base.relations:
            found.append(names)
    return found
