"""Property graphs of Neo4j become facts, labels and types."""

import gzip
import json

import pytest

from kgflow.data import Columns, import_files, load, read_triples
from kgflow.errors import KgflowError

PEOPLE = """personId:ID(Person),name,born:int,:LABEL
1,"Reeves, Keanu",1964,Person;Actor
2,,,Person
"""
FILMS = """:ID(Film){id-type:long},title,:LABEL\r
1,The Matrix,\r
2,Speed,Film;Hit\r
3,None,Film\r
"""
ROLES = """:START_ID(Person),role,:END_ID(Film),:TYPE
1,"Neo ""The
One"" Anderson",1,ACTED_IN
1,Jack,2,ACTED_IN
"""
FACTS = [("Person:1", "ACTED_IN", "Film:1"), ("Person:1", "ACTED_IN", "Film:2")]


def test_files_of_nodes_and_relationships(write):
    paths = [write("p.csv", PEOPLE), write("f.csv", FILMS), write("r.csv", ROLES)]
    data = import_files(paths, shares=(0, 0))
    names = data.entities.names
    assert [(names[h], data.relations[r], names[t]) for h, r, t in data.train.array()] == FACTS
    assert data.labels == {
        "Person:1": "Reeves, Keanu", "Film:1": "The Matrix", "Film:2": "Speed",
    }  # fmt: skip
    assert data.types == {"Person:1": ("Person", "Actor"), "Film:2": ("Film", "Hit")}
    assert f"{paths[0]}: properties left out: 1" in data.notices
    assert f"{paths[2]}: properties left out: 1" in data.notices
    assert "nodes without relationships left out: 2" in data.notices


def test_a_header_in_its_own_file_and_compressed_parts(write):
    header, body = ROLES.split("\n", 1)
    one, two = body.rsplit("1,", 1)
    parts = [write("h.csv", header), write("1.csv.gz", gzip.compress(one.encode())),
             write("2.csv", "1," + two)]  # fmt: skip
    assert read_triples(",".join(map(str, parts))).rows() == FACTS


def test_ids_without_groups_are_names(write):
    text = ":START_ID\t:TYPE\t:END_ID\na\tr\tb\n"
    assert read_triples(write("r.tsv", text)).rows() == [("a", "r", "b")]
    assert read_triples(write("s.tsv", text), Columns.parse("2,1,0")).rows()[-1] == ("b", "r", "a")


def test_relationships_of_unlisted_nodes_are_reported(write):
    nodes, ends = write("n.csv", ":ID(A)\n1\n2\n"), write(
        "r.csv", ":START_ID(A),:TYPE,:END_ID(B)\n1,r,2\n"
    )  # fmt: skip
    notices = import_files([nodes, ends]).notices
    assert "nodes of relationships that no file of nodes lists: 1" in notices
    assert "nodes without relationships left out: 1" in notices
    with pytest.raises(KgflowError, match="only nodes: give a file of relationships"):
        load(nodes)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (":START_ID,:END_ID\na,b\n", r"r.csv:1: 0 columns :TYPE in the header"),
        (":ID,:ID\na,b\n", r"r.csv:1: 2 columns :ID in the header"),
        (":START_ID,:TYPE,:END_ID\n\na,,b\n", r"r.csv:3: the relationship has no type"),
        (":START_ID,:TYPE,:END_ID\n,r,b\n", r"r.csv:2: the :START_ID is empty"),
        (":ID,name\n1,a,b\n", r"r.csv:2: 3 columns where the header has 2"),
    ],
)
def test_a_bad_file_is_refused(write, text, message):
    with pytest.raises(KgflowError, match=message):
        load(write("r.csv", text))


def test_empty_files_are_refused(write):
    empty = write("h.csv", "")
    with pytest.raises(KgflowError, match=r"h.csv: 0 columns :START_ID in the header ''"):
        read_triples(f"{empty},{empty}")


NODES = [
    {"type": "node", "id": "0", "labels": ["User"], "properties": {"name": "Adam", "age": 42}},
    {"type": "node", "id": "1", "labels": ["User", "Admin"], "properties": {"Title": "Ji\tm"}},
]
KNOWS = {
    "id": "0", "type": "relationship", "label": "KNOWS", "properties": {"since": 1993},
    "start": {"id": "0", "labels": ["User"]}, "end": {"id": "1", "labels": ["User"]},
}  # fmt: skip


def lines(*records):
    return "\n".join(json.dumps(record) for record in records) + "\n"


@pytest.mark.parametrize("records", [(*NODES, KNOWS), (KNOWS, *NODES)])
def test_json_lines_of_apoc(write, records):
    data = load(write("all.json", lines(*records)))
    assert (data.entities.names, data.relations.names) == (("0", "1"), ("KNOWS",))
    assert data.labels == {"0": "Adam", "1": "Ji m"}
    assert data.types == {"0": ("User",), "1": ("User", "Admin")}
    assert any("properties left out: 3" in notice for notice in data.notices)


def test_relationships_alone_have_the_types_of_their_ends(write):
    data = load(write("r.jsonl", lines(KNOWS)))
    assert data.types == {"0": ("User",), "1": ("User",)}
    assert not any("no file of nodes" in notice for notice in data.notices)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[{}]", "f.json:1: not a node or relationship .* JSON_LINES"),
        (lines(KNOWS) + '{"type": "no', "f.json:2: not a node"),
        (lines(KNOWS | {"end": {}}), "f.json:1: a node has no id"),
        (lines(KNOWS | {"label": None}), "f.json:1: the relationship has no type"),
    ],
)
def test_bad_json_is_refused(write, text, message):
    with pytest.raises(KgflowError, match=message):
        load(write("f.json", text))
    with pytest.raises(KgflowError, match="leave out --columns"):
        load(write("f.json", text), columns="0,1,2")
