"""The HTTP interface: the same results as the run, limits, errors and security headers."""

import concurrent.futures
import json
import threading
from urllib.parse import quote

import pytest

pytest.importorskip("fastapi", reason="the extra `serve` is not installed")
testing = pytest.importorskip("starlette.testclient", reason="httpx2 is not installed")

from kgflow.serving import app as module  # noqa: E402
from kgflow.serving.app import create_app  # noqa: E402

FUZZ = (
    "",
    " ",
    "\x00",
    "\x1b[31m\r\n",
    "../../etc/passwd",
    "..%2f..%2f",
    "' OR 1=1; --",
    "<script>alert(1)</script>",
    "е10",  # a Cyrillic letter
    "ｅ１０",
    "e10\u200b",
    "\u202ee10",
    "\ud800",
    "💥" * 100,
    "x" * 9_999,
    "x" * 1_000_000,
    "-1",
    "1e3",
    "99999999999999999999",
    "٣",
)
"""Unknown names that are hard to parse or to print."""


def is_problem(answer, status):
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    found = answer.json()
    assert set(found) == {"title", "status", "detail"}
    assert found["status"] == status
    assert "\n" not in found["detail"]
    assert "Traceback" not in answer.text
    assert ".py" not in answer.text
    return found["detail"]


def same(rows, expected):
    """Assert that answers are the same, up to the rounding of another matrix product."""
    assert len(rows) == len(expected)
    for row, other in zip(rows, expected, strict=True):
        assert row.keys() == other.keys()
        for name, value in other.items():
            number = isinstance(value, float)
            assert row[name] == (pytest.approx(value, rel=1e-5, abs=1e-5) if number else value)


@pytest.mark.parametrize(
    "asked",
    [
        {"head": "e10", "relation": "r1"},
        {"relation": "r2", "tail": "a/b"},
        {"head": "Twenty", "tail": "e30"},
        {"head": "e11", "relation": "r0", "new": True, "k": 50},
        {"head": "e12", "relation": "r0", "types": ["odd"], "k": 3},
    ],
)
def test_predictions_are_those_of_the_run(client, served_run, asked):
    answer = client.post("/v1/predict", json=asked)
    assert answer.status_code == 200
    same(answer.json()["answers"], served_run.predict(**asked).to_dicts())


def test_a_batch_of_queries_gets_the_answers_of_single_queries(client):
    queries = [{"head": f"e{i}", "relation": f"r{i % 3}"} for i in range(10, 40)]
    queries += [{"relation": "r1", "tail": f"e{i}"} for i in range(10, 20)]
    batch = client.post("/v1/predict", json={"queries": queries, "k": 4}).json()["answers"]
    for number, query in enumerate(queries, start=1):
        single = client.post("/v1/predict", json={**query, "k": 4}).json()["answers"]
        mine = [row | {"query": 1} for row in batch if row["query"] == number]
        same(mine, single)


def test_concurrent_requests_share_matrix_products(served_run):
    app, sizes = create_app(served_run), []
    app.state.batcher.on_batch.append(sizes.append)
    app.state.batcher.max_delay = 0.05

    def ask(client, i):
        asked = {"head": f"e{i}", "relation": "r0", "k": 2}
        return client.post("/v1/predict", json=asked).json()["answers"]

    with testing.TestClient(app) as client, concurrent.futures.ThreadPoolExecutor(16) as pool:
        found = list(pool.map(lambda i: ask(client, i), range(10, 42)))
    for i, rows in zip(range(10, 42), found, strict=True):
        same(rows, served_run.predict(head=f"e{i}", relation="r0", k=2).to_dicts())
    assert max(sizes) > 1
    assert sum(sizes) == 32


def test_scores_are_those_of_the_run(client, served_run):
    triples = [["e10", "r0", "e11"], ["Twenty", "r1", "../etc"]]
    rows = client.post("/v1/score", json={"triples": triples}).json()["scores"]
    same(rows, served_run.score(triples).to_dicts())
    known = [row["known"] for row in rows]
    ids = [(served_run.data.entity_id(h), int(r[1]), served_run.data.entity_id(t))
           for h, r, t in triples]  # fmt: skip
    assert known == [bool(served_run.predictor.known.contains(*x)) for x in ids]


def test_every_entity_is_described_whatever_its_name(client, served_run):
    data = served_run.data
    facts = [t for s in ("train", "valid", "test") for t in data.split(s).array().tolist()]
    for i, name in enumerate(data.entities):
        found = client.get(f"/v1/entities/{quote(name, safe='')}").json()
        assert (found["id"], found["name"], found["label"]) == (i, name, data.label(i))
        mine = {(data.entities[h], data.relations[r], data.entities[t])
                for h, r, t in facts if i in (h, t)}  # fmt: skip
        assert {(f["head"], f["relation"], f["tail"]) for f in found["triples"]} == mine
        assert found["certainty"] == pytest.approx(served_run.predictor.certainty(i))
        assert found["entropy_change"] is None
    assert client.get("/v1/entities/10").json()["name"] == data.entities[10]
    assert client.get("/v1/entities/7").json()["id"] == data.entities.id("7")  # a name goes first
    nats = client.get("/v1/entities/e10?entropy=true").json()["entropy_change"]
    assert nats == pytest.approx(served_run.predictor.uncertainty(data.entities.id("e10")))
    short = client.get("/v1/entities/e10?limit=1").json()
    assert len(short["triples"]) == 1 < short["triple_count"]


