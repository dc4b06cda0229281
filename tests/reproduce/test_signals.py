"""Comparison of signals against plain loops over queries and answers."""

import numpy as np
import pytest
import torch

import kgflow
from graphs import random_graph
from kgflow.data import QueryIndex, Triples
from kgflow.errors import KgflowError
from kgflow.evaluation import Scorer, rank
from reproduce.selective import auroc
from reproduce.signals import (
    BASELINES,
    ENTROPIES,
    TRUST,
    combine_signals,
    compare_signals,
    corrupted_heads,
    signals,
)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    data = random_graph(entities=20, relations=3, facts=160, held_out=25)
    out = tmp_path_factory.mktemp("study") / "run"
    return kgflow.train(data, dim=6, epochs=3, out=out)


@pytest.fixture(scope="module")
def found(run):
    return compare_signals(run)


@torch.no_grad()
def test_best_answers_are_the_highest_scores_that_are_not_known(run):
    queries, known = run.data.queries("test"), run.data.queries("train", "valid")
    score, answer = Scorer(run.model, known).top_k(queries.h, queries.r, 2)
    for q, (h, r) in enumerate(zip(queries.h.tolist(), queries.r.tolist(), strict=True)):
        e = torch.arange(20)
        S = run.model.score(torch.full((20,), h), torch.full((20,), r), e).numpy().copy()
        S[known.contains([h] * 20, [r] * 20, np.arange(20))] = -np.inf
        best = np.argsort(-S)[:2]
        assert answer[q].tolist() == best.tolist()
        assert score[q] == pytest.approx(S[best], abs=1e-4)
    none = np.empty(0, dtype=np.int64)
    assert Scorer(run.model, known).top_k(none, none, 2)[0].shape == (0, 2)


def test_signals_equal_their_definitions(run):
    queries, known = run.data.queries("test"), run.data.queries("train", "valid")
    h, r = queries.h, queries.r
    got = signals(run, h, r, known)
    assert set(got) == {*ENTROPIES, *BASELINES, *TRUST}
    score, answer = Scorer(run.model, known).top_k(h, r, 2)
    (_, e_scale), (_, r_scale) = (
        t.split(t.weight.detach().double()) for t in (run.model.entity, run.model.relation)
    )
    of_e, of_r = (x.abs().log().sum(1).numpy() for x in (e_scale, r_scale))
    assert got["score margin"] == pytest.approx(score[:, 0] - score[:, 1])
    assert got["query entropy"] == pytest.approx(-of_e[h], rel=1e-4)
    assert got["answer entropy"] == pytest.approx(-of_e[answer[:, 0]], rel=1e-4)
    assert got["composed entropy"] == pytest.approx(-of_e[h] - of_r[r], rel=1e-4)
    train = run.data.train
    for q in range(len(h)):
        assert got["degree"][q] == ((train.h == h[q]).sum() + (train.t == h[q]).sum())
        of = (train.r == r[q] % 3), (train.h if r[q] < 3 else train.t)
        assert got["fan-out"][q] == pytest.approx(-of[0].sum() / len(set(of[1][of[0]].tolist())))


def test_errors_count_each_answer_under_its_query(run, found):
    queries = run.data.queries("test")
    ranking = rank(run.model, queries, run.data.queries())
    got = signals(run, queries.h, queries.r, run.data.queries("train", "valid"))
    place = {(h, r): q for q, (h, r) in enumerate(zip(queries.h, queries.r, strict=True))}
    query = [place[pair] for pair in zip(ranking.h, ranking.r, strict=True)]
    ranks = ranking.rank("realistic")
    assert found.answers == len(ranks) == 2 * len(run.data.test)
    assert found.mrr == pytest.approx((1 / ranks).mean())
    rows = {row["signal"]: row for row in found.errors.to_dicts()}
    for name, values in got.items():
        assert rows[name]["auroc@1"] == pytest.approx(auroc(values[query], ranks <= 1))
        assert rows[name]["low@1"] <= rows[name]["auroc@1"] <= rows[name]["high@1"]
        assert rows[name]["gain"] <= 1
    curves = found.curves.partition_by("signal", as_dict=True)
    for (name,), curve in curves.items():
        assert curve["mrr"][-1] == pytest.approx(found.mrr)
        assert (curve["mrr"] <= curves[("oracle",)]["mrr"] + 1e-9).all(), name
    assert found.added.low <= found.added.difference <= found.added.high


def test_corrupted_heads_are_in_no_known_fact():
    rng = np.random.default_rng(0)
    facts, _ = Triples.of(rng.integers(0, [30, 4, 30], (60, 3)).tolist()).unique()
    known = QueryIndex.build(facts, entities=30, relations=4)
    r, pool = rng.integers(0, 8, 200), np.array([1, 1, 1, 2, *range(10, 30)])
    heads = corrupted_heads(r, pool, known)
    drawn = heads >= 0
    assert drawn.any()
    assert (known.find(heads[drawn], r[drawn]) < 0).all()
    assert set(heads[drawn].tolist()) <= set(pool.tolist())
    everywhere = Triples.of([(0, 0, 1), (1, 0, 0)])
    full = QueryIndex.build(everywhere, entities=2, relations=1)
    assert corrupted_heads(np.array([0, 1]), np.array([0, 1]), full).tolist() == [-1, -1]


def test_a_useless_signal_adds_nothing_and_a_good_one_does():
    rng = np.random.default_rng(0)
    hit = rng.random(4000) < 0.5
    noise, telling = rng.normal(size=4000), hit + rng.normal(size=4000)
    telling[:3], noise[5] = np.inf, -np.inf
    first, second = (
        {"noise": noise[s], "telling": telling[s]} for s in (slice(2000), slice(2000, None))
    )

    def found_auroc(*names):
        return auroc(combine_signals(names, first, hit[:2000], second), hit[2000:])

    assert found_auroc("noise") == pytest.approx(0.5, abs=0.04)
    assert found_auroc("telling") == pytest.approx(auroc(second["telling"], hit[2000:]), abs=1e-3)
    assert found_auroc("noise", "telling") == pytest.approx(found_auroc("telling"), abs=0.01)
    assert not combine_signals(["noise"], first, np.ones(2000, bool), second).any()


def test_models_without_entropy_show_the_baselines_only(tmp_path):
    data = random_graph(entities=20, relations=3, facts=160, held_out=25)
    run = kgflow.train(data, "distmult", dim=4, epochs=1, out=tmp_path / "run")
    got = compare_signals(run)
    assert not got.has_entropy
    assert got.added is None
    assert set(got.corrupted["signal"]) == {*BASELINES, *TRUST}


def test_a_sample_of_the_facts_is_studied_if_so_wished(run, found):
    some = compare_signals(run, most=7)
    assert some.answers == 14
    assert some.corrupted["queries"].max() <= 14
    every = compare_signals(run, most=10**6)
    assert every.errors.equals(found.errors, null_equal=True)


def test_a_split_without_facts(run):
    from dataclasses import replace

    other = kgflow.Run.open(run.directory)
    other.data = replace(run.data, test=Triples.empty())
    with pytest.raises(KgflowError, match="no test triples"):
        compare_signals(other)


def test_validation_has_nothing_to_fit_to(run):
    got = compare_signals(run, "valid")
    assert got.split == "valid"
    assert got.added is None
    assert {row["signal"] for row in got.to_dict()["curves"]} >= {"oracle", "random", "top score"}
    with pytest.raises(KgflowError, match="unknown split"):
        compare_signals(run, "nonsense")
