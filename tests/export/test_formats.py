"""Exported files contain the arrays and triples of the run."""

import json
import re
import tomllib
from dataclasses import replace
from urllib.parse import unquote

import numpy as np
import polars as pl
import pytest

import kgflow
from endpoint import serve
from graphs import random_graph
from kgflow.config import Experiment, parse
from kgflow.data import SPLITS, Triples, Vocabulary, import_files, read_triples
from kgflow.errors import KgflowError
from kgflow.export import FORMATS, export
from kgflow.runs.store import model_digest

NAMES = ("New York", "50%", "tab\there", "line\nend", "naïve", "http://x.org/a", "_:b1", "a b  c")


@pytest.fixture(scope="module", params=["nfe-1", "distmult"])
def run(request, tmp_path_factory):
    data = random_graph(entities=40, facts=200)
    names = Vocabulary([*NAMES, *data.entities.names[len(NAMES) :]])
    data = replace(data, entities=names, labels={"e9": "Nine"}, types={"e9": ("odd", "digit")})
    out = tmp_path_factory.mktemp("runs") / request.param
    return kgflow.train(data, request.param, dim=4, epochs=1, out=out)


def rows(run, kind):
    table = getattr(run.model, kind)
    return {k: x.numpy() for k, x in
            zip(table.parts, table.split(table.weight.detach()), strict=True)}  # fmt: skip


def K(run):
    return run.model.encode_keys(run.model.entity.weight).K.detach().numpy()


def test_parquet(run, tmp_path):
    out = export(run, "parquet", tmp_path / "tables")
    entities = pl.read_parquet(out / "entities.parquet")
    relations = pl.read_parquet(out / "relations.parquet")
    assert entities["name"].to_list() == list(run.data.entities)
    assert entities.row(9, named=True)["label"] == "Nine"
    assert entities["types"].to_list()[9] == ["odd", "digit"]
    assert relations["name"].to_list()[:3] == list(run.data.relations)
    for frame, kind in ((entities, "entity"), (relations, "relation")):
        for part, expected in rows(run, kind).items():
            assert np.array_equal(frame[part].to_numpy(), expected)


def test_npz(run, tmp_path):
    found = np.load(export(run, "npz", tmp_path / "run.npz"), allow_pickle=False)
    assert found["entity.names"].tolist() == list(run.data.entities)
    for kind in ("entity", "relation"):
        for part, expected in rows(run, kind).items():
            assert np.array_equal(found[f"{kind}.{part}"], expected)


def test_word2vec(run, tmp_path):
    text = export(run, "word2vec", tmp_path / "run.txt").read_text(encoding="utf-8")
    head, *lines = text.rstrip("\n").split("\n")
    assert head == f"40 {K(run).shape[1]}"
    cells = [line.split(" ") for line in lines]
    assert [unquote(c[0]) for c in cells] == list(run.data.entities)
    assert np.array_equal(np.array([c[1:] for c in cells], dtype=np.float32), K(run))


def test_projector(run, tmp_path):
    out = export(run, "projector", tmp_path / "board")
    config = (out / "projector_config.pbtxt").read_text()
    assert {p.name for p in out.iterdir()} - {"projector_config.pbtxt"} == {
        word.strip('"') for word in config.split() if word.endswith('.tsv"')
    }
    found = np.loadtxt(out / "tensors.tsv", delimiter="\t", dtype=np.float32)
    assert np.array_equal(found, K(run))
    lines = (out / "metadata.tsv").read_text(encoding="utf-8").rstrip("\n").split("\n")
    assert lines[0].split("\t") == ["name", "label", "types"]
    assert lines[10].split("\t") == ["e9", "Nine", "odd, digit"]
    assert [line.count("\t") for line in lines] == [2] * 41


