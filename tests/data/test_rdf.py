import gzip
import sys

import pytest

from kgflow.data import Columns, RdfOptions, import_files, load, read_triples, save
from kgflow.errors import KgflowError

pytest.importorskip("pyoxigraph")

NT = """<http://e/a> <http://e/r> <http://e/b> .
_:x <http://e/r> <http://e/é> .
<http://e/a> <http://e/name> "Alpha"@en .
"""
TTL = """@prefix e: <http://e/> .
e:a e:r e:b ; e:name "Alpha"@en .
_:x e:r e:é .
"""
FACTS = [("http://e/a", "http://e/r", "http://e/b"), ("_:x", "http://e/r", "http://e/é")]


@pytest.mark.parametrize(
    ("name", "text"), [("f.nt", NT), ("f.ttl", TTL), ("g.ttl", "\ufeff" + TTL)]
)
@pytest.mark.parametrize("zipped", [False, True])
def test_both_forms_give_the_same_triples(name, text, zipped, write):
    path = write(name + ".gz", gzip.compress(text.encode())) if zipped else write(name, text)
    assert read_triples(path).rows() == FACTS
    assert f"{path}: triples with literals left out: 1" in load(path).notices


def test_nodes_without_a_label_get_stable_names(write):
    text = "@prefix e: <http://e/> . e:a e:r [ e:s e:b ] , [ e:s e:c ] ."
    first, again = (read_triples(write("f.ttl", text)).rows() for _ in range(2))
    assert first == again
    assert {row[0] for row in first} == {"http://e/a", "_:f.1", "_:f.2"}


def test_an_error_names_file_and_line(write):
    path = write("f.nt", NT + "<http://e/a> <http://e/r> .\n")
    with pytest.raises(KgflowError, match=f"^{path}:4: .*correct the line$"):
        read_triples(path)


def test_a_graph_of_literals_only_is_empty(write):
    path = write("f.nt", NT.splitlines()[2])
    with pytest.raises(KgflowError, match="contains no triples"):
        read_triples(path)


def test_columns_are_refused_for_rdf(write):
    with pytest.raises(KgflowError, match="leave out --columns"):
        read_triples(write("f.nt", NT), Columns.parse("0,1,2"))


def test_the_missing_package_is_named(write, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyoxigraph", None)
    with pytest.raises(KgflowError, match=r"install kgflow\[rdf\]"):
        read_triples(write("f.nt", NT))


STATEMENTS = """<http://e/a> <http://e/r> <http://e/b> .
<http://e/a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://e/T> .
<http://e/b> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://f/T> .
<http://e/b> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://schema.org/U> .
<http://e/a> <http://www.w3.org/2000/01/rdf-schema#label> "Alpha\\tone"@en .
<http://e/a> <http://www.w3.org/2000/01/rdf-schema#label> "Alfa"@de .
<http://e/b> <http://www.w3.org/2000/01/rdf-schema#label> "beta" .
<http://e/T> <http://www.w3.org/2000/01/rdf-schema#label> "tee"@fr .
"""
FORMATS = {
    "nt": "N_TRIPLES", "nq": "N_QUADS", "ttl": "TURTLE", "trig": "TRIG", "rdf": "RDF_XML",
    "owl": "RDF_XML", "jsonld": "JSON_LD",
}  # fmt: skip


def statements():
    import pyoxigraph as ox

    return [quad.triple for quad in ox.parse(STATEMENTS.encode(), format=ox.RdfFormat.N_TRIPLES)]


@pytest.fixture(params=[*FORMATS, "store"])
def source(request, tmp_path):
    import pyoxigraph as ox

    path = tmp_path / f"g.{request.param}"
    if request.param == "store":
        ox.Store(str(path)).extend(
            ox.Quad(*s, ox.NamedNode("http://e/g")) for s in map(tuple, statements())
        )
    else:
        form = getattr(ox.RdfFormat, FORMATS[request.param])
        prefixes = {"e": "http://e/", "s": "http://schema.org/"}
        path.write_bytes(ox.serialize(statements(), format=form, prefixes=prefixes))
    return path


def test_every_format_gives_facts_labels_and_types(source, tmp_path):
    data = load(source)
    assert len(data.train) + len(data.valid) + len(data.test) == 4
    assert data.labels == {"http://e/a": "Alpha one", "http://e/b": "beta"}
    assert data.types == {"http://e/a": ("http://e/T",), "http://e/b": ("http://f/T", "schema:U")}
    assert f"{source}: labels in other languages left out: 2" in data.notices
    assert [data.label(data.entity_id(name)) for name in ("schema:U", "http://e/T")] == [
        "schema:U",
        "T",
    ]
    again = load(save(data, tmp_path / "saved"))
    assert (again.labels, again.types, again.digest()) == (data.labels, data.types, data.digest())


def test_predicates_and_language_are_chosen(source):
    data = import_files([source], rdf=RdfOptions(exclude=("rdf:type",), language="de"))
    assert data.relations.names == ("http://e/r",)
    assert data.labels == {"http://e/a": "Alfa", "http://e/b": "beta"}
    assert data.types["http://e/a"] == ("http://e/T",)
    assert f"{source}: triples of excluded predicates left out: 3" in data.notices
    assert data.relations.id("r") == 0


def test_a_predicate_that_is_not_there_is_reported(source):
    data = import_files([source], rdf=RdfOptions(include=("r", "typ")))
    assert f"{source}: no predicate matches 'typ'" in " ".join(data.notices)
    with pytest.raises(KgflowError, match=r"no predicate matches 'typ'.*correct --include"):
        import_files([source], rdf=RdfOptions(include=("typ",)))
