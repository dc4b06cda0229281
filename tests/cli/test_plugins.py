"""A component from a user's own file works through the command line; nothing else is touched."""

from pathlib import Path

import pytest

from kgflow.models import MODELS
from kgflow.runs import plugins

PLUGIN = Path(__file__).parent / "toy_plugin.py"
EXAMPLE = Path(__file__).parents[2] / "examples" / "custom_model.py"
SMALL = ("--dim", 4, "--epochs", 2)

COMPONENTS = {
    "model": ("model.name", "toy-model", {}),
    "loss": ("training.loss.name", "toy-loss", {"training.loss.scale": 2.5}),
    "regularizer": ("training.regularizer.name", "toy-regularizer", {}),
    "optimizer": ("training.optimizer.name", "toy-sgd", {"training.optimizer.lr": 0.003}),
    "schedule": ("training.lr_schedule.name", "toy-step", {"training.lr_schedule.after": 1}),
}


def flags(settings):
    return [x for key, value in settings.items() for x in ("--set", f"{key}={value}")]


@pytest.mark.parametrize("kind", COMPONENTS)
def test_a_toy_component_trains_and_resumes_through_the_command_line(answer, tmp_path, kind):
    key, name, settings = COMPONENTS[kind]
    chosen = flags({key: name, **settings})
    out = tmp_path / "run"
    plain = answer("train", "world", *SMALL, "--out", tmp_path / "plain")
    found = answer("--plugin", PLUGIN, "train", "world", *SMALL, *chosen, "--out", out)
    assert found["test"] != plain["test"]
    asked = ("predict", out, "--head", "France", "--relation", "borders", "--plugin", PLUGIN)
    assert answer(*asked)["answers"]
    assert str(PLUGIN) in (out / "config.toml").read_text()
    listed = answer("settings", key, "--plugin", PLUGIN)["settings"][0]
    if kind != "model":
        assert name in listed["type"]


def test_settings_of_a_toy_component_are_checked(refusal, tmp_path):
    chosen = flags({"training.loss.name": "toy-loss", "training.loss.scale": -1})
    said = refusal("--plugin", PLUGIN, "train", "world", *chosen, "--out", tmp_path / "run")
    assert "'training.loss.scale' is -1" in said
    chosen = flags({"training.loss.name": "toy-loss", "training.loss.margin": 1})
    said = refusal("--plugin", PLUGIN, "train", "world", *chosen, "--out", tmp_path / "run")
    assert "unknown key 'training.loss.margin'" in said


@pytest.fixture
def unload_example():
    """Remove the model of the example plugin, as in a process that has not loaded it."""

    def unload():
        plugins._LOADED.pop("kgflow_plugin_custom_model", None)
        MODELS.pop("nfe-2-laplace", None)

    yield unload
    unload()


def test_a_run_names_its_missing_plugin_and_imports_nothing_by_itself(
    answer, refusal, unload_example, tmp_path
):
    out, page, plugin = tmp_path / "run", tmp_path / "report.html", ("--plugin", EXAMPLE)
    data = tmp_path / "graph.tsv"
    data.write_text("".join(f"e{i % 9}\tr{i % 2}\te{i * i % 11}\n" for i in range(60)))
    answer("train", data, *SMALL, "--model", "nfe-2-laplace", *plugin, "--out", out)
    unload_example()
    predict = ("predict", out, "--head", "e1", "--relation", "r1")
    sentence = refusal(*predict)
    assert "model 'nfe-2-laplace' from a plugin that is not loaded: add --plugin" in sentence
    assert str(EXAMPLE) in sentence
    assert "nfe-2-laplace" not in MODELS
    assert answer(*predict, *plugin)["answers"]
    answer("report", out, "--out", page, *plugin)
    assert "nfe-2-laplace" in page.read_text()


def test_bad_plugins_get_one_sentence(refusal, tmp_path):
    assert "does not exist" in refusal("--plugin", tmp_path / "none.py", "models")
    assert "neither a .py file nor" in refusal("--plugin", "nothing", "models")
    broken = tmp_path / "broken.py"
    broken.write_text("import nowhere_at_all\n")
    assert "cannot be imported (ModuleNotFoundError" in refusal("--plugin", broken, "models")