@pytest.mark.parametrize("name", ["ntriples", "ntriples-reified"])
def test_predicted_triples(run, tmp_path, name):
    ox = pytest.importorskip("pyoxigraph", reason="the extra `rdf` is not installed")
    out = export(run, name, tmp_path / "facts.nt", k=60)
    told = {}
    for quad in ox.parse(out.read_bytes(), format=ox.RdfFormat.N_TRIPLES):
        told.setdefault(quad.subject.value, {})[quad.predicate.value.split("#")[-1]] = quad.object
    expected = run.discover(60)
    digest = model_digest(run.directory)[:16]
    activity = f"urn:kgflow:run:{digest}"
    assert told.pop(activity)["urn:kgflow:dataDigest"].value == run.data.digest()
    assert len(told) == len(expected) == 60

    def term_name(term):
        if isinstance(term, ox.BlankNode):
            return f"_:{term.value}"
        return unquote(term.value.removeprefix("urn:kgflow:").split(":", 1)[1]) if (
            term.value.startswith("urn:kgflow:")) else term.value  # fmt: skip

    for row in expected.iter_rows(named=True):
        fact = told[f"urn:kgflow:fact:{digest}:{row['rank']}"]
        if name == "ntriples":
            triple = fact["reifies"]
            parts = (triple.subject, triple.predicate, triple.object)
        else:
            parts = (fact["subject"], fact["predicate"], fact["object"])
        assert tuple(map(term_name, parts)) == (row["head"], row["relation"], row["tail"])
        value = fact.get("urn:kgflow:probability")
        assert (None if value is None else float(value.value)) == row["probability"]
        assert fact[["http://www.w3.org/ns/prov", "wasGeneratedBy"][-1]].value == activity


@pytest.mark.parametrize("graph", [None, "http://e.org/predicted"])
def test_an_endpoint_gets_the_statements_of_the_file(run, tmp_path, monkeypatch, graph):
    ox = pytest.importorskip("pyoxigraph", reason="the extra `rdf` is not installed")
    monkeypatch.setattr("kgflow.export.rdf.FACTS_PER_UPDATE", 7)
    path = export(run, "ntriples", tmp_path / "facts.nt", k=30)
    store = ox.Store()
    with serve(store) as server:
        address = server.address.replace("//", "//me:secret@")
        for _ in range(2):  # twice changes nothing
            assert export(run, "sparql", address, k=30, graph=graph) == server.address
    name = ox.DefaultGraph() if graph is None else ox.NamedNode(graph)
    expected = [q.triple for q in ox.parse(path.read_bytes(), format=ox.RdfFormat.N_TRIPLES)]
    found = [q.triple for q in store.quads_for_pattern(None, None, None, name)]
    assert len(server.updates) == 10

    def known(triples):
        return {str(t) for t in triples if "_:" not in str(t)}

    assert known(found) == known(expected)
    with pytest.raises(KgflowError, match="is not the address of a SPARQL endpoint"):
        export(run, "sparql", tmp_path / "x")
    with pytest.raises(KgflowError, match="format npz cannot be written to http"):
        export(run, "npz", server.address)


def test_predictions_of_unknown_probability_are_marked_as_predicted(tmp_path):
    run = kgflow.train(random_graph(held_out=0), dim=2, epochs=1, out=tmp_path / "run")
    assert run.discover(1)["probability"].to_list() == [None]
    digest = model_digest(run.directory)
    path = export(run, "apoc", tmp_path / "graph.json", k=1)
    assert json.loads(path.read_text().splitlines()[-1])["properties"] == {"model": digest}
    path = export(run, "neo4j-csv", tmp_path / "graph", k=1) / "relationships.csv"
    assert path.read_text().splitlines()[1].endswith(f",{digest},")


@pytest.mark.parametrize(("name", "known"), [("neo4j-csv", False), ("apoc", True)])
def test_property_graphs_are_read_back(run, tmp_path, name, known):
    out = export(run, name, tmp_path / "graph.jsonl", k=20, known=known)
    paths = sorted(out.iterdir()) if out.is_dir() else [out]
    frame = pl.concat([read_triples(path) for path in paths])
    expected = run.discover(20)
    facts = sum(len(run.data.split(s)) for s in SPLITS) if known else 0
    columns = ["head", "relation", "tail"]
    assert frame[facts:].rows() == expected.select(columns).rows()
    names = run.predictor.names(run.data.train.array())
    assert not known or frame[: len(run.data.train)].to_dict(as_series=False) == names
    data = import_files(paths)
    assert not any("no file of nodes" in notice for notice in data.notices)
    assert data.labels == {e: t for e, t in run.data.labels.items() if e in data.entities}
    assert data.types == {e: t for e, t in run.data.types.items() if e in data.entities}
    lines = out.read_text() if out.is_file() else (out / "relationships.csv").read_text()
    for probability in expected["probability"]:
        assert probability is None or repr(probability) in lines


