"""Ensembles of runs."""

import json
import shutil

import pytest
import torch

import kgflow
from graphs import random_graph
from kgflow.errors import KgflowError
from kgflow.runs.build import complete
from kgflow.runs.training import best_validation, run_experiment
from kgflow.training import save_model

DATA = random_graph(facts=200, held_out=24)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    place = tmp_path_factory.mktemp("runs")
    common = {"model.dim": 4, "training.epochs": 2, "training.conformal_fraction": 0.4}
    for name, model, seed, settings in (
        ("a", "nfe-1", 0, {"training.loss.margin": 3.0}),
        ("b", "nfe-1", 1, {"training.loss.margin": 1.0, "model.bidirectional": True}),
        ("c", "complex", 0, {"training.loss.margin": -4.0}),
        ("d", "nfe-1-complex", 1, {"model.bidirectional": True}),
        ("norm", "transe", 0, {"model.norm": "l1"}),
    ):
        kgflow.train(DATA, model, seed=seed, settings={**common, **settings}, out=place / name)
    return place


def test_answers_have_the_mean_score(runs, tmp_path):
    names = ("a", "b", "c")
    run = kgflow.ensemble([runs / x for x in names], tmp_path / "run")
    facts = [(f"e{i}", f"r{i % 3}", f"e{(3 * i) % 17}") for i in range(17)]
    apart = [kgflow.open(runs / x).score(facts)["score"].to_numpy() for x in names]
    assert run.score(facts)["score"].to_numpy() == pytest.approx(sum(apart) / 3, rel=1e-4, abs=1e-5)
    assert run.logit_offset == 0.0
    parts = run.config.model.members
    assert [part.model.name for part in parts] == ["nfe-1", "nfe-1", "complex"]
    assert [part.seed for part in parts] == [0, 1, 0]
    assert [part.run for part in parts] == [str(runs / x) for x in names]


def test_it_needs_the_others_no_more(runs, tmp_path):
    for x in ("a", "c"):
        shutil.copytree(runs / x, tmp_path / x)
    made = kgflow.ensemble([tmp_path / "a", tmp_path / "c"], tmp_path / "run")
    for x in ("a", "c"):
        shutil.rmtree(tmp_path / x)
    again = kgflow.open(tmp_path / "run")
    assert again.evaluate("test").to_dict() == made.metrics["test"]
    assert torch.equal(again.model.entity.weight, made.model.entity.weight)
    assert (tmp_path / "run" / "calibration.json").is_file()


def test_coverage_is_promised_only_of_what_no_run_chose_by(runs, tmp_path):
    same = kgflow.ensemble([runs / "a", runs / "c"], tmp_path / "same")
    assert len(same.validation.conformal) > 0
    other = kgflow.ensemble([runs / "a", runs / "b"], tmp_path / "other")
    assert other.config.training.conformal_fraction == 0
    with pytest.raises(KgflowError, match="different validation triples"):
        other.prediction_set(head="e1", relation="r0")


def test_a_run_that_is_there_stays(runs, tmp_path):
    kgflow.ensemble([runs / "a", runs / "b"], tmp_path / "run")
    before = (tmp_path / "run" / "config.toml").read_bytes()
    with pytest.raises(KgflowError, match="holds a run already"):
        kgflow.ensemble([runs / "a", runs / "c"], tmp_path / "run")
    assert (tmp_path / "run" / "config.toml").read_bytes() == before
    kgflow.ensemble([runs / "a", runs / "c"], tmp_path / "run", force=True)
    assert (tmp_path / "run" / "config.toml").read_bytes() != before


def test_invalid_members_are_refused(runs, tmp_path):
    def refused(*given):
        with pytest.raises(KgflowError) as error:
            kgflow.ensemble(given, tmp_path / "new")
        assert not (tmp_path / "new").exists()
        return str(error.value)

    assert "two runs or more" in refused(runs / "a")
    assert "is given twice" in refused(runs / "a", runs / "c", runs / ".." / runs.name / "a")
    assert "transe, which is no matrix product" in refused(runs / "a", runs / "norm")
    assert "is no run of kgflow" in refused(runs / "a", runs / "nothing")
    other = kgflow.train(random_graph(seed=1), dim=4, epochs=1, out=tmp_path / "other")
    assert f"{other.directory} was trained on other facts" in refused(runs / "a", other.directory)
    kgflow.ensemble([runs / "a", runs / "b"], tmp_path / "both")
    assert "is an ensemble already" in refused(tmp_path / "both", runs / "c")


