"""Filtered ranking and its metrics against a naive loop over names and sets."""

import numpy as np
import pytest
import torch

from graphs import random_graph, random_model
from kgflow.errors import KgflowError
from kgflow.evaluation import Evaluation, metrics, rank


def tied_model(data):
    """Scores from a handful of values: nearly every rank is a tie."""
    model = random_model("distmult", data, dim=2)
    for parameter in model.parameters():
        parameter.data = (parameter.data * 2).round()
    return model


def naive(model, data, split):
    """(side, optimistic, pessimistic, candidates) of every answer, by loops over sets."""
    facts = {tuple(x) for s in ("train", "valid", "test") for x in data.split(s).array().tolist()}
    R, E = len(data.relations), range(len(data.entities))
    for h, r, t in data.split(split).array().tolist():
        for side in ("tail", "head"):

            def score(e, side=side, h=h, r=r, t=t):
                triple = (h, r, e) if side == "tail" else (t, r + R, e)
                return model.score(*(torch.tensor([i]) for i in triple)).item()

            def true(e, side=side, h=h, r=r, t=t):
                return ((h, r, e) if side == "tail" else (e, r, t)) in facts

            target = t if side == "tail" else h
            rivals = [score(e) for e in E if not true(e)]
            better = sum(s > score(target) for s in rivals)
            tied = sum(s == score(target) for s in rivals)
            yield side, 1 + better, 1 + better + tied, 1 + len(rivals)


@pytest.mark.parametrize("memory", [1, 40, 10**6])
def test_ranks_and_metrics_agree_with_loops_on_many_ties(memory):
    data = random_graph(facts=90)
    model = tied_model(data)
    ranking = rank(model, data.queries("test"), data.queries(), memory)
    rows = list(naive(model, data, "test"))
    got = zip(
        ranking.side, ranking.optimistic, ranking.pessimistic, ranking.candidates, strict=True
    )
    assert sorted((str(s), int(a), int(b), int(c)) for s, a, b, c in got) == sorted(rows)
    assert sum(a != b for _, a, b, _ in rows) > len(rows) / 2, "the graph should have many ties"
    for policy, values in {
        "optimistic": [a for _, a, _, _ in rows],
        "pessimistic": [b for _, _, b, _ in rows],
        "realistic": [(a + b) / 2 for _, a, b, _ in rows],
    }.items():
        found, n = ranking.metrics()[policy], len(rows)
        candidates = [c for *_, c in rows]
        assert found.mrr == pytest.approx(sum(1 / v for v in values) / n, abs=1e-9)
        assert found.mr == pytest.approx(sum(values) / n, abs=1e-9)
        for k, share in ((1, found.hits1), (3, found.hits3), (10, found.hits10)):
            assert share == pytest.approx(sum(v <= k for v in values) / n, abs=1e-9)
        chance = sum((c + 1) / 2 for c in candidates)
        assert found.amr == pytest.approx(sum(values) / chance, abs=1e-9)
        spread = sum((c - 1) / 2 for c in candidates)
        assert found.amri == pytest.approx(1 - sum(v - 1 for v in values) / spread, abs=1e-9)


def test_guessing_has_amri_near_zero_and_perfection_one():
    rng = np.random.default_rng(0)
    candidates = np.full(20_000, 101.0)
    guess = rng.integers(1, 102, len(candidates)).astype(float)
    assert abs(metrics(guess, candidates).amri) < 0.02
    assert metrics(np.ones(5), np.full(5, 9.0)).amri == 1


def test_groups_partition_the_answers():
    data = random_graph(facts=90)
    ranking = rank(tied_model(data), data.queries("test"), data.queries())
    categories = {name: "N-N" if name == "r0" else "1-1" for name in data.relations}
    for by in ("relation", "side", "category"):
        found = Evaluation("test", ranking, by, data.relations.names, categories).to_dict()
        groups = found["by"].values()
        total = sum(g["count"] for g in groups)
        assert total == len(ranking) == 2 * len(data.test)
        mean = sum(g["count"] * g["realistic"]["mrr"] for g in groups) / total
        assert mean == pytest.approx(found["realistic"]["mrr"])


def test_unknown_group_is_one_sentence():
    data = random_graph()
    ranking = rank(tied_model(data), data.queries("test"), data.queries())
    with pytest.raises(KgflowError, match="choose relation, side, category"):
        Evaluation("test", ranking, "colour", data.relations.names, {})


def test_a_model_of_nans_is_refused_and_not_ranked_first():
    data = random_graph()
    model = tied_model(data)
    model.entity.weight.data[3] = torch.nan
    with pytest.raises(FloatingPointError):
        rank(model, data.queries("test"), data.queries())


def test_ranking_leaves_the_models_mode_alone():
    data = random_graph()
    model = tied_model(data).train()
    rank(model, data.queries("test"), data.queries())
    assert model.training
