import gzip
import sys

import pytest

from kgflow.data import Columns, load, read_triples
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
