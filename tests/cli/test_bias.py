"""A model with a bias of every entity, through every command."""

import numpy as np
import pytest
import torch

import kgflow as library


@pytest.fixture(scope="module")
def biased_run(tmp_path_factory):
    directory = tmp_path_factory.mktemp("runs") / "biased"
    library.train("world", dim=8, epochs=2, lr=0.05, settings={"model.bias": True}, out=directory)
    return directory


def test_train_takes_it(answer, tmp_path):
    flags = ("--dim", 2, "--epochs", 1, "--set", "model.bias=true", "--out", tmp_path / "run")
    found = answer("train", "world", *flags)
    assert found["model"]["bias"] is True
    assert found["floats_per_entity"] == 5
    assert answer("evaluate", tmp_path / "run") == found["test"]
    assert answer("train", "--resume", tmp_path / "run")["test"] == found["test"]


def test_it_is_refused_where_there_is_one(refusal, tmp_path):
    said = refusal(
        "train", "world", "--model", "conve", "--set", "model.bias=true", "--out", tmp_path / "run"
    )
    assert "conve already has an entity bias" in said
    assert not list(tmp_path.iterdir())


def test_predictions_have_it(answer, biased_run):
    run = library.open(biased_run)
    found = answer("predict", biased_run, "--head", "France", "--relation", "borders", "-k", 5)
    h, r = run.data.entity_id("France"), run.data.relations.id("borders")
    ids = [run.data.entity_id(a["tail"]) for a in found["answers"]]
    row = run.model.entity.weight[[h]].detach().double()
    model = run.model.double()
    query = model.encode_query(row, model.relation.weight[[r]])
    keys = model.encode_keys(model.entity.weight[ids])
    score = (query.Q @ keys.K.T + query.a + keys.b)[0]
    assert [a["score"] for a in found["answers"]] == pytest.approx(score.tolist(), rel=1e-4)
    plain = score - model.entity.weight[ids, -1]
    assert (plain - score).abs().max() > 1e-3


def test_an_index_finds_the_same(biased_run):
    """Where b is more than a length, the nearest are not the best, and the index knows."""
    pytest.importorskip("faiss", reason="the extra `index` is not installed")
    from kgflow.search.index import INDEX_METHODS, Index

    run = library.open(biased_run)
    index = Index.build(run.predictor.entities, INDEX_METHODS["flat"])
    assert index.transform.name == "inner product"
    Q, a = (x.detach() for x in run.model.query(torch.arange(20), torch.arange(20)))
    exact = run.predictor.entities.scores(Q, a).topk(5).values
    torch.testing.assert_close(index(Q, a, k=5).score, exact, rtol=1e-4, atol=1e-4)


def test_exports_have_it(kgflow, biased_run, tmp_path):
    out = tmp_path / "rows.npz"
    code, _, err = kgflow("export", biased_run, "--format", "npz", "--out", out)
    assert code == 0, err
    bias = library.open(biased_run).model.entity.weight[:, -1:].detach().numpy()
    assert np.array_equal(np.load(out)["entity.bias"], bias)


def test_reports_tell_it(biased_run):
    from kgflow.analysis.report.sections.settings import _model

    assert _model(library.open(biased_run))["entity bias"] == "yes"
