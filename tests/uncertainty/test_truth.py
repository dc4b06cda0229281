"""The probability that a triple is true is a frequency, although most missing ones are unmarked."""

import numpy as np
import pytest
from scipy.special import expit, logit

from graphs import random_graph, random_model
from kgflow.data import QueryIndex, Triples
from kgflow.evaluation import Scorer
from kgflow.uncertainty import (
    Calibration,
    Evidence,
    MissingAnswers,
    TruthModel,
    fit_truth,
    sample_triples,
)
from kgflow.uncertainty.calibrators import Identity
from kgflow.uncertainty.stiffness import choose_stiffness, fit_map
from kgflow.uncertainty.unlabelled import SETTINGS

ENTITIES = 400


def capitals_and_members(seed=0):
    """Facts of a functional relation 0 and of a relation 1 with many answers, in random order."""
    rng = np.random.default_rng(seed)
    capitals = [(h, 0, ENTITIES - 1 - h) for h in range(150)]
    members = [(h, 1, t) for h in range(0, 40, 2) for t in rng.choice(ENTITIES, 60, replace=False)]
    facts = np.array(capitals + members)
    return Triples.of(facts[rng.permutation(len(facts))].tolist())


def index(triples):
    return QueryIndex.build(triples, ENTITIES, 2)


def test_a_functional_relation_with_its_answer_misses_none():
    facts = capitals_and_members()
    missing = MissingAnswers.fit(index(facts.take(slice(150, None))), index(facts.take(slice(150))))
    share = 150 / (len(facts) - 150)
    empty, full = missing.expected(np.array([0, 0]), np.array([0, 1]))
    assert full < 0.02 < empty
    # With n known answers, n times the share of removed facts is missing.
    found = missing.expected(np.array([1, 1]), np.array([50, 60]))
    assert found == pytest.approx(np.array([50, 60]) * share, rel=0.3)


def test_relations_without_evidence_get_the_mean_of_their_like():
    facts = capitals_and_members()
    known, removed = facts.take(slice(150, None)), facts.take(slice(150))
    rare = Triples.of([(0, 2, 1), (1, 2, 2)])
    both = Triples.concatenate([known, rare])
    missing = MissingAnswers.fit(*(QueryIndex.build(x, ENTITIES, 3) for x in (both, removed)))
    assert missing.facts[2] == 0
    of_rare, of_capitals = missing.expected(np.array([2, 0]), np.array([1, 1]))
    assert of_rare == pytest.approx(of_capitals, abs=0.02)


def test_the_sample_stands_for_all_triples_that_are_not_known():
    data = random_graph(entities=60, facts=400, held_out=40)
    known, removed = data.queries("train"), data.queries("valid")
    sample = sample_triples(Scorer(random_model("nfe-1", data), known), removed, queries=90)
    assert not known.contains(sample.h, sample.r, sample.t).any()
    truth = data.queries("valid").contains(sample.h, sample.r, sample.t)
    assert (truth == sample.removed).all()
    total = 60 * 60 * len(data.relations) - len(data.train)
    assert sample.weight.sum() == pytest.approx(total, rel=0.02)
    assert sample.weight[sample.removed].sum() == pytest.approx(len(data.valid), rel=0.1)


def simulate(rng, size, marked):
    """Evidence for triples, whether they are marked as removed, and whether they are missing."""
    r, x = rng.integers(0, 2, size), rng.normal(-3, 2.5, (size, 2))
    true = rng.random(size) < expit(0.9 * x[:, 0] + 0.4 * x[:, 1] + 1.0 * r)
    marks = true & (rng.random(size) < marked)
    # Known answers say nothing here.
    one = np.ones((size, 2), dtype=int)
    return Evidence(r, x, one, np.zeros((size, 2)), np.zeros(size)), marks, true


def test_probabilities_are_those_of_missing_triples_not_of_marked_ones():
    rng = np.random.default_rng(0)
    # As many are missing as are marked, and the others are known: they are not in the sample.
    evidence, marked, true = simulate(rng, 60_000, 0.5)
    missing = MissingAnswers.fit(index(capitals_and_members()), index(Triples.of([(0, 0, 1)])))
    found = TruthModel.fit(evidence, marked, np.ones(len(marked)), 1.0, missing)
    fresh, marked, true = simulate(rng, 60_000, 0.5)
    missing_now = true & ~marked
    p = expit(found.log_odds(fresh.take(~marked)))
    kept = p > 0.01
    bins = (10 * p[kept]).astype(int)
    gap = np.bincount(bins, p[kept] - missing_now[~marked][kept])
    assert np.abs(gap).sum() / kept.sum() < 0.02


