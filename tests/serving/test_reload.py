"""A server takes an updated run without a pause."""

import asyncio
import os
import shutil
import signal
import threading
import time

import pytest

import kgflow
from kgflow.runs.run import Run

pytest.importorskip("fastapi", reason="the extra `serve` is not installed")
testing = pytest.importorskip("starlette.testclient", reason="httpx2 is not installed")

from kgflow.serving.app import create_app  # noqa: E402

TOKEN = {"Authorization": "Bearer secret"}
QUERY = {"head": "e10", "relation": "r0", "k": 3}


@pytest.fixture
def run(served_run, tmp_path):
    """A copy of a run, which may be changed."""
    shutil.copytree(served_run.directory, tmp_path / "run")
    return kgflow.open(tmp_path / "run")


def application(run, **options):
    return create_app(run, token="secret", load=lambda: (Run.open(run.directory), None), **options)


def test_requests_go_on_while_the_run_is_replaced(run):
    app, failures, counts, stop = application(run), [], [], threading.Event()
    with testing.TestClient(app, headers=TOKEN) as client:

        def ask():
            while not stop.is_set():
                answer = client.post("/v1/predict", json=QUERY)
                counts.append(1)
                if answer.status_code != 200 or len(answer.json()["answers"]) != 3:
                    failures.append(answer.text)

        threads = [threading.Thread(target=ask) for _ in range(3)]
        for thread in threads:
            thread.start()
        for name in ("n0", "n1"):
            assert client.get(f"/v1/entities/{name}").status_code == 404
            run = run.update([(name, "r0", "e10"), ("e11", "r1", name)], evaluated=False)
            found = client.post("/v1/reload")
            assert found.json()["entities"] == len(run.data.entities)
            assert client.get(f"/v1/entities/{name}").json()["triple_count"] == 2
        stop.set()
        for thread in threads:
            thread.join()
    assert failures == []
    assert len(counts) > 3


def test_a_request_that_has_begun_finishes_with_the_old_run(run, monkeypatch):
    app, began, go = application(run), threading.Event(), threading.Event()
    old, found = app.state.service, []
    answer = old.answer

    def slow(queries, *options):
        began.set()
        assert go.wait(20)
        return answer(queries, *options)

    with testing.TestClient(app, headers=TOKEN) as client:
        monkeypatch.setattr(old, "answer", slow)
        ask = threading.Thread(
            target=lambda: found.append(client.post("/v1/predict", json=QUERY).json())
        )
        ask.start()
        assert began.wait(20)
        run.update([("n0", "r0", "e10")], evaluated=False)
        assert client.post("/v1/reload").status_code == 200
        assert app.state.service is not old
        assert found == []
        go.set()
        ask.join()
    assert len(found[0]["answers"]) == 3


def test_a_broken_run_leaves_the_old_one_serving(run):
    with testing.TestClient(application(run), headers=TOKEN) as client:
        (run.directory / "model.safetensors").write_bytes(b"broken")
        answer = client.post("/v1/reload")
        assert answer.status_code == 422
        assert "damaged" in answer.json()["detail"]
        assert "loaded before keeps serving" in answer.json()["detail"]
        assert client.post("/v1/predict", json=QUERY).status_code == 200


def test_reloading_needs_the_token(run):
    with testing.TestClient(application(run)) as client:
        assert client.post("/v1/reload").status_code == 401
    with testing.TestClient(create_app(run)) as client:
        assert "no token" in client.post("/v1/reload").json()["detail"]
        assert client.post("/v1/reload").status_code == 403


def test_the_signal_reloads_and_says_so(run, capfd):
    app = application(run)

    async def serve():
        async with app.router.lifespan_context(app):
            for change in (lambda: run.update([("n0", "r0", "e10")], evaluated=False), broken):
                change()
                os.kill(os.getpid(), signal.SIGHUP)
                await asyncio.sleep(0.1)
                until = time.monotonic() + 20
                while app.state.reloader._tasks and time.monotonic() < until:
                    await asyncio.sleep(0.02)

    def broken():
        (run.directory / "vocabulary.json").write_text("{")

    asyncio.run(serve())
    assert len(app.state.service.data.entities) == 61
    err = capfd.readouterr().err.splitlines()
    assert err[0] == "reloaded: 61 entities, 3 relations, 1 updates"
    assert err[1].startswith("kgflow: the run cannot be loaded (")
