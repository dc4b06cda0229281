"""The client over a real socket: data frames of the run, and error messages of the server."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from polars.testing import assert_frame_equal

import kgflow
from kgflow.errors import KgflowError
from kgflow.runs.answers import COLUMNS, SCORE_COLUMNS

pytest.importorskip("uvicorn", reason="the extra `serve` is not installed")


@pytest.fixture(scope="module")
def served(served_run):
    """A server of its own process: its process and address."""
    command = [sys.executable, "-c", "from kgflow.__main__ import main; main()", "serve"]
    process = subprocess.Popen(
        [*command, str(served_run.directory), "--port", "0", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1", "KGFLOW_TOKEN": "secret"},
    )
    text = ""
    while not text.endswith("}\n"):
        line = process.stdout.readline()
        assert line, process.stderr.read()
        text += line
    yield process, json.loads(text)["url"]
    process.kill()
    process.communicate()


def test_the_client_gives_the_frames_of_the_run(served, served_run):
    client = kgflow.Client(served[1], "secret")
    for asked in (
        {"head": "e10", "relation": "r0"},
        {"relation": "r1", "tail": "50% off?", "k": 3, "new": True},
        {"head": "e10", "tail": "naïve"},
        {"head": "e10", "relation": "r0", "types": ["odd"]},
    ):
        assert_frame_equal(client.predict(**asked), served_run.predict(**asked), abs_tol=1e-4)
    triples = [("e10", "r0", "tab\there"), ("Twenty", "r2", "../etc")]
    assert_frame_equal(client.score(triples), served_run.score(triples), abs_tol=1e-4)
    assert_frame_equal(client.score([]), served_run.score([]), check_dtypes=False)
    many = client.predict_many([("e10", "r0", None), (None, "r1", "e11")], k=2)
    assert many["query"].to_list() == [1, 1, 2, 2]
    assert client.entity("../etc")["name"] == "../etc"
    query = "e10 r0 ?x . ?x r1 ?y"
    assert_frame_equal(client.ask(query, k=3), served_run.ask(query, k=3), abs_tol=1e-4)
    assert list(SCORE_COLUMNS) == served_run.score(triples).columns


def test_errors_have_the_message_of_the_server(served):
    url = served[1]
    with pytest.raises(KgflowError, match=r"^unknown entity 'Twentyy'; did you mean Twenty"):
        kgflow.Client(url, "secret").predict(head="Twentyy", relation="r0")
    with pytest.raises(KgflowError, match=r"^a bearer token is required"):
        kgflow.Client(url, "wrong").get("run")
    with pytest.raises(KgflowError, match="is not a URL"):
        kgflow.Client("file:///etc")
    with pytest.raises(KgflowError, match="does not respond"):
        kgflow.Client("http://127.0.0.1:1").get("run")


@pytest.mark.parametrize(("status", "body"), [(200, b"[]"), (200, b"<p>"), (302, b""), (500, b"?")])
def test_responses_of_other_servers_are_refused(status, body):
    class Other(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(status)
            self.send_header("Location", "http://127.0.0.1:1/stolen")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Other) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        client = kgflow.Client(f"http://127.0.0.1:{server.server_port}", "secret")
        with pytest.raises(KgflowError, match=r"is not a kgflow server|responds with \d+"):
            client.get("run")


def test_a_stop_signal_finishes_running_requests(served):
    process, url = served
    client, found = kgflow.Client(url, "secret"), []
    assert client.get("run")["data"] == "random"
    many = [("e10", "r0", None)] * 1_000
    asking = threading.Thread(target=lambda: found.append(client.predict_many(many, k=20)))
    asking.start()
    before = client.get("health")
    time.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    asking.join(60)
    assert before == {"status": "ok"}
    assert len(found[0]) == 20_000
    assert process.returncode == 0
    assert err == ""


def test_a_token_that_no_header_can_hold_is_refused_at_once():
    for token in ("", "ключ", "a\nb"):
        with pytest.raises(KgflowError, match="the token is empty"):
            kgflow.Client("http://127.0.0.1:1", token)


def test_no_queries_have_no_answers():
    assert kgflow.Client("http://127.0.0.1:1").predict_many([]).columns == list(COLUMNS)
