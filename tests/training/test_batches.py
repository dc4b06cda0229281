"""Batches: every query once, sizes counted in triples, an order of their own each epoch."""

import numpy as np
import pytest

from graphs import random_graph
from kgflow.training import batches


@pytest.mark.parametrize("size", [1, 7, 50, 10_000])
def test_every_query_once_and_about_size_triples(size):
    index = random_graph(entities=40, facts=400).queries("train")
    order = batches(index, size, seed=3, epoch=0)
    assert sorted(np.concatenate(order).tolist()) == list(range(len(index)))
    triples = [int(index.counts[rows].sum()) for rows in order]
    assert max(triples) < size + int(index.counts.max())
    steps = -(-len(index.tails) // size)
    assert len(order) <= steps
    if size >= index.counts.max():
        assert len(order) >= steps - 1


def test_order_depends_on_seed_and_epoch_only():
    index = random_graph().queries("train")
    same = [np.concatenate(batches(index, 9, seed=1, epoch=2)).tolist() for _ in range(2)]
    other = [np.concatenate(batches(index, 9, *x)).tolist() for x in ((1, 3), (2, 2))]
    assert same[0] == same[1]
    assert same[0] not in other