def test_neighbours_are_the_nearest_keys(client, served_run):
    K = served_run.model.encode_keys(served_run.model.entity.weight).K.detach()
    distance = (K[10] - K).norm(dim=1)
    distance[10] = float("inf")
    found = client.get("/v1/entities/10").json()
    best = distance.argsort()[:10].tolist()
    assert [n["name"] for n in found["neighbours"]] == [served_run.data.entities[i] for i in best]
    assert found["measure"] == "distance"
    assert found["neighbours"][0]["value"] == pytest.approx(float(distance[best[0]]), rel=1e-4)


def test_entities_are_found_and_paged(client, served_run):
    names = []
    for offset in range(0, 70, 7):
        page = client.get("/v1/entities", params={"limit": 7, "offset": offset}).json()
        assert page["total"] == 60
        names += [e["name"] for e in page["entities"]]
    facts = {
        name: served_run.data.queries().counts[served_run.data.queries().h == i].sum()
        for i, name in enumerate(served_run.data.entities)
    }
    assert sorted(names) == sorted(served_run.data.entities)
    assert [facts[name] for name in names] == sorted(facts.values(), reverse=True)
    twenty = client.get("/v1/entities", params={"q": "twentz"}).json()["entities"]
    assert twenty == [{"id": 20, "name": "e20", "label": "Twenty", "types": ["even"]}]


def test_relations_and_the_run(client, served_run):
    from kgflow.data import describe

    found = client.get("/v1/relations").json()
    stats = describe(served_run.data).by_relation
    assert [r["count"] for r in found["relations"]] == [r.count for r in stats]
    assert client.get("/v1/relations/r1").json() == found["relations"][1]
    assert client.get("/v1/relations/1").json() == found["relations"][1]
    run = client.get("/v1/run").json()
    assert run["model"]["name"] == "nfe-1"
    assert run["metrics"] == client.get("/v1/metrics").json() == served_run.metrics
    assert run["search"] == "exact search"
    assert str(served_run.directory) not in json.dumps(run)


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"head": "e10"}, 422, "two of head, relation and tail"),
        ({"head": "e10", "relation": "r0", "tail": "e11"}, 422, "two of head"),
        ([], 422, "two of head"),
        ({"head": "e10", "relation": "r0", "k": 0}, 422, "k: "),
        ({"head": "e10", "relation": "r0", "k": 1001}, 422, "k: "),
        ({"head": "e10", "relation": "r0", "k": "5"}, 422, "k"),
        ({"head": "e10", "relation": "r0", "colour": 1}, 422, "colour: "),
        ({"head": 7, "relation": "r0"}, 422, "head: "),
        ({"queries": []}, 422, "queries: "),
        ({"queries": [{"head": "e10", "relation": "r0"}] * 1001}, 422, "queries: "),
        ({"queries": [{"head": "e10"}]}, 422, "queries.0: give two"),
        ({"head": "e10", "relation": "r0", "types": ["blue"]}, 404, "no entity has type 'blue'"),
        ({"head": "Twentyy", "relation": "r0"}, 404, "did you mean Twenty"),
        ({"head": "e10", "relation": "r"}, 404, "unknown relation 'r'"),
        ({"head": "x" * 10_001, "relation": "r0"}, 422, "at most 10000"),
    ],
)
def test_bad_queries_get_one_sentence(client, body, status, words):
    assert words in is_problem(client.post("/v1/predict", json=body), status)


def test_bad_requests_get_a_problem(client):
    typed = {"content-type": "application/json"}
    for junk in (b"{", b"\xff\xfe", b"[" * 100_000, b'{"head": NaN}', b'"\\ud800"', b""):
        answer = client.post("/v1/predict", content=junk, headers=typed)
        assert is_problem(answer, answer.status_code)
        assert answer.status_code in (400, 422)
    large = b'{"head": "' + b"x" * 2**20 + b'"}'
    assert "larger" in is_problem(client.post("/v1/predict", content=large, headers=typed), 413)
    pieces = client.post("/v1/predict", content=iter([large[:9], large[9:]]), headers=typed)
    assert "larger" in is_problem(pieces, 413)
    is_problem(client.get("/nothing"), 404)
    is_problem(client.get("/v1/entities/"), 404)
    is_problem(client.get("/v1/entities/61"), 404)
    is_problem(client.delete("/v1/predict"), 405)
    is_problem(client.get("/v1/entities?limit=0"), 422)
    is_problem(client.get("/v1/entities?limit=1001"), 422)
    assert client.get("/v1/health").json() == {"status": "ok"}


