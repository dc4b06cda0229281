"""`kgflow serve`, up to the moment of listening, and `kgflow export`."""

import socket

import numpy as np
import pytest

import kgflow as library
from kgflow.export import FORMATS, FileFormat

pytest.importorskip("fastapi", reason="the extra `serve` is not installed")


@pytest.fixture
def started(monkeypatch):
    """The applications that would be served."""
    from kgflow.serving import server

    found = []

    def keep(app, listening):
        listening.close()
        found.append(app)

    monkeypatch.setattr(server, "serve", keep)
    return found


def test_serve_prints_url_and_search_method(kgflow, answer, started, world_run):
    found = answer("serve", world_run, "--port", 0)
    assert found["url"].startswith("http://127.0.0.1:")
    assert found["search"] == "exact search"
    code, out, err = kgflow("serve", world_run, "--port", 0)
    assert code == 0
    assert "/v1/openapi.json" in out
    assert err == ""
    assert len(started) == 2


def test_serve_with_an_index(answer, started, world_run):
    pytest.importorskip("faiss", reason="the extra `ann` is not installed")
    found = answer("serve", world_run, "--port", 0, "--index", "hnsw", "--min-recall", 0.9)
    assert found["recall"] >= 0.9
    assert "hnsw index (distance, efSearch" in found["search"]
    assert (world_run / "index" / "index.json").exists()
    same = answer("serve", world_run, "--port", 0, "--index", "faiss", "--min-recall", 0.9)
    assert (same["search"], same["recall"]) == (found["search"], found["recall"])


def test_serve_to_others_without_a_token_is_noted(kgflow, started, world_run, monkeypatch):
    assert "anyone" in kgflow("serve", world_run, "--port", 0, "--host", "0.0.0.0")[2]
    monkeypatch.setenv("KGFLOW_TOKEN", "secret")
    assert "anyone" not in kgflow("serve", world_run, "--port", 0, "--host", "0.0.0.0")[2]


def test_bad_servers_are_refused(refusal, started, world_run):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert f"port {port} cannot be opened" in refusal("serve", world_run, "--port", port)
    assert "unknown index 'ivv'" in refusal("serve", world_run, "--index", "ivv", "--port", 0)
    assert "printable ASCII" in refusal("serve", world_run, "--token", "", "--port", 0)
    assert "cannot be opened" in refusal("serve", world_run, "--host", "no.such.host")


def test_export(answer, refusal, world_run, tmp_path):
    found = answer("export", world_run, "--format", "npz", "--out", tmp_path / "world.npz")
    arrays = np.load(found["path"])
    weight = library.open(world_run).model.entity.weight.detach().numpy()
    assert np.array_equal(np.hstack([arrays["entity.mu"], arrays["entity.sigma"]]), weight)
    assert "unknown format" in refusal(
        "export", world_run, "--format", "xls", "--out", tmp_path / "x"
    )
    facts = tmp_path / "facts.nt"
    answer("export", world_run, "--format", "ntriples", "--set", "k=5", "--out", facts)
    assert facts.read_text().count("urn:kgflow:probability") == 5


def test_a_format_of_the_user_is_exported(answer, refusal, kgflow, world_run, tmp_path):
    class EntityList(FileFormat):
        name, summary = "entity-list", "names of entities"
        separator: str = "\n"
        count: int = 3

        def fill(self, run, path):
            path.write_text(self.separator.join(run.data.entities.names[: self.count]))

    try:
        call = ("export", world_run, "--format", "entity-list", "--out", tmp_path / "names.txt")
        answer(*call, "--set", "separator=;", "--set", "count=2")
        names = library.open(world_run).data.entities.names
        assert (tmp_path / "names.txt").read_text() == ";".join(names[:2])
        assert "option 'count': input should be a valid integer" in refusal(
            *call, "--set", "count=x"
        )
        assert "option 'size'" in refusal(*call, "--set", "size=2")
        assert "--set takes KEY=VALUE" in refusal(*call, "--set", "count")
        code, out, _ = kgflow("export", "--formats")
        assert code == 0
        assert all(name in out for name in FORMATS)
    finally:
        del FORMATS["entity-list"]
