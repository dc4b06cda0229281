"""Answer sets hold the answer as often as promised: no less, no more."""

import numpy as np
import pytest
import torch

from graphs import random_graph, random_model
from kgflow.errors import KgflowError
from kgflow.evaluation import rank
from kgflow.runs.answers import TripleQuery
from kgflow.runs.prediction_set import prediction_set
from kgflow.runs.predictor import Predictor
from kgflow.uncertainty import (
    AdaptiveScore,
    Conformal,
    MinMaxScore,
    NegativeScore,
    RankScore,
    SoftmaxScore,
    check_coverage,
    coverage_of_ranks,
    fit_conformal,
    measure_coverage,
)
from kgflow.uncertainty.coverage import Coverage, design_effect
from kgflow.uncertainty.nonconformity import RegularizedAdaptiveScore

CUMULATIVE = {
    "rank": RankScore(),
    "aps": AdaptiveScore(0.7),
    "raps": RegularizedAdaptiveScore(0.7, penalty=0.1),
}
POINTWISE = {"score": NegativeScore(), "minmax": MinMaxScore(), "softmax": SoftmaxScore(0.7)}
KINDS = CUMULATIVE | POINTWISE
ENTITIES = 12


def firsts(S):
    """Ids of the answers, which are the first candidates."""
    return torch.zeros(len(S), dtype=torch.int64)


def questions(size, rng, skill=1.0, ties=True):
    """Scores, most with many ties, the answer's own a little better than others'."""
    S = rng.integers(0, 4, (size, ENTITIES)) + (0.0 if ties else rng.random((size, ENTITIES)))
    S[:, 0] += skill * rng.integers(0, 3, size)
    S[rng.random(S.shape) < 0.2] = -np.inf
    answer = 1.0 if ties else 1 + rng.random(size)
    S[:, 0] = np.where(np.isfinite(S[:, 0]), S[:, 0], answer)
    return torch.from_numpy(S), torch.from_numpy(rng.random(size))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [4, 30])
@pytest.mark.parametrize("coverage", [0.5, 0.9])
def test_coverage_is_the_promise_exactly(kind, size, coverage):
    rng, nonconformity, draws = np.random.default_rng(1), KINDS[kind], 4000
    S, u = questions(draws * (size + 1), rng, ties=kind in CUMULATIVE)
    V = nonconformity(S, firsts(S), u).numpy().reshape(draws, size + 1)
    zero = np.zeros(size, int)
    inside = [
        v[-1] <= Conformal(zero, zero, zero, v[:-1]).threshold(0, coverage, rng.random()) for v in V
    ]
    error = (coverage * (1 - coverage) / draws) ** 0.5
    assert abs(np.mean(inside) - coverage) < 3.5 * error


@pytest.mark.parametrize("kind", ["score", "minmax"])
def test_with_ties_coverage_is_at_least_the_promise(kind):
    rng, nonconformity = np.random.default_rng(1), POINTWISE[kind]
    S, u = questions(4000 * 11, rng)
    V = nonconformity(S, firsts(S), u).numpy().reshape(4000, 11)
    zero = np.zeros(10, int)
    inside = [
        v[-1] <= Conformal(zero, zero, zero, v[:-1]).threshold(0, 0.5, rng.random()) for v in V
    ]
    assert np.mean(inside) > 0.5


@pytest.mark.parametrize("kind", CUMULATIVE)
def test_by_relation_each_relation_keeps_the_promise(kind):
    rng, nonconformity, draws, sizes = np.random.default_rng(2), KINDS[kind], 300, (60, 8, 7)
    inside = np.zeros((draws, 3))
    r = np.repeat([0, 1, 2], sizes)
    for row in inside:
        drawn = [questions(n, rng, float(g == 0)) for g, n in enumerate(sizes)]
        parts = [nonconformity(S, firsts(S), u).numpy() for S, u in drawn]
        conformal = Conformal(r, r, r, np.concatenate(parts), by_relation=True)
        assert conformal.groups(0.8).keys() == {0, -1}
        assert len(conformal.groups(0.8)[-1]) == 15
        for g in range(3):
            S, u = questions(1, rng, float(g == 0))
            row[g] = float(nonconformity(S, firsts(S), u)) <= conformal.threshold(
                g, 0.8, rng.random()
            )
    error = (0.8 * 0.2 / draws) ** 0.5
    assert np.abs(inside.mean(0) - 0.8).max() < 3.5 * error