@pytest.mark.parametrize("name", FUZZ, ids=lambda n: ascii(n[:20]))
def test_odd_names_are_refused(client, name):
    body = json.dumps({"head": name, "relation": "r0"}).encode()
    typed = {"content-type": "application/json"}
    answers = [client.post("/v1/predict", content=body, headers=typed)]
    body = json.dumps({"triples": [["e10", name, "e11"]]}).encode()
    answers.append(client.post("/v1/score", content=body, headers=typed))
    if len(name) < 20_000:
        safe = quote(name, safe="", errors="surrogatepass")
        answers += [client.get(f"/v1/relations/{safe}"), client.get(f"/v1/entities/{safe}")]
        assert client.get(f"/v1/entities?q={safe}").status_code in (200, 422)
    for answer in answers:
        assert 400 <= answer.status_code < 500
        is_problem(answer, answer.status_code)


def test_every_answer_has_security_headers(client):
    for answer in (client.get("/v1/run"), client.get("/nothing"), client.post("/v1/predict")):
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert "access-control-allow-origin" not in answer.headers


def test_cors_only_for_given_origins(served_run):
    origin = {"Origin": "https://example.org"}
    app = create_app(served_run, cors_origins=["https://example.org"], token="secret")
    with testing.TestClient(app) as client:
        answer = client.get("/v1/health", headers=origin)
        assert answer.headers["access-control-allow-origin"] == "https://example.org"
        wanted = {"Access-Control-Request-Method": "POST"}
        assert client.options("/v1/predict", headers=origin | wanted).status_code == 200
        other = client.get("/v1/health", headers={"Origin": "https://evil.example"})
        assert "access-control-allow-origin" not in other.headers


def test_all_but_health_requires_the_token(served_run):
    with testing.TestClient(create_app(served_run, token="secret")) as client:
        for path in ("/v1/run", "/metrics", "/v1/openapi.json", "/nothing", "/v1/entities"):
            for given in (b"", b"Bearer secre", b"secret", b"Bearer s\xe9cret", b"Bearer"):
                answer = client.get(path, headers={"Authorization": given} if given else {})
                assert answer.headers["www-authenticate"] == "Bearer"
                is_problem(answer, 401)
        assert client.get("/v1/health").status_code == 200
        for scheme in ("Bearer", "bearer"):
            good = {"Authorization": f"{scheme} secret"}
            assert client.get("/v1/run", headers=good).status_code == 200


def test_an_internal_error_reveals_nothing(served_run, monkeypatch, caplog):
    def fail(*_):
        raise RuntimeError("/secret/path.py failed")

    with testing.TestClient(create_app(served_run)) as client:
        monkeypatch.setattr(module.RunService, "describe_run", fail)
        answer = client.get("/v1/run")
        is_problem(answer, 500)
        assert "secret" not in answer.text
        assert answer.headers["x-content-type-options"] == "nosniff"
        monkeypatch.setattr(served_run.predictor.scorer, "search", fail)
        is_problem(client.post("/v1/predict", json={"head": "e10", "relation": "r0"}), 500)
    assert "/secret/path.py failed" in caplog.text  # in the server log


def test_a_full_queue_gives_503_and_recovers(served_run, monkeypatch):
    gate, real = threading.Event(), served_run.predictor.scorer.search

    def slow(*arguments):
        gate.wait(20)
        return real(*arguments)

    with testing.TestClient(create_app(served_run, max_queue=4, max_batch=2)) as client:
        monkeypatch.setattr(served_run.predictor.scorer, "search", slow)

        def ask(i):
            return client.post("/v1/predict", json={"head": f"e{i}", "relation": "r0"})

        with concurrent.futures.ThreadPoolExecutor(30) as pool:
            futures = [pool.submit(ask, i) for i in range(10, 40)]
            threading.Timer(1.0, gate.set).start()
            answers = [f.result() for f in futures]
        refused = [a for a in answers if a.status_code == 503]
        assert 30 - len(refused) <= 8
        for answer in refused:
            assert "try again" in is_problem(answer, 503)
            assert int(answer.headers["retry-after"]) >= 1
        assert all(a.status_code in (200, 503) for a in answers)
        for i in range(10, 20):
            expected = served_run.predict(head=f"e{i}", relation="r0").to_dicts()
            same(ask(i).json()["answers"], expected)


def test_prometheus_metrics(client):
    client.post("/v1/predict", json={"head": "e10", "relation": "r0"})
    client.get("/v1/entities/a%2Fb")
    text = client.get("/metrics").text
    assert 'kgflow_requests_total{route="/v1/predict",status="200"} 1.0' in text
    assert 'route="/v1/entities/{name' in text
    assert "a/b" not in text
    assert "kgflow_batch_size_count 2.0" in text
    assert "kgflow_queue_length 0.0" in text


def test_numbers_that_are_not_finite_become_null(served_run, monkeypatch):
    entropy = {k: v.copy() for k, v in served_run.predictor.entropy.items()}
    entropy["entity"][:] = -float("inf")  # a scale of zero: the entity is a point
    monkeypatch.setattr(served_run.predictor, "entropy", entropy)
    with testing.TestClient(create_app(served_run)) as client:
        answer = client.post("/v1/predict", json={"head": "e10", "relation": "r0"})
        assert client.get("/v1/entities/e10?entropy=true").json()["entropy_change"] is None
        assert "Infinity" not in answer.text