def test_a_model_card_is_a_run_and_says_what_it_is(run, tmp_path, monkeypatch, capsys):
    out = export(run, "model-card", tmp_path / "shared", license="Apache-2.0")
    text = (out / "README.md").read_text()
    assert text.startswith("---\nlibrary_name: kgflow\n")
    assert "license: apache-2.0\n---\n" in text
    assert not (out / "checkpoint").exists()
    opened = kgflow.open(out)
    assert opened.discover(5).equals(run.discover(5))
    found = [line.split(" | ") for line in text.splitlines() if line.startswith("| test | ")]
    for cell, name in zip(found[0][2:6], ("mrr", "hits@1", "hits@3", "hits@10"), strict=True):
        value, low, high = map(float, re.findall(r"[\d.]+", cell))
        assert value == round(run.metrics["test"]["realistic"][name], 3)
        assert low <= value <= high
        assert name != "mrr" or low < high
    assert model_digest(run.directory) in text
    settings = tomllib.loads(text.split("```toml\n")[1].split("```")[0])
    again = parse(Experiment, settings, "card").model_dump()
    assert again == run.config.model_dump(exclude={"run"})
    code = text.split("```python\n")[1].split("```")[0]
    monkeypatch.chdir(tmp_path)
    exec(code, {})
    assert "shape: (5, " in capsys.readouterr().out
    again = export(opened, "model-card", tmp_path / "again")
    assert (again / "README.md").read_text().count("# ") == text.count("# ")


def test_a_model_card_without_test_facts_or_calibration_says_so(tmp_path):
    data = random_graph()
    bare = replace(data, train=data.train, valid=Triples.empty(), test=Triples.empty())
    run = kgflow.train(bare, "nfe-1", dim=2, epochs=1, out=tmp_path / "run")
    text = (export(run, "model-card", tmp_path / "card") / "README.md").read_text()
    assert "There are no test facts" in text
    assert "Not calibrated" in text
    unseen = int((~bare.train.entity_mask(len(bare.entities))).sum())
    assert (f"- {unseen:,} entities do not occur" in text) == bool(unseen)


def test_the_faiss_readme_finds_the_answers_of_the_run(run, tmp_path, monkeypatch, capsys):
    faiss = pytest.importorskip("faiss", reason="the extra `ann` is not installed")
    out = export(run, "faiss", tmp_path / "index")
    assert json.loads((out / "names.json").read_text()) == list(run.data.entities)
    index = faiss.read_index(str(out / "index.faiss"))
    width = K(run).shape[1]
    assert np.array_equal(index.reconstruct_n(0, 40)[:, :width], K(run))
    code = (out / "README.md").read_text().split("```python\n")[1].split("```")[0]
    monkeypatch.chdir(out)
    code = code.replace('"RUN"', repr(str(run.directory)))
    code = code.replace('json.load(open("names.json"))', "json.loads(text)")
    exec(code, {"text": (out / "names.json").read_text()})
    expected = run.predict(head=run.data.entities[0], relation="r0")["tail"].to_list()
    assert capsys.readouterr().out.strip() == str(expected)


def test_no_partial_output(run, tmp_path, monkeypatch):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("kept")
    with pytest.raises(KgflowError, match="is not empty"):
        export(run, "parquet", tmp_path / "full")
    with pytest.raises(KgflowError, match="cannot be written"):
        export(run, "npz", tmp_path / "nowhere" / "run.npz")
    with pytest.raises(KgflowError, match="unknown format 'parket'; did you mean parquet"):
        export(run, "parket", tmp_path / "x")
    with pytest.raises(KgflowError, match="format npz, option 'k'"):
        export(run, "npz", tmp_path / "x", k=3)

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr("kgflow.export.vectors.escape_name", fail)
    (tmp_path / "old.txt").write_text("old")
    with pytest.raises(OSError, match="disk full"):
        export(run, "word2vec", tmp_path / "old.txt")
    assert (tmp_path / "old.txt").read_text() == "old"
    assert {p.name for p in tmp_path.iterdir()} == {"full", "old.txt"}


def test_a_model_that_cannot_be_indexed_is_refused(tmp_path):
    run = kgflow.train(
        random_graph(),
        "transe",
        dim=2,
        epochs=1,
        settings={"model.norm": "l1"},
        out=tmp_path / "run",
    )
    with pytest.raises(KgflowError, match="transe is not an inner-product model"):
        export(run, "faiss", tmp_path / "x")
    assert not (tmp_path / "x").exists()
    for name in set(FORMATS) - {"faiss", "sparql"}:
        assert export(run, name, tmp_path / f"as-{name}").exists()
