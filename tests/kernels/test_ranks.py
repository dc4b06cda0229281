"""Ranks and top-k against naive loops, on scores with many ties."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kgflow.kernels import EncodedEntities, ExactSearch, filtered_ranks


def plain(rows):
    return rows, torch.zeros(len(rows), dtype=rows.dtype)


@st.composite
def ranking_problems(draw):
    B, E = draw(st.integers(1, 4)), draw(st.integers(2, 9))
    S = draw(st.lists(st.integers(-2, 2), min_size=B * E, max_size=B * E))
    known = draw(st.sets(st.tuples(st.integers(0, B - 1), st.integers(0, E - 1)), min_size=1))
    answers = draw(st.sets(st.sampled_from(sorted(known)), min_size=1))
    return torch.tensor(S, dtype=torch.float64).view(B, E), sorted(answers), sorted(known)


def pairs(places):
    return tuple(torch.tensor(column) for column in zip(*places, strict=True))


@given(ranking_problems())
@settings(max_examples=200, deadline=None)
def test_filtered_ranks_against_a_loop(problem):
    S, answers, known = problem
    expected = []
    for row, column in answers:
        free = [e for e in range(S.shape[1]) if (row, e) not in known]
        better = sum(S[row, e] > S[row, column] for e in free)
        tied = sum(S[row, e] == S[row, column] for e in free)
        expected.append((1 + better, 1 + better + tied, 1 + len(free)))
    got = filtered_ranks(S.clone(), pairs(answers), pairs(known))
    assert [tuple(x) for x in torch.stack(got, 1).tolist()] == [
        tuple(map(int, x)) for x in expected
    ]


@pytest.mark.parametrize("block", [1, 3, 64])
@pytest.mark.parametrize("k", [1, 4, 50])
def test_top_k_against_a_full_sort(block, k):
    torch.manual_seed(0)
    Q, a, K = torch.randn(5, 3), torch.randn(5), torch.randn(20, 3)
    excluded = torch.tensor([0, 0, 3]), torch.tensor([2, 7, 7])
    allowed = torch.arange(20) % 3 > 0
    S = Q @ K.T + a[:, None]
    S[excluded] = -torch.inf
    S[:, ~allowed] = -torch.inf
    best = ExactSearch(EncodedEntities(K, plain, block=block))(Q, a, k, excluded, allowed)
    want = S.sort(dim=1, descending=True).values[:, :k]
    torch.testing.assert_close(best.score, want)
    real = best.score > -torch.inf
    torch.testing.assert_close(S.gather(1, best.entity)[real], best.score[real])


def test_keys_are_encoded_once_as_far_as_they_may_be_cached():
    K, calls = torch.eye(8), []

    def encode(rows):
        calls.append(len(rows))
        return plain(rows)

    # Five columns in blocks of three entities: the first block fits, the second does not.
    entities = EncodedEntities(K[:, :3], encode, cache=20, block=3)
    first, again = (entities.scores(K[:2, :3], torch.zeros(2)) for _ in range(2))
    assert torch.equal(first, again)
    assert calls == [3, 3, 2, 3, 2]


def test_scores_do_not_depend_on_blocks():
    torch.manual_seed(0)
    Q, a, K = torch.randn(5, 3).double(), torch.randn(5).double(), torch.randn(20, 3).double()
    whole = EncodedEntities(K, plain).scores(Q, a)
    torch.testing.assert_close(EncodedEntities(K, plain, block=3).scores(Q, a), whole)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_scores_that_are_not_finite_raise(bad):
    K = torch.zeros(4, 2)
    K[2, 1] = bad
    with pytest.raises(FloatingPointError, match="not a number"):
        EncodedEntities(K, plain).scores(torch.ones(1, 2), torch.zeros(1))
