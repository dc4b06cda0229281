"""Sampled queries have the answers they claim, and prediction sets contain missing ones."""

from dataclasses import replace

import numpy as np
import pytest

from graphs import random_graph, random_model
from kgflow.data import Triples, ValidationSplit
from kgflow.errors import KgflowError
from kgflow.evaluation import Scorer
from kgflow.queries.composition import ComposedRelations
from kgflow.queries.engine import AskOptions, QueryEngine
from kgflow.queries.execution import Executor
from kgflow.queries.facts import KnownFacts
from kgflow.queries.prediction_sets import nonconformity, set_size
from kgflow.queries.sampling import MAX_ANSWERS, QuerySampler
from kgflow.queries.tree import SHAPES, Anchor, Projection, query_text, shape_name
from kgflow.uncertainty import Calibration

DATA = random_graph(entities=40, relations=3, facts=200, held_out=30)
KNOWN = Triples.concatenate([DATA.train, DATA.valid])


def join(triples, node):
    return set(np.flatnonzero(Executor(KnownFacts(DATA.index(triples)))(node).value > 0))


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("hard", [True, False])
def test_queries_have_their_shape_and_answers(name, hard):
    everything = Triples.concatenate([KNOWN, DATA.test])
    found = QuerySampler(DATA, KNOWN, seed=1).draw(SHAPES[name], 5, hard)
    assert len(found) == 5
    for query in found:
        assert shape_name(query.node) == name
        answers = join(everything, query.node)
        assert set(query.answers) == answers
        assert len(answers) <= MAX_ANSWERS
        assert set(query.known) == join(KNOWN, query.node)
        assert set(query.hard) == answers - set(query.known)
        assert len(query.hard) or not hard
    again = QuerySampler(DATA, KNOWN, seed=1).draw(SHAPES[name], 5, hard)
    assert [q.node for q in again] == [q.node for q in found]


def test_there_are_no_hard_queries_where_nothing_is_missing():
    complete = replace(DATA, valid=Triples.empty(), test=Triples.empty())
    sampler = QuerySampler(complete, DATA.train)
    assert not sampler.draw(SHAPES["1p"], 1)
    assert sampler.draw(SHAPES["1p"], 1, hard=False)


def test_nonconformity_is_uniform_among_ties():
    value, known = np.array([0.5, 0.5, 0.5, 0.9, 0.9]), np.array([4])
    found = [nonconformity(value, known, 0, u) for u in (0.0, 0.5, 1.0)]
    assert found == [1.0, 2.5, 4.0]


def test_sets_cover_a_new_answer():
    """The rank of a new score among exchangeable ones is uniform, so coverage is exact."""
    rng, inside = np.random.default_rng(0), []
    for _ in range(4000):
        # An answer of rank k has a nonconformity score that is uniform on (k - 1, k).
        scores, rank = rng.uniform(0, 50, 60), rng.integers(1, 51)
        inside.append(rank <= set_size(scores, 0.8, 50, rng))
    assert np.mean(inside) == pytest.approx(0.8, abs=0.025)


def engine():
    """Of a random model: ranks are random, and sets large, but they cover."""
    split = ValidationSplit(DATA.valid.take(slice(0, 15)), DATA.valid.take(slice(15, None)))
    model = random_model("nfe-1", DATA, dim=4)
    return QueryEngine(Scorer(model, DATA.known), DATA, Calibration(margin=5.0), split)


def test_a_prediction_set_of_a_shape_without_held_out_queries_is_refused(monkeypatch):
    monkeypatch.setattr("kgflow.queries.engine.QUERIES", 10)
    one = Projection(Anchor(0), 0)
    with pytest.raises(KgflowError, match="10 held-out queries of the shape 1p"):
        engine().prediction_set(query_text(one, DATA), 0.9)


def test_composed_scores_are_those_of_the_model():
    queries = engine()
    h, r = np.arange(4), np.array([0, 1, 2, 4])
    found = queries.composed.scores(h, (r,))
    np.testing.assert_allclose(found, queries.scorer.scores(h, r), atol=1e-10)
    answers = queries.ask(Projection(Anchor(3), 1), AskOptions(k=40, method="compose"))
    known = set(np.flatnonzero(DATA.known.contains(3, 1, np.arange(40))))
    assert {DATA.entities.id(one.name) for one in answers.answers if one.known} == known
    assert all((one.probability == 1) == one.known for one in answers.answers)


def test_models_whose_relations_do_not_compose_are_refused():
    model = random_model("boxe", DATA, dim=4)
    with pytest.raises(KgflowError, match="boxe have no composition in closed form"):
        ComposedRelations(Scorer(model, DATA.known), DATA, DATA.valid)
