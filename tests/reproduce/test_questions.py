"""The study of queries of several hops on a small run."""

from dataclasses import replace

import numpy as np
import pytest

import kgflow
from graphs import random_graph
from kgflow.queries.sampling import SampledQuery
from kgflow.queries.tree import SHAPES
from reproduce.questions import CHAINS, KINDS, QuestionsStudy, measure, reciprocal_rank, reliability
from reproduce.results import Record
from reproduce.running import Plan, Result


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    data = random_graph(entities=60, relations=3, facts=400, held_out=60)
    run = kgflow.train(data, dim=8, epochs=2, out=tmp_path_factory.mktemp("runs") / "small")
    return measure(run, queries=3)


def test_everything_is_measured_for_every_shape(found):
    assert list(found) == list(SHAPES)
    for name, row in found.items():
        assert row["queries"] == 3
        assert all(0 < row[kind]["mrr"] <= 1 for kind in KINDS)
        assert all(row[kind]["ece"] >= 0 or np.isnan(row[kind]["ece"]) for kind in KINDS)
        assert 0 <= row["coverage"]["measured"] <= 1
        assert ("composition" in row) == (name in CHAINS)
    one = found["1p"]
    # One relation needs no composition: the same scores, and so the same ranks.
    composed, beam = (one["composition"][f"{way} mrr"] for way in ("composed", "beam, model only"))
    assert composed == pytest.approx(beam, abs=0.05)


def test_the_page_shows_stored_measurements(found, tmp_path):
    values = {"test": {"realistic": {"mrr": 0.5}}, "questions": found}
    record = Record("questions", "small/nfe-1", 0, {}, values, [], {})
    result = Result(Plan("questions", "small/nfe-1"), record)
    study = QuestionsStudy(tmp_path, tmp_path)
    assert study.complete(result) is result
    text = study.show([result]).text
    for heading in ("MRR", "Calibration", "Coverage", "composed"):
        assert heading in text
    assert text.count("`small/nfe-1`") == len(KINDS) * 2 + 2 + len(CHAINS)
    assert f"{found['2p']['calibrated']['mrr']:.3f}" in text
    assert study.show([replace(result, record=None)]).text == "No run is finished."


def test_reciprocal_ranks_of_a_loop():
    rng = np.random.default_rng(0)
    for _ in range(20):
        value = rng.integers(0, 4, 12) / 4
        answers = rng.permutation(12)[:5]
        query = SampledQuery(SHAPES["1p"], answers, answers[:2], answers[2:])
        ranks = []
        for t in query.hard:
            others = [value[e] for e in range(12) if e not in set(answers.tolist())]
            ranks.append(
                1 + sum(o > value[t] for o in others) + sum(o == value[t] for o in others) / 2
            )
        assert reciprocal_rank(value, query) == pytest.approx(np.mean(1 / np.array(ranks)))


def test_frequencies_have_no_calibration_error():
    """Values that are the share of true entities are calibrated, and others are not."""
    rng, queries, values = np.random.default_rng(0), [], []
    p = rng.choice([0.1, 0.5, 0.9], 400)
    for _ in range(60):
        hard = np.flatnonzero(rng.random(400) < p)
        queries.append(SampledQuery(SHAPES["1p"], hard, hard, np.arange(0)))
        values.append(p)
    right = reliability(values, queries)
    wrong = reliability([value / 2 for value in values], queries)
    assert right["expected"] == pytest.approx(p.sum())
    assert right["ece"] < 0.1 * wrong["ece"]
    assert wrong["ece"] == pytest.approx(p.sum() / 2, rel=0.1)
