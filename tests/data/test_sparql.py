"""A graph read from an endpoint is the graph that the endpoint holds, however it misbehaves."""

import pytest

from kgflow.data import SPLITS, RdfOptions, Triples, import_files, load
from kgflow.data.endpoint import TRIES, Endpoint
from kgflow.data.sparql import download_graph
from kgflow.errors import KgflowError

ox = pytest.importorskip("pyoxigraph", reason="the extra `rdf` is not installed")
from endpoint import serve  # noqa: E402

HEAD = """@prefix e: <http://e.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix schema: <http://schema.org/> .
"""
GRAPH = HEAD + "".join(
    f"e:n{i} e:next e:n{i + 1} ; e:size {i} ; a e:{'Odd' if i % 2 else 'Even'} ;"
    f' rdfs:label "node {i}"@en, "Knoten {i}"@de, "noeud"@fr .\n'
    for i in range(30)
) + "e:n0 schema:spouse e:n7 . e:n3 e:next [] . e:n0 e:Next e:n9 ."  # fmt: skip


@pytest.fixture
def server():
    store = ox.Store()
    store.load(GRAPH.encode(), format=ox.RdfFormat.TURTLE)
    store.update("INSERT DATA { GRAPH <http://e.org/g> { <http://e.org/n1> <urn:x> <urn:y> } }")
    with serve(store) as running:
        yield running


@pytest.fixture
def read(server, tmp_path):
    def _read(page_size=7, options=None, address=None, **given):
        endpoint = Endpoint(address or server.address, timeout=5, pause=0.001)
        return download_graph(endpoint, tmp_path / "part", options, page_size, **given)

    return _read


def facts(data):
    triples = Triples.concatenate([data.split(s) for s in SPLITS]).array().tolist()
    return {(data.entities[h], data.relations[r], data.entities[t]) for h, r, t in triples}


@pytest.fixture
def expected(write):
    path = write("whole.ttl", GRAPH.replace("e:n3 e:next [] .", ""))
    return lambda options=None: import_files([path], rdf=options)


@pytest.mark.parametrize("page_size", [7, 1000])
@pytest.mark.parametrize(
    "options",
    [
        RdfOptions(),
        RdfOptions(include=("schema:*", "next"), language="de"),
        RdfOptions(exclude=("rdf:type",), language="fr"),
        RdfOptions(include=("http://e.org/next",)),
    ],
)
def test_pages_give_the_graph_of_a_file(read, expected, page_size, options):
    path, notices = read(page_size, options)
    found, right = import_files([path], rdf=options), expected(options)
    assert facts(found) == facts(right)
    assert found.labels == right.labels
    assert found.types == right.types
    every = not options.include
    assert any("literals left out: 30" in n for n in notices) == every
    assert any("blank nodes left out: 1" in n for n in notices)


def test_named_predicates_only_are_counted_at_the_endpoint(read, server):
    read(options=RdfOptions(include=("http://e.org/next", "schema:spouse")))
    count = server.queries[0]["query"][0]
    assert "VALUES ?p { <http://e.org/next> <http://schema.org/spouse> }" in count


def test_an_interrupted_download_continues_and_asks_for_nothing_twice(read, server, tmp_path):
    whole, _ = read(20)
    content, asked = whole.read_bytes(), [q["query"] for q in server.queries]
    for stop in range(1, len(asked) - 1):
        for file in (tmp_path / "part").iterdir():
            file.unlink()
        server.queries.clear()

        def interrupt(_, stop=stop):
            if len(server.queries) > stop:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            read(20, progress=interrupt)
        with whole.open("ab") as file:  # half of a page that no state speaks of
            file.write(b"<http://e.org/n1> <http://e.o")
        read(20)
        assert whole.read_bytes() == content
        assert [q["query"] for q in server.queries] == asked


def test_another_request_does_not_continue_the_first(read):
    read()
    with pytest.raises(KgflowError, match="interrupted import with other options: repeat that one"):
        read(options=RdfOptions(language="de"))


def test_a_server_may_fail_now_and_then(read, server, expected):
    server.failures = [503, "close", 429, "cut", None, "cut", 500, None, "close"]
    path, _ = read()
    assert facts(import_files([path])) == facts(expected())


def test_a_server_that_stays_busy_is_given_up(read, server):
    server.failures = [503] * 99
    with pytest.raises(KgflowError, match=r"no answer in 5 tries of 5 seconds \(503 .*--timeout"):
        read()
    assert len(server.failures) == 99 - TRIES


def test_a_refusal_is_final(read, server):
    server.failures = [401]
    with pytest.raises(KgflowError, match="refused with 401 Unauthorized, not now: check the add"):
        read()
    assert not server.queries


def test_a_server_that_does_not_answer_in_time_is_given_up(server, monkeypatch):
    import socket

    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        with pytest.raises(KgflowError, match=r"5 tries of 0\.02 seconds .*timed out"):
            Endpoint(address, timeout=0.02, pause=0.001).select("ASK {}")


def test_short_pages_of_a_server_with_a_limit_lose_nothing(read, server, expected):
    server.max_rows = 5
    path, _ = read(page_size=1000)
    assert facts(import_files([path])) == facts(expected())


def test_fewer_statements_than_counted_are_reported(read, server):
    def remove(_):
        server.store.update("DELETE WHERE { ?s <http://e.org/next> ?o }")

    _, notices = read(progress=remove)
    assert any("statements of http://e.org/next: 0 instead of 30" in n for n in notices)


def test_an_address_may_hold_a_graph_and_a_password(read, server):
    address = server.address.replace("//", "//me:s%20cret@") + "?default-graph-uri=http://e.org/g"
    path, notices = read(address=address)
    assert facts(import_files([path])) == {("http://e.org/n1", "urn:x", "urn:y")}
    assert server.headers[0]["Authorization"] == "Basic bWU6cyBjcmV0"
    assert "cret" not in str(notices) + (path.parent / "state.json").read_text()


def test_a_misspelt_predicate_is_refused(read):
    with pytest.raises(KgflowError, match=r"no predicate matches 'http://e.org/nxt'; did you mean"):
        read(options=RdfOptions(include=("http://e.org/nxt", "*")))


def test_an_address_is_imported_not_loaded(server):
    with pytest.raises(KgflowError, match="kgflow data import"):
        load(server.address)
