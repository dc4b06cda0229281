"""An index finds the answers of the exact search, with any filter."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

import kgflow
from graphs import random_graph, random_model
from kgflow.errors import KgflowError
from kgflow.kernels import EncodedEntities, ExactSearch
from kgflow.runs.answers import TripleQuery
from kgflow.runs.predictor import Predictor

faiss = pytest.importorskip("faiss", reason="the extra `ann` is not installed")

from kgflow.search.index import INDEX_METHODS, Index  # noqa: E402
from kgflow.search.saved_index import measure_recall, open_index, select_search, tenth_score  # noqa: E402
from kgflow.search.transform import (  # noqa: E402
    DistanceTransform,
    InnerProductTransform,
    SphereTransform,
    choose_transform,
)

INNER_PRODUCT_MODELS = ["nfe-1", "nfe-2", "nfe-3", "distmult", "complex", "tucker", "transe"]


def predictor(name="nfe-1", entities=400, **options):
    data = random_graph(entities=entities, facts=900, held_out=60, **options)
    return Predictor(random_model(name, data, dtype=torch.float32), data, margin=1.0)


def ask(predictor, count=40):
    q = predictor.data.queries("valid")
    h, r = (predictor.tensor(x[:count]) for x in (q.h, q.r))
    with torch.no_grad():
        return (
            *predictor.model.query(h, r),
            predictor.scorer.known_answers(q.h[:count], q.r[:count]),
        )


@pytest.mark.parametrize("name", INNER_PRODUCT_MODELS)
def test_a_flat_index_is_the_exact_search(name):
    p = predictor(name)
    index = Index.build(p.entities, INDEX_METHODS["flat"])
    Q, a, excluded = ask(p)
    allowed = torch.arange(400) % 3 == 0
    for filters in ((None, None), (excluded, None), (None, allowed), (excluded, allowed)):
        exact, found = ExactSearch(p.entities)(Q, a, 7, *filters), index(Q, a, 7, *filters)
        torch.testing.assert_close(found.score, exact.score, rtol=1e-4, atol=1e-4)
        assert (found.entity == exact.entity).float().mean() > 0.99


@pytest.mark.parametrize("method", INDEX_METHODS.values(), ids=INDEX_METHODS)
@pytest.mark.parametrize("share", [0.5, 0.02, 0.0])
def test_filters_keep_k(method, share):
    p = predictor()
    index = Index.build(p.entities, method)
    Q, a, excluded = ask(p)
    allowed = torch.zeros(400, dtype=torch.bool)
    allowed[torch.randperm(400)[: int(400 * share)]] = True
    # Everything that would be best is banned for the first query, so that only widening helps.
    most = ExactSearch(p.entities)(Q[:1], a[:1], 90).entity[0]
    excluded = (torch.cat([excluded[0], torch.zeros_like(most)]), torch.cat([excluded[1], most]))
    found = index(Q, a, 5, excluded, allowed)
    exact = ExactSearch(p.entities)(Q, a, 5, excluded, allowed)
    assert torch.equal(found.score > -torch.inf, exact.score > -torch.inf)
    real = found.score > -torch.inf
    assert allowed[found.entity[real]].all()
    out = set(zip(*(x.tolist() for x in excluded), strict=True))
    rows = torch.arange(len(Q))[:, None].expand_as(found.entity)
    assert not out & set(zip(rows[real].tolist(), found.entity[real].tolist(), strict=True))
    torch.testing.assert_close(
        found.score[real], index.entities.scores_of(Q, a, found.entity)[real]
    )


@pytest.mark.parametrize("kind", [InnerProductTransform, SphereTransform, DistanceTransform])
def test_a_transform_keeps_the_order_of_scores(kind):
    torch.manual_seed(0)
    K, Q = torch.randn(50, 6, dtype=torch.float64), torch.randn(9, 6, dtype=torch.float64)
    b = (
        -1.5 * K.square().sum(1)
        if kind is DistanceTransform
        else torch.randn(50, dtype=torch.float64)
    )
    entities = EncodedEntities(K, lambda rows: (rows, b[: len(rows)]))
    found = choose_transform(entities, exhaustive=kind is InnerProductTransform)
    assert type(found) is kind
    keys, queries = found.keys(K, b), found.queries(Q)
    near = -torch.cdist(queries, keys) if found.euclidean else queries @ keys.T
    assert torch.equal(near.argsort(dim=1), (Q @ K.T + b).argsort(dim=1))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    data = random_graph(entities=600, facts=2_000, held_out=100)
    data = replace(data, types={f"e{i}": ("few",) for i in range(0, 600, 100)})
    return kgflow.train(data, dim=8, epochs=1, out=tmp_path_factory.mktemp("runs") / "run")


def test_a_saved_index_is_used_until_the_model_changes(run):
    method = INDEX_METHODS["hnsw"]
    first, info = open_index(run, method, 0.99)
    place = run.directory / "index" / "index.faiss"
    made = place.stat().st_mtime_ns
    second, again = open_index(run, method, 0.99)
    assert again == info
    assert place.stat().st_mtime_ns == made
    Q, a, _ = ask(run.predictor)
    assert torch.equal(first(Q, a, 9).entity, second(Q, a, 9).entity)
    open_index(run, INDEX_METHODS["flat"], 0.99)
    assert place.stat().st_mtime_ns != made
    made = place.stat().st_mtime_ns
    stale = json.loads((run.directory / "index" / "index.json").read_text())
    stale["model_digest"] = "another"
    (run.directory / "index" / "index.json").write_text(json.dumps(stale))
    open_index(run, INDEX_METHODS["flat"], 0.99)
    assert place.stat().st_mtime_ns != made


@pytest.mark.parametrize("damage", [b"", b"not an index"])
def test_a_damaged_index_is_built_again(run, damage):
    open_index(run, INDEX_METHODS["flat"], 0.99)
    (run.directory / "index" / "index.faiss").write_bytes(damage)
    index, _ = open_index(run, INDEX_METHODS["flat"], 0.99)
    assert index.faiss_index.ntotal == 600


def test_predictions_by_an_index_are_those_of_the_run(run):
    by_index = kgflow.open(run.directory)
    selected = select_search(by_index, "flat")
    assert selected.search is not None
    assert selected.recall == 1.0
    questions = [TripleQuery(head=f"e{i}", relation=f"r{i % 3}") for i in range(20)]
    for new, types in ((False, ()), (True, ()), (True, ("few",))):
        a, b = (x.predictor.predict(questions, 5, new, types) for x in (run, by_index))
        numbers = ("score", "probability", "conditional_probability")
        assert a.drop(numbers).equals(b.drop(numbers))
        for name in numbers:
            np.testing.assert_allclose(a[name].cast(float), b[name].cast(float), rtol=1e-5)


def test_an_index_that_misses_answers_is_not_used(run):
    run = kgflow.open(run.directory)
    selected = select_search(run, "ivf", min_recall=1.0 + 1e-9)
    assert selected.search is None
    assert "exact search: the ivf index has recall@10" in selected.description
    index, _ = open_index(run, INDEX_METHODS["ivf"], 0.5)
    Q, a, _ = ask(run.predictor)
    index.set_search_parameter(1)
    tenth = tenth_score(index, Q, a)
    low = measure_recall(index, Q, a, tenth)
    index.set_search_parameter(15)
    assert low <= measure_recall(index, Q, a, tenth) == 1.0


def test_a_model_that_cannot_be_indexed_is_searched_exactly(tmp_path):
    run = kgflow.train(
        "world", "transe", dim=2, epochs=1, settings={"model.norm": "l1"}, out=tmp_path / "run"
    )
    selected = select_search(run, "hnsw")
    assert selected.search is None
    assert selected.description == "exact search: transe is not an inner-product model"
    with pytest.raises(KgflowError, match="unknown index 'hsnw'; did you mean hnsw"):
        select_search(run, "hsnw")
