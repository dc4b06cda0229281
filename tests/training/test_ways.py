"""Every way to train can be stopped, resumed and repeated to the same bytes; no knob is idle."""

import itertools

import pytest
import torch

from graphs import random_graph
from kgflow.config import USED_BY, Experiment, ModelConfig, TrainingConfig
from kgflow.errors import KgflowError
from kgflow.runs.build import LOSSES
from kgflow.runs.training import resume, run_experiment, settle
from kgflow.training import Interrupted

DATA = random_graph(entities=30, facts=200)

WAYS = {
    "softmax": {"loss": "softmax"},
    "softmax and dura": {"loss": "softmax", "regularizer": "dura", "penalty": 0.05},
    "kvsall": {"loss": "kvsall", "smoothing": 0.1},
    "sampled": {"loss": "sampled", "negatives": 8},
    "sampled-softmax": {"loss": "sampled-softmax", "negatives": 8},
    "popularity": {"loss": "softmax", "popularity": 0.9},
    "margin": {"loss": "margin", "negatives": 4, "corruption": "both"},
    "self-adversarial": {"loss": "self-adversarial", "negatives": 4, "corruption": "bernoulli"},
    "adversarial": {"loss": "self-adversarial", "negatives": 4, "adversarial": 3.0},
    "n3": {"regularizer": "n3", "penalty": 0.05},
    "l2": {"regularizer": "l2", "penalty": 0.05},
    "relations": {"relation_weight": 0.5},
    "query dropout": {"query_dropout": 0.3},
    "adagrad": {"optimizer": "adagrad"},
    "row-adagrad": {"optimizer": "row-adagrad"},
    "row-adagrad, sampled": {"optimizer": "row-adagrad", "loss": "sampled", "negatives": 8},
    "cosine": {"schedule": "cosine"},
    "plateau": {"schedule": "plateau", "lr": 0.3},
    "warmup": {"warmup": 1.5},
    "bias": {"bias": True},
    "bias, sampled": {"bias": True, "loss": "sampled", "negatives": 8},
}


def experiment(bias=False, start=1.0, **training):
    settings = {"epochs": 3, "batch_size": 40, "lr": 0.05, "decay": 0.5} | training
    model = ModelConfig(dim=4, bias=bias, start=start)
    return Experiment(data="random", model=model, training=TrainingConfig(**settings))


def weights(directory):
    return (directory / "model.safetensors").read_bytes()


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    directory = tmp_path_factory.mktemp("plain") / "run"
    run_experiment(experiment(), DATA, directory)
    return (directory / "checkpoint" / "last.safetensors").read_bytes()


@pytest.mark.parametrize("way", WAYS)
def test_each_way_is_its_own_and_resumes_to_the_same_bytes(way, plain, tmp_path):
    config = experiment(**WAYS[way])
    whole = run_experiment(config, DATA, tmp_path / "whole")
    assert (tmp_path / "whole" / "checkpoint" / "last.safetensors").read_bytes() != plain
    count = itertools.count(1)
    with pytest.raises(Interrupted):
        run_experiment(config, DATA, tmp_path / "run", stop=lambda: next(count) >= 9)
    torch.manual_seed(5)
    again = resume(tmp_path / "run")
    assert weights(tmp_path / "run") == weights(tmp_path / "whole")
    keys = ("loss", "lr", "mrr")
    found, expected = ([[r[k] for k in keys] for r in x.history] for x in (again, whole))
    assert found == expected


@pytest.mark.parametrize("loss", sorted(LOSSES.keys() - {"one-vs-all"}))
def test_each_loss_learns(loss, tmp_path):
    sampling = loss in USED_BY["negatives"]
    chosen = {"loss": loss, "margin": 2.0, "decay": 1.0, "dropout": 0.0, "average": 0.0}
    config = experiment(**chosen, epochs=25, negatives=10 * sampling)
    run = run_experiment(config, random_graph(facts=40, held_out=0), tmp_path / "run")
    assert run.evaluate("train")["realistic"]["mrr"] > 0.35
    assert run.history[-1]["loss"] < 0.7 * run.history[0]["loss"]


REFUSED = [
    ({"smoothing": 0.1}, "'training.smoothing' is 0.1, which loss 'one-vs-all' has no use for"),
    ({"negatives": 5}, "or take sampled or sampled-softmax or margin or self-adversarial"),
    ({"loss": "softmax", "backward": "sparse"}, "'training.backward' is 'sparse'"),
    ({"loss": "sampled", "negatives": 5, "corruption": "both"}, "'training.corruption'"),
    (
        {"loss": "margin", "negatives": 5, "adversarial": 2.0},
        "'training.adversarial' is 2.0, which loss 'margin' has no use for",
    ),
    ({"popularity": 0.5}, "'training.popularity' is 0.5, which loss 'one-vs-all' has no use for"),
    ({"loss": "margin"}, "needs 'training.negatives'"),
    ({"penalty": 0.1}, "go together"),
    ({"regularizer": "n3"}, "go together"),
    ({"schedule": "cosine", "decay": 0.9}, "'training.decay' has no use"),
    (
        {"loss": "softmax", "confidence": "soft"},
        "belongs to loss 'one-vs-all'",
    ),
    ({"loss": "kvsall", "confidence": "regress"}, "'training.confidence' is 'regress'"),
    ({"loss": "hinge"}, "'training.loss' is 'hinge'"),
]


@pytest.mark.parametrize("start", [0, -1, 1e-50, 2])
def test_a_start_is_a_share(start):
    with pytest.raises(KgflowError, match=r"'model\.start' is "):
        settle({"data": "world", "model": {"start": start}}, "here")


@pytest.mark.parametrize(("chosen", "said"), REFUSED, ids=lambda x: str(x)[:40])
def test_idle_knobs_are_refused(chosen, said):
    with pytest.raises(KgflowError) as error:
        settle({"data": "world", "training": chosen}, "here")
    assert str(error.value).startswith("here: ")
    assert said in str(error.value)
