"""Confidences are regressed on training confidences, and intervals contain them as promised."""

from dataclasses import replace

import numpy as np
import pytest

import kgflow
from graphs import random_graph
from kgflow.data import Dataset, Triples, Vocabulary
from kgflow.errors import KgflowError
from kgflow.uncertainty import ConfidenceRegression, ConfidenceStatistics, IntervalCoverage

E, R = 30, 3


def graph(seed=0, size=2400):
    """Confidences that depend on the relation and on the tail, with noise that does, too."""
    rng = np.random.default_rng(seed)
    h, r, t = (rng.integers(0, n, size) for n in (E, R, E))
    w = 0.2 + 0.25 * r + 0.2 * (t % 2) + (0.01 + 0.04 * r) * rng.normal(size=size)
    whole, _ = Triples(h, r, t, w.clip(0.01, 1).astype(np.float32)).unique()
    whole = whole.take(rng.permutation(len(whole)))
    parts = [whole.take(slice(a, b)) for a, b in ((0, 700), (700, 1300), (1300, None))]
    names = Vocabulary([f"e{i}" for i in range(E)]), Vocabulary(["a", "b", "c"], kind="relation")
    return Dataset("weighted", *names, *parts)


def no_scores(h, r, t):
    return np.zeros(len(h))


def regression(data):
    fitting, held_out = data.valid.take(slice(0, 300)), data.valid.take(slice(300, None))
    return ConfidenceRegression(no_scores, ConfidenceStatistics(data), fitting, held_out)


DATA = graph()
FOUND = regression(DATA)


def test_statistics_equal_a_loop():
    statistics, facts = ConfidenceStatistics(DATA), DATA.test.take(slice(0, 20))
    train = list(zip(DATA.train.array().tolist(), DATA.train.weight.tolist(), strict=True))
    mean = np.mean([w for _, w in train])
    columns = statistics(facts.h, facts.r, facts.t)
    for row, (h, r, t) in zip(columns, facts.array().tolist(), strict=True):
        groups = (
            [w for (_, b, _), w in train if b == r],
            [w for (a, _, _), w in train if a == h],
            [w for (_, _, c), w in train if c == t],
            [w for (a, b, _), w in train if (a, b) == (h, r)],
            [w for (_, b, c), w in train if (b, c) == (r, t)],
            [w for (a, _, c), w in train if (a, c) == (h, t)],
            [w for (a, _, c), w in train if (a, c) == (t, h)],
        )
        want = []
        for group in groups:
            shrunk = (sum(group) + 2 * mean) / (len(group) + 2) if group else np.nan
            want += [shrunk, len(group), min(group, default=np.nan), max(group, default=np.nan)]
        np.testing.assert_allclose(row, want, rtol=1e-5)


def test_the_regression_is_better_than_the_mean_and_in_bounds():
    test = DATA.test
    predicted = FOUND(test.h, test.r, test.t)
    assert ((predicted >= 0) & (predicted <= 1)).all()
    error = ((predicted - test.weight) ** 2).mean()
    assert error < 0.3 * test.weight.var()


@pytest.mark.parametrize("coverage", [0.5, 0.9])
def test_intervals_contain_confidences_as_promised(coverage):
    """The mean over graphs is the coverage; widths follow the noise of the relation."""
    measured = []
    for seed in range(2):
        data = graph(seed)
        found = IntervalCoverage.measure(regression(data), data.test, coverage)
        measured.append(found.to_dict()["measured"])
    error = 2 * (coverage * (1 - coverage) / (2 * 250)) ** 0.5  # of the held-out triples, too
    assert abs(np.mean(measured) - coverage) < 3 * error
    noisy, exact = DATA.test.r == 2, DATA.test.r == 0
    width = IntervalCoverage.measure(FOUND, DATA.test, coverage).width
    assert width[noisy].mean() > 1.2 * width[exact].mean()


def test_intervals_are_in_bounds_and_contain_the_prediction():
    test = DATA.test
    found = FOUND.intervals(test.h, test.r, test.t, 0.9)
    assert ((found.low >= 0) & (found.low <= found.confidence)).all()
    assert ((found.confidence <= found.high) & (found.high <= 1)).all()


def test_too_few_validation_triples_are_refused():
    few, none = DATA.valid.take(slice(0, 19)), DATA.valid.take(slice(0, 0))
    statistics = ConfidenceStatistics(DATA)
    with pytest.raises(KgflowError, match="19 validation triples"):
        ConfidenceRegression(no_scores, statistics, few, none)
    alone = ConfidenceRegression(no_scores, statistics, DATA.valid, none)
    with pytest.raises(KgflowError, match="conformal_fraction"):
        alone.intervals(few.h, few.r, few.t, 0.9)
    with pytest.raises(KgflowError, match="no confidences"):
        ConfidenceStatistics(random_graph())


def test_a_run_gives_intervals(tmp_path):
    loss = {"training.loss.confidence": "regression"}
    run = kgflow.train(DATA, dim=2, epochs=1, settings=loss, out=tmp_path / "run")
    names = [("e0", "a", "e1"), ("e3", "c", "e2")]
    table = run.confidence_interval(names, coverage=0.8)
    assert table.columns == ["head", "relation", "tail", "confidence", "low", "high"]
    assert ((table["low"] <= table["confidence"]) & (table["confidence"] <= table["high"])).all()
    found = run.evaluate_confidence()
    assert found.fitted.mse < found.constant.mse
    assert found.high.facts == (DATA.test.weight >= np.float32(0.7)).sum()
    assert found.tails.facts == len(DATA.test)
    assert run.interval_coverage(0.8).to_dict()["measured"] > 0.7
    bare = replace(DATA, train=replace(DATA.train, weight=None))
    run.data = bare
    run._forget()
    with pytest.raises(KgflowError, match="confidence column"):
        run.confidence_interval(names)