@pytest.mark.parametrize("kind", CUMULATIVE)
def test_a_set_is_a_naive_loops(kind):
    rng, nonconformity = np.random.default_rng(3), CUMULATIVE[kind]
    S, u = questions(50, rng)
    limit = torch.from_numpy(rng.uniform(0, 3, 50))
    limit[:3] = torch.tensor([-torch.inf, torch.inf, 1e9])
    ordered = S.sort(dim=1, descending=True).values
    inside = nonconformity.within(ordered, limit, u)
    for i in range(50):
        mass, total, wanted = nonconformity.mass(ordered[i : i + 1])[0], 0.0, []
        for e in range(ENTITIES):
            real = bool(torch.isfinite(ordered[i, e]))
            wanted.append(real and bool(total + u[i] * mass[e] <= limit[i]))
            total += float(mass[e])
        assert inside[i].tolist() == wanted
        # The best ones, without a gap.
        assert wanted == sorted(wanted, reverse=True)
    assert nonconformity.sizes(S, limit, u).tolist() == inside.sum(1).tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_a_set_has_the_candidates_with_smaller_values(kind):
    """A candidate is in the set where it would be covered if it were the answer."""
    rng, nonconformity = np.random.default_rng(5), KINDS[kind]
    S, u = questions(40, rng, ties=False)
    limit = nonconformity(S, firsts(S), u) + 1e-9
    S, order = S.sort(dim=1, descending=True)
    inside = nonconformity.within(S, limit, u)
    for place in range(ENTITIES):
        real = torch.isfinite(S[:, place])
        t = torch.full((40,), place)
        covered = real & (nonconformity(S, t, u) <= limit)
        assert (covered == inside[:, place]).all()
    assert inside[order == 0].all()
    assert (nonconformity.sizes(S, limit, u) == inside.sum(1)).all()


def test_values_of_the_published_scores():
    S = torch.tensor([[3.0, -torch.inf, 1.0, 0.0]])
    t, u = torch.tensor([2]), torch.tensor([0.5])
    assert NegativeScore()(S, t, u).item() == -1
    assert MinMaxScore()(S, t, u).item() == pytest.approx(-1 / 3)
    p = np.exp([3, 1, 0]) / np.exp([3, 1, 0]).sum()
    assert SoftmaxScore()(S, t, u).item() == pytest.approx(-np.log(p[1]))
    assert AdaptiveScore()(S, t, u).item() == pytest.approx(p[0] + p[1] / 2)
    found = RegularizedAdaptiveScore(penalty=0.1)(S, t, u).item()
    assert found == pytest.approx(p[0] + p[1] / 2 + 0.15)


def test_ties_are_broken_evenly():
    """An answer's V is uniform over the places of its equals, so a set holds each as often."""
    S, u = torch.tensor([[2.0, 1.0, 1.0, 1.0, 0.0]]), torch.linspace(0, 1, 101).double()
    V = RankScore()(S.expand(101, 5), torch.ones(101, dtype=int), u)
    assert V.min() == 1
    assert V.max() == 4
    torch.testing.assert_close(V, 1 + 3 * u)


DATA = random_graph(entities=30, facts=400, relations=2, held_out=60)
MODEL = random_model("nfe-1", DATA, dtype=torch.float32)


