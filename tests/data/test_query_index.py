from collections import defaultdict

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kgflow.data import QueryIndex, Triples

E, R = 6, 3
any_triples = st.from_type(Triples)
any_pairs = st.lists(st.tuples(st.integers(0, E - 1), st.integers(0, 2 * R - 1)), max_size=12)


def naive(triples, inverse_relations=True):
    """{(h, r): {tail: largest weight}}, by a plain loop."""
    answers = defaultdict(dict)
    for (h, r, t), weight in zip(triples.array().tolist(), triples.weights(), strict=True):
        for query, tail in [((h, r), t)] + [((t, r + R), h)] * inverse_relations:
            answers[query][tail] = max(weight, answers[query].get(tail, 0))
    return answers


def columns(pairs):
    return np.array(pairs, dtype=np.int64).reshape(-1, 2).T


@given(any_triples, st.booleans())
def test_index_is_the_dictionary_of_sets(triples, inverse_relations):
    index = QueryIndex.build(triples, E, R, inverse_relations)
    expected = naive(triples, inverse_relations)
    assert list(zip(index.h.tolist(), index.r.tolist(), strict=True)) == sorted(expected)
    for row, query in enumerate(sorted(expected)):
        part = slice(index.offsets[row], index.offsets[row + 1])
        assert index.tails[part].tolist() == sorted(expected[query])
        if triples.weight is not None:
            assert dict(zip(index.tails[part], index.weights[part], strict=True)) == expected[query]
    assert index.relations == (2 * R if inverse_relations else R)
    assert index.counts.sum() == len(index.tails) == index.offsets[-1]
    assert (index.weights is None) == (triples.weight is None)


@given(any_triples, any_pairs)
def test_find_and_gather_answer_like_the_dictionary(triples, pairs):
    index, expected = QueryIndex.build(triples, E, R), naive(triples)
    rows = index.find(*columns(pairs))
    assert [row >= 0 for row in rows] == [pair in expected for pair in pairs]
    position, tails, weights = index.gather(rows)
    found = [(p, t) for p, pair in enumerate(pairs) for t in sorted(expected.get(pair, {}))]
    assert list(zip(position.tolist(), tails.tolist(), strict=True)) == found
    if weights is not None:
        assert weights.tolist() == [expected[pairs[p]][t] for p, t in found]


@given(any_triples)
def test_contains_agrees_with_the_dictionary(triples):
    index, expected = QueryIndex.build(triples, E, R), naive(triples)
    h, r, t = np.indices((E, 2 * R, E)).reshape(3, -1)
    facts = [b in expected.get((a, q), {}) for a, q, b in zip(h, r, t, strict=True)]
    assert index.contains(h, r, t).tolist() == facts


@given(any_triples)
def test_inverse_queries_have_the_heads_as_answers(triples):
    index = QueryIndex.build(triples, E, R)
    h, r, t = np.indices((E, R, E)).reshape(3, -1)
    assert (index.contains(h, r, t) == index.contains(t, r + R, h)).all()


@given(any_triples)
def test_building_does_not_change_the_triples(triples):
    before = triples.array()
    QueryIndex.build(triples, E, R)
    assert (triples.array() == before).all()


def test_no_triples_give_no_queries():
    index = QueryIndex.build(Triples.empty(), 0, 0)
    assert len(index) == 0
    assert index.find([0], [0]).tolist() == [-1]
    assert index.gather([-1])[1].tolist() == []
    assert index.contains([0], [0], [0]).tolist() == [False]