def test_it_increases_strictly_with_the_score_of_either_query():
    rng = np.random.default_rng(1)
    evidence, marked, _ = simulate(rng, 5_000, 0.5)
    missing = MissingAnswers.fit(index(capitals_and_members()), index(Triples.of([(0, 0, 1)])))
    found = TruthModel.fit(evidence, marked, np.ones(len(marked)), 1.0, missing)
    grid, one = np.linspace(-12, 8, 200), np.ones((200, 2), dtype=int)
    for side in (0, 1):
        odds = np.full((200, 2), logit(0.1))
        odds[:, side] = grid
        at = Evidence(one[:, 0], odds, one, 0.0 * one, np.zeros(200))
        assert (np.diff(expit(found.log_odds(at))) > 0).all()
    assert TruthModel.model_validate_json(found.model_dump_json()) == found


def choose(size, f, seed=0):
    """Cross-validated settings where the log-odds are f of relation and log-odds of both sides."""
    rng = np.random.default_rng(seed)
    r, x = rng.integers(0, 2, size), rng.normal(-3, 2.5, (size, 2))
    marked = rng.random(size) < expit(f(r, x)) / 2
    one = np.ones((size, 2), dtype=int)
    evidence = Evidence(r, x, one, np.zeros((size, 2)), np.zeros(size))
    missing = MissingAnswers.fit(index(capitals_and_members()), index(Triples.of([(0, 0, 1)])))
    query = rng.integers(0, 200, size)
    return choose_stiffness(evidence, marked, np.ones(size), 1.0, missing, query)


def test_a_simple_model_is_chosen_where_it_is_true():
    setting, calibrator = choose(600, lambda r, x: 0.5 * x.sum(axis=1) - 2)
    assert setting.precision == max(each.precision for each in SETTINGS)
    assert calibrator == Identity()


def test_a_flexible_model_is_chosen_where_it_is_needed():
    def bent(r, x):
        return 3 * r - 3 + 2 * np.minimum(x[:, 0] + 3, 0) + 0.1 * x[:, 1]

    setting, _ = choose(15_000, bent)
    assert setting.knots > 1
    assert setting.spread >= 0.5


def test_the_map_calibrates_log_odds():
    rng = np.random.default_rng(0)
    odds = rng.normal(-1, 2, 40_000)
    p = expit(2 * odds + 1)
    # Half of the missing triples are marked; the other half is in the sample, unmarked.
    true, half = rng.random(40_000) < p, rng.random(40_000) < 0.5
    mapped = expit(fit_map(odds, true & half, np.ones(40_000), 1.0)(odds))
    unmarked = ~(true & half)
    expected = (p / 2 / (1 - p / 2))[unmarked]
    assert np.abs(mapped[unmarked] - expected).mean() < 0.02


def test_rates_of_groups_without_queries_stay_finite():
    known = Triples.of([(h, r, t) for r in range(3) for h in range(9) for t in range(10, 20 + r)])
    removed = Triples.of([(h, 0, t) for h in (20, 21, 22) for t in range(10, 17)])
    missing = MissingAnswers.fit(*(QueryIndex.build(x, 40, 3) for x in (known, removed)))
    assert np.array(missing.rates).max() < 10


@pytest.fixture(scope="module")
def fitted():
    """A graph without self-loops of relation 0; its scorer and calibration."""
    data = random_graph(entities=40, relations=2, facts=500, held_out=60)
    keep = (data.train.h != data.train.t) | (data.train.r > 0)
    loops = Triples.of([(5, 1, 5)])
    known = data.index(Triples.concatenate([data.train.take(keep), loops]))
    model = random_model("nfe-1", data)
    removed, left_out = data.queries("valid"), data.queries("test")
    found = fit_truth(Calibration(margin=0.0), model, known, removed, 1.0, left_out=left_out)
    return Scorer(model, known), found


def test_relations_without_self_loops_hardly_lack_one(fitted):
    scorer, found = fitted
    h = np.arange(40)
    p = expit([found.truth_log_odds(found.evidence(scorer, h, np.full(40, r), h)) for r in (0, 1)])
    assert p[0].max() < 0.01 < p[1].max()
    for r in (0, 1):
        assert expit(np.diag(found.rows(scorer, h, r))) == pytest.approx(p[r])


def test_triples_left_out_are_neither_known_nor_candidates():
    data = random_graph(entities=40, relations=2, facts=500, held_out=60)
    known, removed, left_out = (data.queries(split) for split in ("train", "valid", "test"))
    scorer = Scorer(random_model("nfe-1", data), known)
    sample = sample_triples(scorer, removed, left_out=left_out)
    plain = sample_triples(scorer, removed)
    is_out = left_out.contains(plain.h, plain.r, plain.t)
    assert is_out.any()
    assert not left_out.contains(sample.h, sample.r, sample.t).any()
    assert len(sample) == (~is_out).sum()
