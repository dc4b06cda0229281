"""`kgflow serve` and `kgflow export`, up to the moment of listening."""

import socket

import numpy as np
import pytest

import kgflow as library

pytest.importorskip("fastapi", reason="the extra `serve` is not installed")


@pytest.fixture
def started(monkeypatch):
    """What would be served, instead of serving it."""
    from kgflow.serving import server

    found = []

    def keep(app, listening):
        listening.close()
        found.append(app)

    monkeypatch.setattr(server, "serve", keep)
    return found


def test_serve_says_where_and_how_it_searches(kgflow, answer, started, world_run):
    found = answer("serve", world_run, "--port", 0)
    assert found["url"].startswith("http://127.0.0.1:")
    assert found["search"] == "exact search"
    code, out, err = kgflow("serve", world_run, "--port", 0)
    assert code == 0
    assert "/v1/openapi.json" in out
    assert err == ""
    assert len(started) == 2


def test_serve_by_an_index(answer, started, world_run):
    pytest.importorskip("faiss", reason="the extra `ann` is not installed")
    found = answer("serve", world_run, "--port", 0, "--index", "hnsw", "--min-recall", 0.9)
    assert found["recall"] >= 0.9
    assert "hnsw index (distance, efSearch" in found["search"]
    assert (world_run / "index" / "index.json").exists()
    same = answer("serve", world_run, "--port", 0, "--index", "faiss", "--min-recall", 0.9)
    assert (same["search"], same["recall"]) == (found["search"], found["recall"])


def test_serve_to_others_without_a_token_is_noted(kgflow, started, world_run, monkeypatch):
    assert "everyone" in kgflow("serve", world_run, "--port", 0, "--host", "0.0.0.0")[2]
    monkeypatch.setenv("KGFLOW_TOKEN", "secret")
    assert "everyone" not in kgflow("serve", world_run, "--port", 0, "--host", "0.0.0.0")[2]


def test_bad_servers_are_refused(refusal, started, world_run):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert f"port {port} cannot be listened on" in refusal("serve", world_run, "--port", port)
    assert "unknown index 'ivv'" in refusal("serve", world_run, "--index", "ivv", "--port", 0)
    assert "printable ASCII" in refusal("serve", world_run, "--token", "", "--port", 0)
    assert "cannot be listened on" in refusal("serve", world_run, "--host", "no.such.host")


def test_export(answer, refusal, world_run, tmp_path):
    found = answer("export", world_run, "--to", "npz", "--out", tmp_path / "world.npz")
    arrays = np.load(found["path"])
    weight = library.open(world_run).model.entity.weight.detach().numpy()
    assert np.array_equal(np.hstack([arrays["entity.mu"], arrays["entity.sigma"]]), weight)
    assert "unknown format" in refusal("export", world_run, "--to", "xls", "--out", tmp_path / "x")
    facts = tmp_path / "facts.nt"
    answer("export", world_run, "--to", "ntriples", "-k", 5, "--out", facts)
    assert facts.read_text().count("urn:kgflow:confidence") == 5
