"""The graphs that are measured on: the real ones, or random ones of their size."""

import os
from pathlib import Path

import numpy as np

from kgflow.data import Dataset, Triples, Vocabulary, load

SIZES = {
    "wn18rr": (40_943, 11, 86_835, 3_134),
    "fb15k-237": (14_541, 237, 272_115, 20_466),
}


def graph(name):
    """A named benchmark if it is on this machine, else a random graph of the same size."""
    if name.startswith("random-"):
        entities, facts = map(int, name.split("-")[1:])
        return synthetic(name, entities, 10, facts, 100)
    if (Path(os.environ.get("KGFLOW_DATA", "")) / name).is_dir():
        return load(name)
    return synthetic(f"{name} (synthetic)", *SIZES[name])


def synthetic(name, entities, relations, facts, test):
    """Facts at random, heads and tails drawn with a long tail, as in real graphs."""
    rng = np.random.default_rng(0)
    skew = rng.permutation(entities)

    def draw(size):
        return skew[(entities * rng.random(size) ** 1.5).astype(np.int64)]

    def triples(size):
        return Triples(draw(size), rng.integers(0, relations, size), draw(size)).unique()[0]

    return Dataset(
        name,
        Vocabulary([f"e{i}" for i in range(entities)]),
        Vocabulary([f"r{i}" for i in range(relations)], kind="relation"),
        train=triples(facts),
        test=triples(test),
    )