@pytest.mark.parametrize("kind", CUMULATIVE)
def test_sets_of_questions_leave_known_facts_out_and_come_back_alike(kind):
    known, nonconformity = DATA.queries(), KINDS[kind]
    conformal = fit_conformal(MODEL, nonconformity, DATA.queries("valid"), known)
    predictor = Predictor(MODEL, DATA, 1.0)
    small, large, again = (
        prediction_set(predictor, conformal, TripleQuery("e1", "r0"), c) for c in (0.3, 0.8, 0.8)
    )
    assert large.answers.equals(again.answers)
    assert not large.answers["known"].any()
    names = large.answers["tail"].to_list()
    assert small.answers["tail"].to_list() == names[: len(small)]
    best = predictor.predict([TripleQuery("e1", "r0")], 30, new=True)
    assert names == best["tail"].to_list()[: len(names)]
    assert large.answers["score"].to_list() == pytest.approx(best["score"].to_list()[: len(names)])
    assert (large.held_out, large.by_relation) == (120, False)
    assert "0.8" in str(large)
    with pytest.raises(KgflowError, match="ask with a relation"):
        prediction_set(predictor, conformal, TripleQuery("e1", tail="e2"), 0.8)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("by_relation", [False, True])
def test_a_random_model_keeps_its_promise_on_test(kind, by_relation):
    known, nonconformity = DATA.queries(), KINDS[kind]
    conformal = fit_conformal(MODEL, nonconformity, DATA.queries("valid"), known, by_relation)
    found = measure_coverage(MODEL, conformal, DATA.queries("test"), known, 0.8).to_dict(
        ("r0", "r1")
    )
    assert found["low"] <= found["measured"] <= found["high"]
    assert found["low"] < 0.8 < found["high"]
    assert found["answers"] == sum(g["count"] for g in found["by"].values()) == 120
    assert found["size"]["median"] >= 10


@pytest.mark.parametrize("coverage", [0.01, 0.5, 0.8, 0.999])
@pytest.mark.parametrize("ties", [False, True])
def test_ranks_tell_the_coverage_of_sets_by_rank(coverage, ties):
    model = random_model("nfe-1", DATA)
    if ties:
        with torch.no_grad():
            model.entity.weight[::2] = model.entity.weight[:1]
    known, questions = DATA.queries(), DATA.queries("test")
    conformal = fit_conformal(model, RankScore(), DATA.queries("valid"), known, by_relation=True)
    slow = measure_coverage(model, conformal, questions, known, coverage)
    quick = coverage_of_ranks(rank(model, questions, known), conformal, coverage)
    for name in ("h", "r", "t", "covered", "size"):
        assert np.array_equal(getattr(slow, name), getattr(quick, name)), name


def test_the_interval_is_the_beta_binomials():
    from scipy import stats

    n, m = 200, 300
    rng, ids = np.random.default_rng(0), np.arange(300)
    conformal = Conformal(ids[:n], ids[:n] * 0, ids[:n] + 1, rng.random(n))
    covered = rng.random(m) < 0.9
    found = Coverage(0.9, conformal, ids, ids * 0, ids + 1, covered, ids, relations=1)
    exact = stats.betabinom(m, 0.9 * (n + 1), 0.1 * (n + 1)).ppf([0.005, 0.995]) / m
    assert found.interval() == pytest.approx(tuple(exact), abs=0.006)


def test_the_design_effect_is_that_of_clusters():
    """Sums of k equal answers to a question have k times the variance of as many free ones."""
    rng, k, size = np.random.default_rng(0), 3, 4000
    h = np.repeat(np.arange(size), k)
    t, r = np.arange(size * k), np.zeros(size * k, int)
    inside = np.repeat(rng.random(size) < 0.7, k)
    assert design_effect(h, r, t, inside, 1) == pytest.approx(k)
    free = rng.random(size * k) < 0.7
    assert design_effect(h, r, t, free, 1) == pytest.approx(1, abs=0.1)
    assert design_effect(h, r, t, free | True, 1) == 1


def test_absurd_coverages_are_refused():
    for coverage in (0.0, 1.0, -0.1, float("nan")):
        with pytest.raises(KgflowError, match="between 0 and 1"):
            check_coverage(coverage)
