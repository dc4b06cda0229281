"""A small run to serve, with names that need escaping."""

from dataclasses import replace

import pytest

import kgflow
from graphs import random_graph
from kgflow.data import Vocabulary

SPECIAL_NAMES = ("a/b", "../etc", "50% off?", "naïve", "x#y", "tab\there", "'; DROP TABLE", "7")


@pytest.fixture(scope="session")
def served_run(tmp_path_factory):
    data = random_graph(entities=60, facts=300, held_out=20)
    names = Vocabulary([*SPECIAL_NAMES, *data.entities.names[len(SPECIAL_NAMES) :]])
    types = {f"e{i}": ("odd" if i % 2 else "even",) for i in range(10, 40)}
    data = replace(data, entities=names, types=types, labels={"e20": "Twenty", "e21": "a/b label"})
    return kgflow.train(data, dim=4, epochs=1, out=tmp_path_factory.mktemp("runs") / "served")


@pytest.fixture
def client(served_run):
    """HTTP client of an application in this process."""
    pytest.importorskip("fastapi", reason="the extra `serve` is not installed")
    testing = pytest.importorskip("starlette.testclient", reason="httpx2 is not installed")
    from kgflow.serving.app import create_app

    with testing.TestClient(create_app(served_run)) as client:
        yield client
