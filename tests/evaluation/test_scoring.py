"""The scorer against naive loops over triples, and the mode of the model after every call."""

import numpy as np
import pytest
import torch

from graphs import random_graph, random_model
from kgflow.evaluation import Scorer, rank
from kgflow.runs.answers import TripleQuery
from kgflow.runs.discovery import discover
from kgflow.runs.prediction_set import prediction_set
from kgflow.runs.predictor import Predictor
from kgflow.uncertainty import (
    RankScore,
    evaluate_confidence,
    fit_conformal,
    measure_coverage,
    score_candidates,
)

DATA = random_graph(facts=90, held_out=20, weighted=True)
QUERIES, KNOWN = DATA.queries("test"), DATA.queries()
E, R = len(DATA.entities), len(DATA.relations)
FACTS = {tuple(x) for s in ("train", "valid", "test") for x in DATA.split(s).array().tolist()}
# A matrix product, another interaction, a network with dropout, and bidirectional scoring.
MODELS = {
    "nfe-1": {},
    "transe norm=l1": {},
    "conve": {"dim": 8},
    "complex": {"bidirectional": True},
}
models = pytest.mark.parametrize("name", MODELS)
memories = pytest.mark.parametrize("memory", [1, 40, 10**6])


def make(name):
    return random_model(name, DATA, **MODELS[name])


def is_known(h, r, t):
    return ((h, r, t) if r < R else (t, r - R, h)) in FACTS


def naive(model, h, r, filtered=True):
    """Scores of all entities, one triple at a time, -inf for known answers."""
    with torch.no_grad():
        scores = [model.score(*torch.tensor([[h], [r], [e]])).item() for e in range(E)]
    return [-np.inf if filtered and is_known(h, r, e) else s for e, s in enumerate(scores)]


def close(found, wanted):
    np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=1e-9, atol=1e-9)


@models
@memories
def test_scores_of_batches_equal_a_loop(name, memory):
    model = make(name)
    scorer, rows = Scorer(model, KNOWN, memory), []
    for batch, S in scorer.batches(QUERIES):
        assert S.numel() <= max(memory, E)
        rows += batch.tolist()
        for q, scores in zip(batch, S, strict=True):
            close(scores, naive(model, QUERIES.h[q], QUERIES.r[q], filtered=False))
    assert rows == list(range(len(QUERIES)))
    for h, r, scores in zip(
        QUERIES.h, QUERIES.r, scorer.filtered_scores(QUERIES.h, QUERIES.r), strict=True
    ):
        close(scores, naive(model, h, r))


@models
@memories
def test_scores_of_answers_and_their_candidates_equal_a_loop(name, memory):
    model, seen = make(name), []
    for found in Scorer(model, KNOWN, memory).answers(QUERIES):
        assert found.S.numel() <= max(memory // 2, E)
        for h, r, t, score, scores in zip(*found, strict=True):
            wanted = naive(model, h, r)
            wanted[t] = naive(model, h, r, filtered=False)[t]
            close(scores, wanted)
            close(score, wanted[t])
            seen.append((h, r, t) if r < R else (t, r - R, h))
    assert sorted(seen) == sorted([tuple(x) for x in DATA.test.array().tolist()] * 2)


@models
@pytest.mark.parametrize("new", [False, True])
@pytest.mark.parametrize("restricted", [False, True])
def test_the_best_entities_equal_a_loop(name, new, restricted):
    model, allowed = make(name), np.arange(E) % 3 != 0
    score, entity = Scorer(model, KNOWN).top_k(
        QUERIES.h, QUERIES.r, 5, new, allowed if restricted else None
    )
    for i, (h, r) in enumerate(zip(QUERIES.h, QUERIES.r, strict=True)):
        scores = np.array(naive(model, h, r, filtered=new))
        if restricted:
            scores[~allowed] = -np.inf
        close(score[i], np.sort(scores)[::-1][:5])
        real = np.isfinite(score[i])
        close(scores[entity[i][real]], score[i][real])


@models
def test_scores_of_triples_equal_a_loop(name):
    model, facts = make(name), DATA.test
    found = Scorer(model, KNOWN).score_triples(facts.h, facts.r, facts.t)
    wanted = [naive(model, h, r, filtered=False)[t] for h, r, t in facts.array().tolist()]
    close(found, wanted)
    nothing = facts.h[:0]
    assert Scorer(model, KNOWN).score_triples(nothing, nothing, nothing).shape == (0,)


def every_call(model):
    """Functions that score with a model."""
    scorer, predictor = Scorer(model, KNOWN), Predictor(model, DATA, 1.0)
    h, r, t = QUERIES.h[:3], QUERIES.r[:3], QUERIES.h[:3]
    conformal = fit_conformal(model, RankScore(), DATA.queries("valid"), KNOWN)
    query = TripleQuery("e1", "r0")
    return {
        "scores": lambda: scorer.filtered_scores(h, r),
        "batches": lambda: list(scorer.batches(QUERIES)),
        "unfinished batches": lambda: next(scorer.batches(QUERIES)),
        "answers": lambda: list(scorer.answers(QUERIES)),
        "top_k": lambda: scorer.top_k(h, r, 3),
        "score_triples": lambda: scorer.score_triples(h, r, t),
        "rank": lambda: rank(model, QUERIES, KNOWN),
        "candidates": lambda: score_candidates(model, QUERIES, KNOWN),
        "conformal": lambda: fit_conformal(model, RankScore(), QUERIES, KNOWN),
        "coverage": lambda: measure_coverage(model, conformal, QUERIES, KNOWN, 0.8),
        "confidence": lambda: evaluate_confidence(model, DATA, 1.0),
        "predict": lambda: predictor.predict([query], 3),
        "relations": lambda: predictor.predict([TripleQuery("e1", tail="e2")], 3),
        "discover": lambda: discover(predictor, 3),
        "prediction set": lambda: prediction_set(predictor, conformal, query, 0.8),
    }


@pytest.mark.parametrize("call", every_call(make("conve")))
@pytest.mark.parametrize("training", [False, True])
def test_scoring_is_in_evaluation_mode_and_restores_the_mode(call, training, monkeypatch):
    model, modes = make("conve").train(training), []
    calls = every_call(model)
    encode = model.encode_query

    def encode_query(*rows):
        modes.append((model.training, torch.is_grad_enabled()))
        return encode(*rows)

    monkeypatch.setattr(model, "encode_query", encode_query)
    calls[call]()
    assert set(modes) == {(False, False)}
    assert all(part.training == training for part in model.modules())
    assert torch.is_grad_enabled()


def test_the_mode_is_restored_after_an_error():
    model = make("conve").train()
    model.entity.weight.data[:] = torch.nan
    with pytest.raises(FloatingPointError):
        Scorer(model, KNOWN).scores(QUERIES.h, QUERIES.r)
    assert model.training
