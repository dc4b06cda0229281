"""Paired comparison: the laws of the difference and of its interval."""

import numpy as np
import pytest

from kgflow.analysis.comparison import Comparison, bootstrap
from kgflow.errors import KgflowError
from kgflow.evaluation import Ranking


def ranking(ranks, seed=0, relations=3):
    """Ranks ``(F, 2)`` of the tail and head sides of some facts, in a random order."""
    facts = len(ranks)
    h, t, r = np.arange(facts), np.arange(facts) + facts, np.arange(facts) % relations
    columns = [
        np.concatenate([h, t]),
        np.concatenate([r, r + relations]),
        np.concatenate([t, h]),
        *[np.concatenate([ranks[:, 0], ranks[:, 1]])] * 2,
        np.full(2 * facts, 100),
    ]
    order = np.random.default_rng(seed).permutation(2 * facts)
    return Ranking.of([c[order] for c in columns], relations)


def random_ranks(facts=40, seed=0):
    return np.random.default_rng(seed).integers(1, 20, (facts, 2))


def test_a_model_compared_with_itself_differs_by_nothing():
    ranks = random_ranks()
    found = Comparison(ranking(ranks, 1), ranking(ranks, 2))
    assert (found.difference.mean, found.difference.low, found.difference.high) == (0, 0, 0)
    assert not found.difference.significant
    assert (found.wins, found.ties, found.losses) == (0, 80, 0)
    assert all(row.contribution == 0 for row in found.by_relation(9))


def test_the_order_of_answers_does_not_matter_and_turning_round_turns_the_sign():
    first, second = random_ranks(seed=1), random_ranks(seed=2)
    one = Comparison(ranking(first, 1), ranking(second, 2))
    other = Comparison(ranking(first, 3), ranking(second, 4))
    assert one.difference == other.difference
    back = Comparison(ranking(second), ranking(first))
    assert back.difference.mean == pytest.approx(-one.difference.mean, abs=1e-15)
    assert (back.wins, back.losses) == (one.losses, one.wins)


def test_the_difference_is_that_of_the_mrrs():
    a, b = ranking(random_ranks(seed=1)), ranking(random_ranks(seed=2))
    gap = b.metrics()["realistic"].mrr - a.metrics()["realistic"].mrr
    found = Comparison(a, b)
    assert found.difference.mean == pytest.approx(gap)
    rows = found.by_relation(9)
    assert sum(row.contribution for row in rows) == pytest.approx(gap)
    parts = [abs(row.contribution) for row in rows]
    assert parts == sorted(parts, reverse=True)
    assert sum(row.answers for row in rows) == len(a)


def test_the_bootstrap_is_a_loop_over_its_draws(monkeypatch):
    values = np.random.default_rng(5).normal(size=30)
    found = bootstrap(values, resamples=200, seed=3)
    rng, means = np.random.default_rng(3), []
    for _ in range(200):
        drawn = [values[i] for i in rng.integers(0, 30, 30)]
        means.append(sum(drawn) / 30)
    assert [found.low, found.high] == pytest.approx(list(np.quantile(means, [0.025, 0.975])))
    monkeypatch.setattr("kgflow.analysis.comparison.MAX_DRAWS", 64)
    assert bootstrap(values, resamples=200, seed=3) == found


def test_the_interval_covers_the_truth_as_often_as_it_says():
    # Both sides of a fact share most of their noise: separate sampling is too confident.
    rng, truth, trials, covered, naive = np.random.default_rng(0), 0.2, 250, 0, 0
    for trial in range(trials):
        shared = rng.normal(truth, 1, 80)
        sides = shared[:, None] + rng.normal(0, 0.1, (80, 2))
        found = bootstrap(sides.mean(1), resamples=400, seed=trial)
        covered += found.low <= truth <= found.high
        apart = bootstrap(sides.ravel(), resamples=400, seed=trial)
        naive += apart.low <= truth <= apart.high
    assert 0.91 <= covered / trials <= 0.98
    assert naive / trials < 0.88


def test_different_queries_are_refused():
    with pytest.raises(KgflowError, match="different queries"):
        Comparison(ranking(random_ranks(4)), ranking(random_ranks(5)))
