"""Every setting of training has an effect, resumes to the same bytes, and is checked."""

import itertools

import pytest
import torch

from graphs import make_experiment, random_graph
from kgflow.config import LOSSES
from kgflow.errors import KgflowError
from kgflow.runs.build import complete
from kgflow.runs.training import resume, run_experiment
from kgflow.training import Interrupted

DATA = random_graph(entities=30, facts=200)
LOSS, REGULARIZER = "training.loss.name", "training.regularizer.name"
NEGATIVES, WEIGHT = "training.loss.num_negatives", "training.regularizer.weight"

VARIANTS = {
    "softmax": {LOSS: "softmax"},
    "softmax and dura": {LOSS: "softmax", REGULARIZER: "dura", WEIGHT: 0.05},
    "kvsall": {LOSS: "kvsall", "training.loss.label_smoothing": 0.1},
    "sampled-softmax": {LOSS: "sampled-softmax", NEGATIVES: 8},
    "margin": {LOSS: "margin-ranking", NEGATIVES: 4, "training.loss.corruption": "both"},
    "bernoulli": {LOSS: "self-adversarial", NEGATIVES: 4, "training.loss.corruption": "bernoulli"},
    "temperature": {
        LOSS: "self-adversarial",
        NEGATIVES: 4,
        "training.loss.adversarial_temperature": 3.0,
    },
    "sampled gradient": {"training.loss.gradient": "sampled"},
    "margin of the loss": {"training.loss.margin": 1.0},
    "n3": {REGULARIZER: "n3", WEIGHT: 0.05},
    "relation prediction": {"training.relation_prediction_weight": 0.5},
    "dropout": {"training.loss.dropout": 0.1},
    "query dropout": {"training.loss.query_dropout": 0.3},
    "adagrad": {"training.optimizer.name": "adagrad", "training.optimizer.lr": 0.05},
    "cosine": {"training.lr_schedule.name": "cosine"},
    "ema": {"training.ema_decay": 0.05},
    "bias": {"model.bias": True},
    "bias, sampled": {"model.bias": True, LOSS: "sampled-softmax", NEGATIVES: 8},
}
DEFAULTS = {
    "model.dim": 4,
    "training.epochs": 3,
    "training.batch_size": 40,
    "training.optimizer.lr": 0.05,
}


def experiment(settings):
    return make_experiment(settings, DEFAULTS)


def weights(directory):
    return (directory / "model.safetensors").read_bytes()


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    directory = tmp_path_factory.mktemp("plain") / "run"
    run_experiment(experiment({}), DATA, directory)
    return (directory / "checkpoint" / "last.safetensors").read_bytes()


@pytest.mark.parametrize("variant", VARIANTS)
def test_each_setting_has_an_effect_and_resumes_to_the_same_bytes(variant, plain, tmp_path):
    config = experiment(VARIANTS[variant])
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


@pytest.mark.parametrize("loss", sorted(LOSSES.members.keys() - {"one-vs-all"}))
def test_each_loss_learns(loss, tmp_path):
    settings = {
        LOSS: loss,
        "training.loss.dropout": 0.0,
        "training.lr_schedule.decay": 1.0,
        "training.ema_decay": 0.0,
        "training.epochs": 25,
    }
    for field, value in (("margin", 2.0), ("num_negatives", 10)):
        if field in LOSSES[loss].model_fields:
            settings[f"training.loss.{field}"] = value
    data = random_graph(facts=40, held_out=0)
    run = run_experiment(experiment(settings), data, tmp_path / "run")
    assert run.evaluate("train")["realistic"]["mrr"] > 0.35
    assert run.history[-1]["loss"] < 0.7 * run.history[0]["loss"]


REFUSED = [
    ({"loss": {"label_smoothing": 0.1}}, "unknown key 'training.loss.label_smoothing'"),
    ({"loss": {"name": "softmax", "gradient": "sampled"}}, "unknown key 'training.loss.gradient'"),
    ({"loss": {"name": "softmax", "margin": 1.0}}, "unknown key 'training.loss.margin'"),
    (
        {"loss": {"name": "margin-ranking", "num_negatives": 0}},
        "'training.loss.num_negatives' is 0",
    ),
    ({"loss": {"name": "kvsall", "confidence": "soft-label"}}, "is 'soft-label'"),
    ({"loss": {"name": "softmx"}}, "'training.loss.name' is 'softmx', which is unknown"),
    ({"loss": {"name": "softmx"}}, "did you mean softmax"),
    ({"loss": "softmax"}, "'training.loss' is 'softmax': give a table with a name"),
    ({"regularizer": {"weight": 0.1}}, "unknown key 'training.regularizer.weight'"),
    ({"regularizer": {"name": "n3", "weight": 0.0}}, "'training.regularizer.weight' is 0.0"),
    ({"optimizer": {"rate": 0.1}}, "unknown key 'training.optimizer.rate'"),
    (
        {"lr_schedule": {"name": "cosine", "decay": 0.9}},
        "unknown key 'training.lr_schedule.decay'",
    ),
    ({"epoch": 3}, "unknown key 'training.epoch'; did you mean epochs?"),
]


@pytest.mark.parametrize(("chosen", "said"), REFUSED, ids=lambda x: str(x)[:40])
def test_settings_that_do_not_apply_are_refused(chosen, said):
    with pytest.raises(KgflowError) as error:
        complete({"data": "world", "training": chosen}, "here")
    assert str(error.value).startswith("here: ")
    assert said in str(error.value)
