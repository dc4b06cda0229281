"""The validation split is a partition, determined by its seed."""

import numpy as np
import pytest

from kgflow.data import Triples, split_validation
from kgflow.data.splits import MIN_TRIPLES


def facts(size):
    rng = np.random.default_rng(0)
    return Triples(np.arange(size), rng.integers(0, 3, size), rng.integers(0, 9, size))


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_the_parts_are_a_partition_of_the_share(share):
    whole = facts(101)
    selection, conformal = split_validation(whole, share, seed=4)
    assert len(conformal) == int(share * 101)
    both = np.concatenate([selection.array(), conformal.array()])
    assert sorted(both.tolist()) == sorted(whole.array().tolist())


def test_the_seed_determines_the_split():
    whole = facts(60)
    drawn = [split_validation(whole, 0.5, seed).conformal.array().tolist() for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_few_triples_are_all_used_for_selection():
    assert len(split_validation(facts(MIN_TRIPLES - 1), 0.5, 0).conformal) == 0
    assert len(split_validation(facts(MIN_TRIPLES), 0.5, 0).conformal) == MIN_TRIPLES // 2
    assert len(split_validation(Triples.empty(), 0.5, 0).selection) == 0
