"""Probabilities are frequencies, and never change an order."""

import numpy as np
import pytest
from pydantic import ValidationError
from scipy.special import expit

from graphs import ALL_MODELS, random_graph, random_model
from kgflow.uncertainty import (
    Beta,
    Calibration,
    CandidateScores,
    Identity,
    Platt,
    Reliability,
    Spline,
    calibrate,
    compare_reliability,
    score_candidates,
)
from kgflow.uncertainty import candidates as module

MARGIN = 1.0


def drawn(log_odds, facts=400, others=20, seed=0, relations=1):
    """Candidates that are true by chance, with these log-odds of their z.

    A question has one true answer: candidates are drawn until each side has enough.
    """
    rng = np.random.default_rng(seed)
    z = rng.normal(-1, 2, 60 * facts)
    truth = rng.random(len(z)) < expit(log_odds(z))
    share = truth.mean() / (1 - truth.mean())
    true = rng.choice(z[truth], facts)
    other = rng.choice(z[~truth], (facts, others))
    # As many false candidates for each true one as there are in truth.
    weight = np.full(other.shape, 1 / share / others)
    ids = np.arange(facts)
    return CandidateScores(ids, ids % relations, ids, true - MARGIN, other - MARGIN, weight)


GRID = np.linspace(-8, 6, 200)


@pytest.mark.parametrize("kind", [Platt, Beta, Spline])
def test_a_known_logistic_map_is_found(kind):
    candidates = drawn(lambda z: 1.7 * z - 0.6, facts=20_000, others=10)
    score, truth, weight = candidates.flatten()
    found = kind.fit(score + MARGIN, truth, weight)
    inner = np.linspace(-2, 2, 9)
    assert expit(found(inner)) == pytest.approx(expit(1.7 * inner - 0.6), abs=0.03)


def test_identity_stays_where_scores_are_calibrated_and_goes_where_not():
    assert isinstance(calibrate(drawn(lambda z: z), MARGIN).common, Identity)
    learned = calibrate(drawn(lambda z: 0.4 * z + 1, facts=800), MARGIN)
    assert not isinstance(learned.common, Identity)
    fresh = drawn(lambda z: 0.4 * z + 1, facts=800, seed=1)
    before, after = (Reliability.of(c, fresh) for c in (Calibration(margin=MARGIN), learned))
    for name, (difference, error) in compare_reliability(before, after, draws=200).items():
        assert difference < -2 * error, name


