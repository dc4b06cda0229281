"""The smallest sets are chosen without breaking the promise, and statistics order the tail."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from graphs import random_graph, random_model
from kgflow.data import Dataset, Triples, Vocabulary
from kgflow.uncertainty import (
    NONCONFORMITY,
    Comparison,
    ConditionalLogit,
    Conformal,
    FitData,
    RankScore,
    compare_sizes,
    fit_conformal,
    measure_coverage,
    relation_clusters,
)
from kgflow.uncertainty.candidate_statistics import CandidateStatistics, RandomWalk

E, GROUPS = 60, 6


def clustered_graph(seed=0):
    """A graph in which answers lie in the group of the query, unknown to a random model."""
    rng = np.random.default_rng(seed)
    h = rng.integers(0, E, 900)
    t = (h % GROUPS + GROUPS * rng.integers(0, E // GROUPS, 900)) % E
    r = np.where(t < E // 2, 0, 1)  # the relation says in which half the answer is
    whole, _ = Triples(h, r, t).unique()
    whole = whole.take(np.random.default_rng(seed).permutation(len(whole)))
    parts = [whole.take(slice(a, b)) for a, b in ((0, 250), (250, 380), (380, None))]
    names = Vocabulary([f"e{i}" for i in range(E)]), Vocabulary(["r0", "r1"], kind="relation")
    return Dataset("groups", *names, *parts)


DATA = clustered_graph()
MODEL = random_model("nfe-1", DATA, dtype=torch.float32)
HALF = len(DATA.valid) // 2
FIT = FitData(MODEL, DATA, DATA.valid.take(slice(0, HALF)))


def test_statistics_are_counts():
    found = CandidateStatistics(DATA)
    train = DATA.train
    for r in range(4):
        inverse, s = r >= 2, r % 2
        here = train.r == s
        answers = np.bincount((train.h if inverse else train.t)[here], minlength=E)
        columns = found.columns(r)
        np.testing.assert_allclose(columns[:, 0], np.log1p(answers), rtol=1e-6)
        np.testing.assert_array_equal(columns[:, 1], answers == 0)
        np.testing.assert_array_equal(columns[:, 2], answers == 1)
        np.testing.assert_allclose(columns[:, 3], np.log1p(train.degrees(E)), rtol=1e-6)
    assert (found.trained(np.arange(E)) == train.entity_mask(E)).all()


def test_random_walks_are_powers_of_the_transition_matrix():
    walk, train = RandomWalk(CandidateStatistics(DATA)), DATA.train
    A = np.zeros((E, E))
    np.add.at(A, (train.h, train.t), 1)
    P = (A + A.T) / np.maximum((A + A.T).sum(1, keepdims=True), 1)
    total, power = np.zeros((E, E)), np.eye(E)
    for _ in range(walk.steps + 1):
        total, power = total + 0.2 * power, 0.8 * power @ P
    h = np.array([3, 0, 3])
    np.testing.assert_allclose(walk(h), np.log(total[h] + 1e-7), rtol=1e-4)


def test_the_conditional_logit_finds_what_the_model_does_not_know():
    compared = compare_sizes(FIT, 0.8)
    assert compared.smallest == "logit"
    assert compared.sizes["logit"] < 0.7 * compared.sizes["rank"]
    assert compared.sizes.keys() == NONCONFORMITY.keys()


def test_log_probabilities_are_those_of_a_distribution():
    logit = ConditionalLogit.fit(FIT)
    S = torch.randn(3, E)
    S[:, ::7] = -torch.inf
    found = logit.rescore(np.array([0, 1, 2]), np.array([0, 3, 1]), S)
    assert (torch.isfinite(found) == torch.isfinite(S)).all()
    torch.testing.assert_close(found.exp().sum(1), torch.ones(3, dtype=torch.float64))


def test_without_statistics_it_is_the_softmax_of_the_scores():
    """Penalties keep the coefficients at the softmax where nothing can be learned."""
    none = Dataset("none", DATA.entities, DATA.relations, DATA.train.take([]), DATA.valid)
    data = FitData(MODEL, none, none.valid.take(slice(0, 1)), temperature=2.0)
    logit = ConditionalLogit.fit(data)
    assert logit.score.tolist() == pytest.approx([0.5] * 4, rel=0.2)


@pytest.mark.parametrize("by_relation", [False, True])
def test_the_chosen_score_keeps_the_promise(by_relation):
    """Chosen on one half of validation, calibrated on the other, measured on test."""
    compared = compare_sizes(FIT, 0.8)
    held_out = DATA.index(DATA.valid.take(slice(HALF, None)))
    score = compared.scores[compared.smallest]
    conformal = fit_conformal(MODEL, score, held_out, DATA.known, by_relation)
    found = measure_coverage(MODEL, conformal, DATA.queries("test"), DATA.known, 0.8).to_dict()
    assert found["low"] <= found["measured"] <= found["high"]
    assert found["size"]["mean"] < 0.75 * 0.8 * E


def test_relations_with_similar_quantiles_share_a_cluster():
    r = np.repeat(np.arange(6), 30)
    value = np.repeat([1.0, 9.0, 1.1, 9.1, 1.2, 50.0], 30)
    conformal = Conformal(r, np.where(r == 5, 4, r), r, value)
    compared = Comparison({"rank": RankScore()}, {"rank": 1.0}, r, {"rank": value})
    found = relation_clusters(compared, conformal, 0.8)
    assert found[0] == found[2] != found[1] == found[3]
    assert 4 not in found  # it has 60 answers and its own threshold
    grouped = replace(conformal, by_relation=True, clusters=found)
    assert grouped.group(np.array([0, 2, 4, 9]), 0.8).tolist() == [found[0], found[0], 4, -1]
    assert {len(v) for g, v in grouped.groups(0.8).items() if g != -1} == {60}


def test_with_few_triples_nothing_is_compared():
    few = FitData(MODEL, DATA, DATA.valid.take(slice(0, 10)))
    compared = compare_sizes(few, 0.8)
    assert (compared.sizes, compared.smallest) == ({}, "rank")
    empty = Conformal(*(np.zeros(3, int),) * 3, np.zeros(3))
    assert relation_clusters(compared, empty, 0.8) == {}


def test_random_graphs_give_no_false_gain():
    """Where facts are random, statistics do not make sets much smaller, and coverage holds."""
    data = random_graph(entities=30, facts=400, relations=2, held_out=60)
    model = random_model("nfe-1", data, dtype=torch.float32)
    compared = compare_sizes(FitData(model, data, data.valid), 0.8)
    assert compared.sizes["logit"] > 0.75 * compared.sizes["rank"]
