"""Answers scored from both ends, through the commands."""

import pytest
import torch

import kgflow as library


@pytest.fixture(scope="module")
def both_run(tmp_path_factory):
    directory = tmp_path_factory.mktemp("runs") / "both"
    library.train(
        "world", dim=8, epochs=2, lr=0.05, settings={"model.bidirectional": True}, out=directory
    )
    return directory


def test_train_takes_it(answer, tmp_path):
    found = answer(
        "train",
        "world",
        "--dim",
        2,
        "--epochs",
        1,
        "--set",
        "model.bidirectional=true",
        "--out",
        tmp_path / "run",
    )
    assert found["model"]["bidirectional"] is True
    assert answer("evaluate", tmp_path / "run") == found["test"]
    assert answer("train", "--resume", tmp_path / "run")["test"] == found["test"]


def test_it_is_refused_where_a_model_cannot(refusal, tmp_path):
    said = refusal(
        "train",
        "world",
        "--model",
        "nfe-2",
        "--set",
        "model.bidirectional=true",
        "--out",
        tmp_path / "run",
    )
    assert "nfe-2 has no bidirectional scoring" in said
    assert not list(tmp_path.iterdir())


def test_an_index_finds_the_same(both_run):
    pytest.importorskip("faiss", reason="the extra `ann` is not installed")
    from kgflow.search.index import INDEX_METHODS, Index

    run = library.open(both_run)
    index = Index.build(run.predictor.entities, INDEX_METHODS["flat"])
    Q, a = (x.detach() for x in run.model.query(torch.arange(20), torch.arange(20)))
    exact = run.predictor.entities.scores(Q, a).topk(5).values
    torch.testing.assert_close(index(Q, a, k=5).score, exact, rtol=1e-4, atol=1e-4)


def test_neighbours_are_those_of_the_distributions(both_run):
    pytest.importorskip("fastapi", reason="the extra `serve` is not installed")
    from kgflow.serving.service import RunService

    run = library.open(both_run)
    measure, found = RunService(run).neighbours(0, 3)
    trained = run.model.trained
    K = trained.encode_keys(trained.entity.weight).K.detach()
    gaps = (K - K[0]).square().sum(1)
    gaps[0] = torch.inf
    assert measure == "distance"
    assert [i for i, _ in found] == gaps.topk(3, largest=False).indices.tolist()


def test_reports_tell_it(kgflow, both_run, tmp_path):
    code, _, err = kgflow("report", both_run, "--out", tmp_path / "page.html")
    assert code == 0, err
    assert "bidirectional scoring" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize("model", ["nfe-1", "nfe-1-complex", "nfe-1-sigma", "nfe-1-quaternion"])
def test_its_uncertainty_is_that_of_the_model(answer, tmp_path, model):
    found = []
    for name, both in (("plain", False), ("both", True)):
        settings = {"model.bidirectional": both, "training.conformal_fraction": 0.0}
        library.train("world", model, dim=8, epochs=1, settings=settings, out=tmp_path / name)
        found.append(answer("uncertainty", tmp_path / name, "--entity", "France"))
    assert found[0] == found[1]


def test_vectors_for_other_programs_are_those_of_the_model(kgflow, both_run, tmp_path):
    code, _, err = kgflow("export", both_run, "--format", "word2vec", "--out", tmp_path / "v.txt")
    assert code == 0, err
    entities = len(library.load("world").entities)
    assert (tmp_path / "v.txt").read_text().splitlines()[0] == f"{entities} 16"


def test_relations_between_two_entities_are_scored_likewise(answer, both_run):
    run = library.open(both_run)
    found = answer("predict", both_run, "--head", "France", "--tail", "Paris", "-k", 3)["answers"]
    for row in found:
        scored = run.score([("France", row["relation"], "Paris")])["score"][0]
        assert row["score"] == pytest.approx(scored, rel=1e-4)
