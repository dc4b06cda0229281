"""ROC and rejection curves against naive counts, loops and scikit-learn."""

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

from reproduce.selective import auroc, auroc_draws, interval, rejection_curve

SIGNALS = {
    "distinct": lambda rng: rng.normal(size=80),
    "ties": lambda rng: rng.integers(0, 4, 80).astype(float),
    "one value": lambda rng: np.zeros(80),
    "infinite": lambda rng: np.where(rng.random(80) < 0.2, np.inf, rng.normal(size=80)),
}
each = pytest.mark.parametrize("kind", SIGNALS)


def drawn(kind):
    rng = np.random.default_rng(3)
    return SIGNALS[kind](rng), rng.random(80) < 0.4, rng.random(80)


@each
def test_auroc_is_the_share_of_pairs_won(kind):
    signal, good, _ = drawn(kind)
    pairs = [(a > b) + (a == b) / 2 for a in signal[good] for b in signal[~good]]
    assert auroc(signal, good) == pytest.approx(np.mean(pairs), abs=1e-12)
    finite = np.nan_to_num(signal, posinf=99)
    assert auroc(signal, good) == pytest.approx(roc_auc_score(good, finite), abs=1e-12)
    assert auroc(-signal, good) == pytest.approx(1 - auroc(signal, good), abs=1e-12)
    assert np.isnan(auroc(signal, np.ones(80, bool)))


@each
def test_weights_are_repetitions(kind):
    signal, good, _ = drawn(kind)
    times = np.random.default_rng(5).integers(0, 4, 80)
    repeated = auroc(np.repeat(signal, times), np.repeat(good, times))
    assert auroc(signal, good, times.astype(float)) == pytest.approx(repeated, abs=1e-12)


@each
def test_the_rejection_curve_is_the_mean_over_the_surest(kind):
    signal, _, gain = drawn(kind)
    expected = np.zeros(80)
    rng = np.random.default_rng(0)
    orders = 1 if kind == "distinct" else 500
    for _ in range(orders):
        surest = np.lexsort((rng.random(80), -signal))
        for k in range(80):
            expected[k] += sum(gain[surest[: k + 1]].tolist()) / (k + 1)
    tolerance = 1e-12 if orders == 1 else 0.06
    found = rejection_curve(signal, gain)
    assert found == pytest.approx(expected / orders, abs=tolerance)
    assert found[-1] == pytest.approx(gain.mean())
    assert rejection_curve(gain, gain).mean() >= found.mean()
    assert rejection_curve(np.zeros(80), gain) == pytest.approx(np.full(80, gain.mean()))


def test_intervals_draw_whole_clusters():
    """Rows repeated within a cluster bring no certainty; the interval holds the truth."""
    rng = np.random.default_rng(1)
    signal, good = rng.normal(size=60), rng.random(60) < 0.5
    once = auroc_draws(signal, good, np.arange(60))
    copies = auroc_draws(np.tile(signal, 9), np.tile(good, 9), np.tile(np.arange(60), 9))
    assert copies == pytest.approx(once, abs=1e-12)
    alone = auroc_draws(np.tile(signal, 9), np.tile(good, 9), np.arange(540))
    width = np.subtract(*interval(once)) / np.subtract(*interval(alone))
    assert 2 < width < 4.5, "nine times as many independent rows would be three times as sure"


def test_intervals_cover():
    """Of 60 samples with a known AUROC about 57 intervals hold it."""
    rng, shift = np.random.default_rng(2), 1.0
    truth = stats.norm.cdf(shift / np.sqrt(2))
    held = 0
    for _ in range(60):
        good = np.arange(120) % 2 == 0
        low, high = interval(auroc_draws(rng.normal(size=120) + shift * good, good, np.arange(120)))
        held += low <= truth <= high
    assert held >= 53


def test_nothing_to_tell():
    assert np.isnan(interval(np.array([np.nan]))).all()
    assert np.isnan(auroc(np.array([]), np.array([], bool)))
