"""Routes of the explorer: the results of the library, and no files but those of the page."""

from xml.etree import ElementTree

import pytest

from kgflow.analysis import explain
from kgflow.serving.explorer import PAGE_FILES, PAGE_PATHS


def test_reasons_are_the_library_s(client, served_run):
    head, relation, tail = served_run.predictor.names(served_run.data.train.array()[:1]).values()
    asked = {"head": head[0], "relation": relation[0], "tail": tail[0], "n": 2}
    told = client.post("/v1/explain", json=asked).json()["reasons"]
    found = explain(served_run, head[0], relation[0], tail[0], n=2)
    assert [reason["text"] for reason in told] == [reason.text for reason in found]


def test_questions_get_the_answers_of_the_run(client, served_run):
    example = client.get("/v1/ask/examples").json()["queries"][0]
    found = client.post("/v1/ask", json={"query": example, "k": 5, "existential": "noisy-or"})
    rows = served_run.ask(example, k=5, existential="noisy-or").to_dicts()
    told = found.json()
    assert [row | {"witness": row["witness"]["text"]} for row in told["answers"]] == rows
    assert rows[0]["known"]
    assert {node["kind"] for node in told["graph"]["nodes"]} >= {"answer", "name"}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"query": "e10 r0 ?x . ?x r9 ?y"}, "query:1:16: unknown relation 'r9'"),
        ({"query": "e10 r0 ?x", "k": 0}, "k: "),
        ({"query": "e10 r0 ?x", "method": "guess"}, "method"),
        ({"query": "e10 r0 ?x . e11 r1 ?x", "method": "compose"}, "a chain of relations"),
        ({"query": "x" * 20_001}, "at most 20000"),
        ({"query": "{" * 10_000}, "nested more than 64 deep"),
        ({}, "required"),
    ],
)
def test_bad_questions_get_one_sentence(client, body, words):
    answer = client.post("/v1/ask", json=body)
    assert answer.status_code == 422
    assert words in answer.json()["detail"]


def test_suggestions_are_new_probable_and_about_the_entity(client, served_run):
    rows = client.get("/v1/suggestions", params={"entity": "e30", "k": 7}).json()["answers"]
    assert 0 < len(rows) <= 7
    for row in rows:
        assert "e30" in (row["head"], row["tail"])
        assert row["head"] != row["tail"]
        assert row[row["target"]] != "e30"
        assert not row["known"]
    chances = [(row["probability"] or 0, row["conditional_probability"]) for row in rows]
    assert chances == sorted(chances, reverse=True)
    best = served_run.predict(
        **{end: rows[0][end] for end in ("head", "tail") if end != rows[0]["target"]},
        relation=rows[0]["relation"],
        k=served_run.data.entities.__len__(),
        new=True,
    )
    same = best.filter(best[rows[0]["target"]] == rows[0][rows[0]["target"]])
    for name in ("probability", "conditional_probability"):
        assert same[name].item() == pytest.approx(rows[0][name])


def test_rules_of_a_relation_name_it(client, served_run):
    name = served_run.data.relations[0]
    for rule in client.get("/v1/rules", params={"relation": name}).json()["rules"]:
        assert name in rule["rule"]
        assert rule["agreement"] in ("both", "model only", "graph only")


@pytest.mark.parametrize("address", ["densities?entity=e30&entity=a/b", "map"])
def test_plots_are_svg_and_the_same_twice(client, address):
    pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")
    first, second = (client.get(f"/v1/plots/{address}") for _ in range(2))
    assert first.headers["content-type"] == "image/svg+xml"
    assert "script" not in first.headers["content-security-policy"]
    assert first.content == second.content
    assert ElementTree.fromstring(first.text).tag.endswith("svg")


def test_a_plot_of_an_unknown_entity_is_refused(client):
    answer = client.get("/v1/plots/densities", params={"entity": "nobody"})
    assert answer.status_code == 404
    assert "unknown entity" in answer.json()["detail"]
    assert client.get("/v1/plots/densities").status_code == 422


@pytest.mark.parametrize("address", PAGE_PATHS)
def test_the_page_is_at_every_path_of_it(client, address):
    answer = client.get(address, params={"name": "../../etc/passwd"})
    assert answer.content == PAGE_FILES["index.html"][0]
    policy = answer.headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "script-src 'self'" in policy


def test_files_of_the_page_and_no_others(client):
    for name, (content, _) in PAGE_FILES.items():
        assert client.get(f"/page/{name}").content == content
    for name in ("", "nothing.js", "..%2Fapp.py", "%2e%2e/app.py", "....//app.py"):
        assert client.get(f"/page/{name}").status_code == 404


def test_the_page_itself_needs_no_token(served_run):
    testing = pytest.importorskip("starlette.testclient", reason="httpx2 is not installed")
    from kgflow.serving.app import create_app

    with testing.TestClient(create_app(served_run, token="secret")) as client:
        assert client.get("/").status_code == 200
        assert client.get("/page/app.js").status_code == 200
        assert client.get("/v1/run").status_code == 401
        assert client.get("/v1/plots/map").status_code == 401


def test_other_host_names_are_refused(served_run):
    testing = pytest.importorskip("starlette.testclient", reason="httpx2 is not installed")
    from kgflow.serving.app import create_app

    with testing.TestClient(create_app(served_run, hosts=("localhost",))) as client:
        assert client.get("/v1/run", headers={"Host": "localhost:8000"}).status_code == 200
        answer = client.get("/v1/run", headers={"Host": "evil.example"})
        assert answer.status_code == 400
        assert "unknown host name" in answer.json()["detail"]