def test_it_is_not_trained(runs, tmp_path):
    kgflow.ensemble([runs / "a", runs / "b"], tmp_path / "run")
    with pytest.raises(KgflowError, match="is an ensemble and cannot be trained"):
        kgflow.resume(tmp_path / "run")
    with pytest.raises(KgflowError, match="'ensemble' cannot be trained"):
        kgflow.train(DATA, "ensemble", out=tmp_path / "new")
    config = kgflow.open(tmp_path / "run").config
    experiment = kgflow.Experiment(data="x", model=config.model, training=config.training)
    before = (tmp_path / "run" / "model.safetensors").read_bytes()
    with pytest.raises(KgflowError, match="cannot be trained"):
        run_experiment(experiment, DATA, tmp_path / "run", force=True)
    assert (tmp_path / "run" / "model.safetensors").read_bytes() == before
    with pytest.raises(KgflowError, match="cannot be trained"):
        best_validation(experiment, DATA)
    with pytest.raises(KgflowError, match="an ensemble cannot be trained"):
        complete({"data": "x", "model": config.model.model_dump()}, "here")


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('name = "ensemble"', 'name = "nfe-1"', "is named 'ensemble' and has only a 'dim'"),
        ("bidirectional = false", "bidirectional = true", "has only a 'dim'"),
        ("[[model.members]]", "[[model.members]]\nnmae = 3", "unknown key 'model.members.0.nmae'"),
        (
            "[model.members.model]",
            "[model.members.model]\ndmi = 3",
            "unknown key 'model.dmi'",
        ),
    ],
)
def test_a_damaged_configuration_gets_one_sentence(runs, tmp_path, old, new, sentence):
    kgflow.ensemble([runs / "a", runs / "c"], tmp_path / "run")
    path = tmp_path / "run" / "config.toml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(KgflowError) as error:
        kgflow.open(tmp_path / "run")
    assert sentence in str(error.value)
    assert str(path) in str(error.value)


def test_what_cannot_be_judged_leaves_nothing_behind(runs, tmp_path):
    shutil.copytree(runs / "a", tmp_path / "bad")
    bad = kgflow.open(tmp_path / "bad").model
    bad.entity.weight.data[0, 0] = float("nan")
    save_model(tmp_path / "bad" / "model.safetensors", bad)
    kgflow.ensemble([runs / "a", runs / "c"], tmp_path / "run")
    before = (tmp_path / "run" / "model.safetensors").read_bytes()
    with pytest.raises(FloatingPointError):
        kgflow.ensemble([tmp_path / "bad", runs / "c"], tmp_path / "run", force=True)
    assert (tmp_path / "run" / "model.safetensors").read_bytes() == before
    with pytest.raises(FloatingPointError):
        kgflow.ensemble([tmp_path / "bad", runs / "c"], tmp_path / "new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad", "run"]


@pytest.mark.parametrize(("parts", "compared"), [(("a", "c"), "a"), (("b", "d"), None)])
def test_every_command_takes_it(runs, tmp_path, monkeypatch, capsys, parts, compared):
    """Commands that need entropies say so in one sentence."""
    from kgflow.__main__ import run

    merged = kgflow.ensemble([runs / x for x in parts], tmp_path / "run").directory

    def call(*words):
        monkeypatch.setattr("sys.argv", ["kgflow", *map(str, words)])
        return run(), *capsys.readouterr()

    for words in (
        ("evaluate", merged, "--by", "relation"),
        ("predict", merged, "--head", "e1", "--relation", "r0", "--explain", "1"),
        ("predict", merged, "--head", "e1", "--relation", "r0", "--coverage", "0.9"),
        ("predict", merged, "--head", "e1", "--tail", "e2"),
        ("discover", merged, "-k", "3"),
        ("calibrate", merged),
        ("rules", merged),
        ("export", merged, "--format", "npz", "--out", tmp_path / "rows.npz"),
        ("export", merged, "--format", "faiss", "--out", tmp_path / "index"),
        ("export", merged, "--format", "word2vec", "--out", tmp_path / "vectors.txt"),
        ("report", merged, *([runs / compared] if compared else []), "--out", tmp_path / "page"),
    ):
        code, _, err = call(*words)
        assert code == 0, (words, err)
    width = kgflow.open(merged).model.encode_keys(torch.zeros(1, 12 if parts[0] == "a" else 14)).K
    lines = (tmp_path / "vectors.txt").read_text().splitlines()
    assert lines[0] == f"17 {width.shape[1]}"
    code, _, err = call("uncertainty", merged)
    assert code == 2
    assert err == "kgflow: ensemble has no entropies: the models of an ensemble have no common x0\n"
    code, out, _ = call("ensemble", runs / "a", runs / "c", "--out", tmp_path / "again", "--json")
    assert code == 0
    assert json.loads(out)["models"] == ["nfe-1", "complex"]
