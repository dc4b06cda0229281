"""Graphs from endpoints and stores, and predictions back into them, by the program."""

import pytest

ox = pytest.importorskip("pyoxigraph", reason="the extra `rdf` is not installed")
from endpoint import serve  # noqa: E402

PREFIX = "PREFIX e: <http://e.org/> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>"


@pytest.fixture
def server():
    store = ox.Store()
    facts = "".join(f"e:n{i} e:next e:n{(i * 7 + 3) % 40} ; e:size {i} .\n" for i in range(40))
    store.update(f"{PREFIX} INSERT DATA {{ {facts} e:n1 rdfs:label 'Eins'@de, 'One'@en }}")
    with serve(store) as running:
        yield running


def test_from_an_endpoint_to_predictions_in_it(kgflow, answer, server, tmp_path):
    out = tmp_path / "graph"
    flags = ("--language", "de", "--page-size", 9, "--out", out)
    found = answer("data", "import", server.address, *flags)
    assert (found["entities"], found["relations"]) == (40, 1)
    assert any("literals left out: 40" in notice for notice in found["notices"])
    assert [p.name for p in tmp_path.iterdir()] == ["graph"]
    run = tmp_path / "run"
    answer("train", out, "--dim", 2, "--epochs", 1, "--out", run)
    code, text, _ = kgflow("predict", run, "--head", "Eins", "--relation", "next", "-k", 40)
    assert code == 0
    assert "http://" not in text
    assert answer("predict", run, "--head", "n2", "--relation", "next")["answers"][0]["head"] == (
        "http://e.org/n2"
    )
    flags = ("--format", "sparql", "--set", "k=5", "--out", server.address)
    answer("export", run, *flags)
    count = "SELECT (COUNT(*) AS ?n) { ?f <http://www.w3.org/ns/prov#wasGeneratedBy> ?run }"
    assert next(iter(server.store.query(count)))["n"].value == "5"


def test_an_interrupted_import_continues(kgflow, answer, server, tmp_path, monkeypatch):
    command = ("data", "import", server.address, "--page-size", 9, "--out", tmp_path / "graph")
    select, asked = "kgflow.data.endpoint.Endpoint.select", []

    def interrupt(self, query):
        asked.append(query)
        if len(asked) == 3:
            raise KeyboardInterrupt
        return []

    from kgflow.data.endpoint import Endpoint

    real = Endpoint.select
    monkeypatch.setattr(select, lambda self, q: interrupt(self, q) or real(self, q))
    code, _, note = kgflow(*command)
    assert code == 130
    assert ".graph.1.download keeps the pages for the same command again" in note
    assert not (tmp_path / "graph").exists()
    assert answer(*command)["entities"] == 40
    assert asked[2] == asked[3]
    assert [p.name for p in tmp_path.iterdir()] == ["graph"]


def test_an_occupied_directory_is_refused_before_the_download(refusal, server, tmp_path):
    (tmp_path / "mine").write_text("kept")
    assert "is not empty" in refusal("data", "import", server.address, "--out", tmp_path)
    assert not server.queries


def test_a_wrong_language_is_refused(refusal, server, tmp_path):
    command = ("data", "import", server.address, "--language", 'e"n', "--out", tmp_path / "x")
    assert "is no language" in refusal(*command)
