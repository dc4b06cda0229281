"""Predicted confidences: errors and nDCG equal loops over facts, queries and entities."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.metrics import ndcg_score

from graphs import random_graph, random_model
from kgflow.errors import KgflowError
from kgflow.uncertainty import evaluate_confidence, fit_confidence
from kgflow.uncertainty.confidence import AnswerRanks, ndcg, rank_known_answers

MARGIN = 1.5
DATA = random_graph(entities=15, relations=2, facts=90, weighted=True)


@pytest.fixture(scope="module")
def model():
    return random_model("nfe-1", DATA, dim=4, spread=0.4)


def confidences(data):
    """All known facts, each with its largest confidence."""
    known = {}
    for split in ("train", "valid", "test"):
        facts = data.split(split)
        for fact, w in zip(facts.array().tolist(), facts.weight.tolist(), strict=True):
            known[tuple(fact)] = max(w, known.get(tuple(fact), 0.0))
    return known


def everyone(model, h, r):
    ids = torch.arange(len(DATA.entities))
    return model.score(torch.full_like(ids, h), torch.full_like(ids, r), ids).tolist()


def test_errors_equal_a_loop(model):
    found = evaluate_confidence(model, DATA, MARGIN)
    gaps = []
    for (h, r, t), w in zip(DATA.test.array().tolist(), DATA.test.weight.tolist(), strict=True):
        gaps.append(1 / (1 + math.exp(-MARGIN - everyone(model, h, r)[t])) - w)
    assert found.facts == len(gaps) == len(DATA.test)
    assert found.direct.mse == pytest.approx(sum(g * g for g in gaps) / len(gaps))
    assert found.direct.mae == pytest.approx(sum(abs(g) for g in gaps) / len(gaps))
    assert found.constant.mae == pytest.approx(
        np.abs(DATA.test.weight - DATA.valid.weight.astype(float).mean()).mean()
    )


def naive_ndcg(model, exponential):
    known, total = confidences(DATA), []
    queries = {(h, r) for h, r, _ in DATA.test.array().tolist()}
    for h, r in queries:
        scores = everyone(model, h, r)
        gains = {t: w for (a, b, t), w in known.items() if (a, b) == (h, r)}
        gains = {t: 2**w - 1 if exponential else w for t, w in gains.items()}
        got = sum(g / math.log2(2 + sum(s > scores[t] for s in scores)) for t, g in gains.items())
        ideal = sorted(gains.values(), reverse=True)
        total.append(got / sum(g / math.log2(i + 2) for i, g in enumerate(ideal)))
    return sum(total) / len(total), len(queries)


@pytest.mark.parametrize("exponential", [False, True])
def test_ndcg_equals_a_loop(model, exponential):
    found = evaluate_confidence(model, DATA, MARGIN)
    want, queries = naive_ndcg(model, exponential)
    assert found.queries == queries
    assert (found.exponential if exponential else found.linear) == pytest.approx(want)


@pytest.mark.parametrize("ties", [False, True])
def test_ndcg_equals_scikit_learn_also_where_scores_are_tied(ties):
    model = random_model("nfe-1", DATA, dim=4, spread=0.4)
    if ties:  # entities in threes have the same row
        rows = model.entity.weight.data
        rows.copy_(rows[torch.arange(len(rows)) // 3])
        for table in (model.entity, model.relation):
            # In eighths nothing is rounded: else the last digit of a score may depend on where in
            # the matrix product it stands, on some processors.
            table.weight.data.mul_(8).round_().div_(8)
    questions = DATA.queries("test")
    got = ndcg(rank_known_answers(model, questions, DATA.queries(), memory=100))
    truth, score = np.zeros((2, len(questions), len(DATA.entities)))
    for row, (h, r) in enumerate(zip(questions.h.tolist(), questions.r.tolist(), strict=True)):
        score[row] = np.round(everyone(model, h, r), 9)
        _, tail, weight = DATA.queries().gather(DATA.queries().find([h], [r]))
        truth[row, tail] = weight
    want = [ndcg_score(a[None], b[None]) for a, b in zip(truth, score, strict=True)]
    np.testing.assert_allclose(got, want, rtol=1e-6)


def test_the_order_of_confidences_is_worth_one_and_the_reverse_less(model):
    known = confidences(DATA)
    h, r, _ = DATA.test.array()[0].tolist()
    mine = sorted((w for (a, b, _), w in known.items() if (a, b) == (h, r)), reverse=True)
    place, row = np.arange(len(mine)) + 1, np.zeros(len(mine), int)
    assert ndcg(AnswerRanks(row, np.array(mine), place, place))[0] == pytest.approx(1)
    if len(mine) > 1:
        assert ndcg(AnswerRanks(row, np.array(mine), place[::-1], place[::-1]))[0] < 1


def test_the_map_is_monotone_and_beats_every_line_on_its_own_facts():
    rng = np.random.default_rng(0)
    score = rng.normal(size=300)
    w = np.clip(1 / (1 + np.exp(-3 * score)) + 0.1 * rng.normal(size=300), 0, 1)
    f = fit_confidence(score, w)
    assert (np.diff(f(np.linspace(-5, 5, 100))) >= 0).all()
    line = np.polyval(np.polyfit(score, w, 1), score)
    assert ((f(score) - w) ** 2).mean() < ((line - w) ** 2).mean()
    # Any increasing function of the scores serves as well as the scores do.
    np.testing.assert_allclose(fit_confidence(np.exp(score), w)(np.exp(score)), f(score))


def test_without_confidences_there_is_nothing_to_evaluate(model):
    bare = replace(DATA, test=replace(DATA.test, weight=None))
    with pytest.raises(KgflowError, match="no test facts with confidences"):
        evaluate_confidence(model, bare, MARGIN)
    found = evaluate_confidence(model, replace(DATA, valid=DATA.valid.take(slice(0, 0))), MARGIN)
    assert found.mapped is None
    assert found.to_dict()["mapped"] is None


def test_scores_that_are_no_numbers_are_refused():
    broken = random_model("nfe-1", DATA, dim=4)
    broken.entity.weight.data[int(DATA.test.h[0])] = torch.nan
    with pytest.raises(FloatingPointError):
        evaluate_confidence(broken, DATA, MARGIN)