def test_a_relation_that_differs_has_its_own_map():
    one, two = drawn(lambda z: z, facts=300), drawn(lambda z: 2 * z + 3, facts=300, seed=1)
    columns = [np.concatenate([getattr(c, k) for c in (one, two)]) for k in ("true", "other")]
    weight = np.concatenate([one.weight, two.weight])
    ids = np.arange(600)
    both = CandidateScores(ids, ids // 300, ids, *columns, weight)
    found = calibrate(both, MARGIN)
    assert found.by_relation
    z = np.array([-2.0, -1.0, 0.0])
    for r, truth in ((0, z), (1, 2 * z + 3)):
        got = found.probability(z - MARGIN, np.full(3, r))
        assert got == pytest.approx(expit(truth), abs=0.12)


@pytest.mark.parametrize("seed", range(3))
def test_maps_keep_every_order(seed):
    rng = np.random.default_rng(seed)
    z, truth, weight = rng.normal(size=50), rng.integers(0, 2, 50) * 1.0, rng.uniform(1, 9, 50)
    # Far apart, upside down, and all alike are the hard cases.
    for y in (truth, (z > 0) * 1.0, (z < 0) * 1.0):
        for kind in (Platt, Beta, Spline):
            found = kind.fit(z, y, weight)(GRID)
            assert np.isfinite(found).all()
            assert (np.diff(found) > 0).all()
            assert (np.diff(expit(found[found < 30])) > 0).all()  # 1 - p is a float still
    alike = Spline.fit(np.zeros(50), truth, weight)(GRID)
    assert 0 < np.ptp(alike) < 0.02


def test_beta_calibration_finds_different_slopes_of_the_two_classes():
    rng = np.random.default_rng(0)
    z = rng.normal(0, 3, 40_000)
    odds = Beta(low=0.3, high=1.5, intercept=-0.5)
    truth = (rng.random(len(z)) < expit(odds(z))) * 1.0
    found = Beta.fit(z, truth, np.ones(len(z)))
    assert (found.low, found.high) == pytest.approx((0.3, 1.5), rel=0.1)


def test_few_facts_leave_all_as_it_is():
    few = drawn(lambda z: 3 * z, facts=10)
    assert calibrate(few, MARGIN) == Calibration(margin=MARGIN, facts=10)


def test_json_gives_all_back_and_refuses_the_rest():
    learned = calibrate(drawn(lambda z: 0.4 * z + 1, relations=2), MARGIN, model="abc")
    learned = learned.model_copy(update={"by_relation": {1: Platt(slope=2.0, intercept=0.5)}})
    text = learned.model_dump_json()
    again = Calibration.model_validate_json(text)
    assert again == learned
    r = np.arange(200) % 2
    assert (again.log_odds(GRID, r) == learned.log_odds(GRID, r)).all()
    for bad in (
        text.replace('"slope":2.0', '"slope":-2.0'),
        text.replace('"format":2', '"format":1'),
        text.replace('"kind":"platt"', '"kind":"magic"'),
        text.replace('"margin":1.0', '"margin":NaN'),
        text.replace('"facts"', '"fax"'),
        text[:-3],
        "[]",
    ):
        assert bad != text
        with pytest.raises(ValidationError):
            Calibration.model_validate_json(bad)
    two = (0.0, 1.0)
    for z, odds in (((0.0, 0.0), two), (two, (2.0, 1.0)), (two, (1.0, 1.0)), ((0.0,), (1.0,))):
        with pytest.raises(ValidationError):
            Spline(z=z, odds=odds)


DATA = random_graph(entities=40, facts=200, held_out=25)
MODEL = random_model("nfe-1", DATA)


def test_every_candidate_counts_once():
    known = DATA.queries()
    found = score_candidates(MODEL, DATA.queries("test"), known)
    assert len(found) == 2 * len(DATA.test)
    assert (np.bincount(found.fact) == 2).all()
    splits = (DATA.split(name).array().tolist() for name in ("train", "valid", "test"))
    facts = {tuple(fact) for split in splits for fact in split}
    R = len(DATA.relations)
    for h, r, weight in zip(found.h, found.r, found.weight, strict=True):
        triples = [(h, r, e) if r < R else (e, r - R, h) for e in range(40)]
        assert weight.sum() == sum(t not in facts for t in triples)


def test_what_is_drawn_stands_for_the_rest(monkeypatch):
    questions, known = DATA.queries("test"), DATA.queries()
    whole = score_candidates(MODEL, questions, known)
    monkeypatch.setattr(module, "TOP", 4)
    monkeypatch.setattr(module, "SAMPLED", 8)
    raw = Calibration(margin=MARGIN + 4)
    sums = [
        Reliability.of(raw, score_candidates(MODEL, questions, known, seed)) for seed in range(60)
    ]
    assert score_candidates(MODEL, questions, known).weight.sum() == whole.weight.sum()
    exact = Reliability.of(raw, whole)
    for name in ("brier", "log_loss"):
        means = [getattr(s, name)().mean() for s in sums]
        error = np.std(means) / len(means) ** 0.5
        assert abs(np.mean(means) - getattr(exact, name)().mean()) < 4 * error + 1e-9


def test_numbers_equal_a_naive_loop():
    candidates = score_candidates(MODEL, DATA.queries("test"), DATA.queries())
    calibration = Calibration(margin=2.0, by_relation={1: Platt(slope=0.3, intercept=-1.0)})
    found = Reliability.of(calibration, candidates)
    brier, loss, said = [], [], 0.0
    for i in range(len(candidates)):
        real = candidates.weight[i] > 0
        scores = np.concatenate([candidates.true[i : i + 1], candidates.other[i][real]])
        p = calibration.probability(scores, np.full(len(scores), candidates.r[i]))
        y = np.arange(len(p)) == 0
        brier.append(((p - y) ** 2).sum())
        loss.append(-np.log(np.where(y, p, 1 - p)).sum())
        said += p.sum()
    assert found.brier() == pytest.approx(brier)
    assert found.log_loss() == pytest.approx(loss)
    table = found.bins()
    assert sum(row.true for row in table) == len(candidates)
    assert sum(row.probability * row.candidates for row in table) == pytest.approx(said)
    assert found.calibration_gaps().sum() == pytest.approx(said - len(candidates))


@pytest.mark.parametrize("name", ALL_MODELS)
def test_scores_of_any_model_are_calibrated(name):
    """Even of a random model, whose scores say nothing: then shares are all there is to say."""
    model, known = random_model(name, DATA), DATA.queries()
    learned = calibrate(score_candidates(model, DATA.queries("valid"), known), 20.0)
    test = score_candidates(model, DATA.queries("test"), known)
    before, after = (Reliability.of(c, test) for c in (Calibration(margin=20.0), learned))
    for number, (difference, error) in compare_reliability(before, after, draws=100).items():
        assert difference <= 2 * error, number
