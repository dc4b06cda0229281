"""Trackers get every epoch, the settings and the metrics; and the status of the training."""

import gc
import json
import struct
import time

import pytest

import kgflow
from graphs import random_graph
from kgflow.errors import KgflowError
from kgflow.training import MLflow, WeightsAndBiases, make_tracker


def train(tmp_path, tracker):
    settings = {"training.loss.dropout": 0.125}
    return kgflow.train(
        random_graph(), "nfe-1", dim=2, epochs=3, settings=settings, callbacks=[tracker],
        out=tmp_path / "mine",
    )  # fmt: skip


@pytest.fixture
def mlflow(monkeypatch):
    found = pytest.importorskip("mlflow", reason="the extra `mlflow` is not installed")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")  # for the client of the test
    monkeypatch.delenv("MLFLOW_ALLOW_FILE_STORE")  # and restored, if the tracker sets it
    return found


def runs(mlflow, place):
    client = mlflow.MlflowClient(tracking_uri=place)
    number = client.get_experiment_by_name("kgflow").experiment_id
    return client, client.search_runs([number])


@pytest.mark.filterwarnings("ignore")  # MLflow's own
def test_mlflow_gets_epochs_settings_and_metrics(mlflow, tmp_path):
    run = train(tmp_path, make_tracker(f"mlflow={tmp_path / 'store'}"))
    client, (stored,) = runs(mlflow, (tmp_path / "store").as_uri())
    assert (stored.info.run_name, stored.info.status) == ("mine", "FINISHED")
    assert stored.data.params["model.name"] == "nfe-1"
    assert stored.data.params["training.loss.dropout"] == "0.125"
    found = {m.step: m.value for m in client.get_metric_history(stored.info.run_id, "mrr")}
    assert found == {record["epoch"]: record["mrr"] for record in run.history}
    mrr = stored.data.metrics["test.realistic.hits_at_10"]
    assert mrr == run.metrics["test"]["realistic"]["hits@10"]


@pytest.mark.filterwarnings("ignore")
def test_an_interrupted_training_is_killed_in_mlflow(mlflow, tmp_path):
    place = (tmp_path / "store").as_uri()
    tracker = MLflow(place)
    tracker.on_epoch({"epoch": 1, "loss": 0.5})
    del tracker
    gc.collect()
    _, (stored,) = runs(mlflow, place)
    assert (stored.info.status, stored.data.metrics) == ("KILLED", {"loss": 0.5})


def test_a_store_that_mlflow_cannot_use_is_refused(mlflow):
    with pytest.raises(KgflowError, match=r"^MLflow cannot log to nowhere:1 \(.*\): give a dir"):
        MLflow("nowhere:1")


def records(file):
    """Return the records of an offline run: small ones, which are not divided."""
    from wandb.proto.wandb_internal_pb2 import Record

    data, place, found = file.read_bytes(), 7, []
    while place < len(data):
        size, kind = struct.unpack_from("<HB", data, place + 4)
        assert kind == 1
        found.append(Record.FromString(data[place + 7 : place + 7 + size]))
        place += 7 + size
    return found


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_wandb_gets_epochs_settings_and_metrics(tmp_path, monkeypatch):
    pytest.importorskip("wandb", reason="the extra `wandb` is not installed")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    monkeypatch.setenv("WANDB_SILENT", "true")
    run = train(tmp_path, WeightsAndBiases("mine"))
    (file,) = tmp_path.glob("wandb/offline-run-*/*.wandb")
    until = time.monotonic() + 20
    while not (stored := records(file)) or not stored[-1].HasField("exit"):
        assert time.monotonic() < until  # the file is written by a process of its own
        time.sleep(0.05)
    history = [
        {(item.key or ".".join(item.nested_key)): json.loads(item.value_json)
         for item in record.history.item}
        for record in stored if record.HasField("history")
    ]  # fmt: skip
    assert [row["mrr"] for row in history] == [record["mrr"] for record in run.history]
    assert [row["epoch"] for row in history] == [1, 2, 3]
    text = " ".join(str(record) for record in stored)
    assert "dropout" in text
    assert "test.realistic.mrr" in text


def test_an_unknown_tracker_is_refused():
    with pytest.raises(KgflowError, match="unknown tracker 'mflow'; did you mean mlflow"):
        make_tracker("mflow=x")


@pytest.mark.parametrize("name", ["mlflow", "wandb", "tensorboard"])
def test_a_missing_package_is_named_before_the_training(name, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, name, None)
    with pytest.raises(KgflowError, match=rf"tracking needs {name}: install kgflow\[{name}\]"):
        make_tracker(name)
