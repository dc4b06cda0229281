"""Frequencies of removed facts, and graphs from which whole queries are removed."""

import numpy as np
import pytest

import kgflow
from graphs import random_graph
from kgflow.uncertainty import TripleSample
from reproduce.probabilities import METHODS, errors, measure, remove_queries


def test_whole_queries_are_removed():
    data = random_graph(entities=40, relations=2, facts=500, held_out=60)
    again = remove_queries(data, share=0.2)
    parts = [again.train, again.valid, again.test]
    assert sum(map(len, parts)) == sum(map(len, (data.train, data.valid, data.test)))
    queries = [set(zip(x.h.tolist(), x.r.tolist(), strict=True)) for x in parts]
    assert all(queries)
    assert not any(queries[i] & queries[j] for i, j in ((0, 1), (0, 2), (1, 2)))


def test_the_error_is_the_distance_of_probabilities_from_frequencies():
    rng = np.random.default_rng(1)
    ids, p = np.zeros(50_000, dtype=int), rng.random(50_000)
    sample = TripleSample(ids, ids, ids, rng.random(50_000) < p, np.ones(50_000))
    perfect, high = errors(p, sample), errors(np.minimum(p + 0.2, 1), sample)
    assert perfect["ece"] < 0.01
    assert perfect["floor"] == pytest.approx(perfect["ece"], abs=0.01)
    assert high["ece"] == pytest.approx(0.18, abs=0.01)
    assert high["log_loss"] > perfect["log_loss"]


def test_a_run_is_measured_by_all_methods(tmp_path):
    data = random_graph(entities=30, relations=2, facts=300, held_out=50)
    found = measure(kgflow.train(data, dim=6, epochs=3, out=tmp_path / "run"))
    assert set(found["methods"]) == set(METHODS)
    assert found["test"] == 50
    # Nothing can be learnt of a random graph: all probabilities are about the share of facts.
    ours, platt = (found["methods"][name] for name in ("probability", "platt"))
    assert ours["log_loss"] == pytest.approx(platt["log_loss"], abs=0.5)
