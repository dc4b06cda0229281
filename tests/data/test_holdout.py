"""Validation triples are split into selection and held-out triples."""

import numpy as np
import pytest

from kgflow.data import Triples, hold_out
from kgflow.data.holdout import MIN_TRIPLES


def facts(size):
    rng = np.random.default_rng(0)
    return Triples(np.arange(size), rng.integers(0, 3, size), rng.integers(0, 9, size))


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_the_parts_are_a_partition_of_the_share(share):
    whole = facts(101)
    selection, kept = hold_out(whole, share, seed=4)
    assert len(kept) == int(share * 101)
    both = np.concatenate([selection.array(), kept.array()])
    assert sorted(both.tolist()) == sorted(whole.array().tolist())


def test_a_seed_draws_always_alike_and_another_differently():
    whole = facts(60)
    drawn = [hold_out(whole, 0.5, seed).held_out.array().tolist() for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_of_few_facts_all_choose():
    assert len(hold_out(facts(MIN_TRIPLES - 1), 0.5, 0).held_out) == 0
    assert len(hold_out(facts(MIN_TRIPLES), 0.5, 0).held_out) == MIN_TRIPLES // 2
    assert len(hold_out(Triples.empty(), 0.5, 0).selection) == 0
