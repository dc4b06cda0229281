import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgflow.data import Triples
from kgflow.errors import KgflowError

any_triples = st.from_type(Triples)


def rows(triples):
    return [tuple(row) for row in triples.array().tolist()]


@given(any_triples)
def test_unique_keeps_first_places_and_largest_weights(triples):
    kept, merged = triples.unique()
    best = {}
    for row, weight in zip(rows(triples), triples.weights(), strict=True):
        best[row] = max(weight, best.get(row, 0))
    assert rows(kept) == list(best)
    assert merged == len(triples) - len(best)
    assert kept.weights().tolist() == list(best.values())
    assert (kept.weight is None) == (triples.weight is None)


@given(any_triples, any_triples)
def test_concatenate_keeps_rows_and_counts_missing_weights_as_one(a, b):
    both = Triples.concatenate([a, b])
    assert rows(both) == rows(a) + rows(b)
    assert both.weights().tolist() == [*a.weights(), *b.weights()]


@given(any_triples)
def test_keys_sort_like_triples(triples):
    order = np.argsort(triples.keys(6, 3), kind="stable")
    assert rows(triples.take(order)) == sorted(rows(triples))


@given(any_triples)
def test_the_inverse_of_the_inverse_is_the_triples(triples):
    back = triples.inverse(3).inverse(-3)
    assert rows(back) == rows(triples)


@given(any_triples)
def test_masks_mark_what_occurs(triples):
    assert set(np.flatnonzero(triples.entity_mask(6))) == {*triples.h, *triples.t}
    assert set(np.flatnonzero(triples.relation_mask(3))) == {*triples.r}


def test_concatenating_nothing_is_empty():
    assert len(Triples.concatenate([])) == 0


def test_a_graph_beyond_64_bits_is_refused():
    with pytest.raises(KgflowError, match="64-bit"):
        Triples.of([(10**9 - 1, 0, 0)]).keys(entities=10**9, relations=100)
