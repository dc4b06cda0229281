"""kgflow tune, as a person would call it."""

import pytest

from kgflow.config import Experiment, read

pytest.importorskip("optuna", reason="the extra `tune` is not installed")

from kgflow.tuning import PROTOCOLS, TpeProtocol

LR = "training.optimizer.lr"


def test_the_best_goes_to_a_file_that_train_takes(answer, tmp_path):
    out, study = tmp_path / "best.toml", tmp_path / "study.sqlite"
    flags = ("--dim", 2, "--epochs", 1, "--protocol", "tpe", "--reduce", "0.5")
    found = answer("tune", "world", *flags, "--trials", 2, "--storage", study, "--out", out)
    assert len(found["trials"]) == 2
    assert found["trials"][0]["mrr"] == max(t["mrr"] for t in found["trials"])
    best = read(Experiment, out)
    assert (best.data, best.model.dim, best.training.epochs) == ("world", 2, 1)
    assert best.training.optimizer.lr == found["trials"][0]["settings"][LR]
    run = answer("train", "--config", out, "--out", tmp_path / "run")
    assert run["epochs"] == 1


def test_for_people_it_names_the_file(kgflow, tmp_path):
    out = tmp_path / "best.toml"
    flags = ("--dim", 2, "--epochs", 1, "--trials", 1, "--out", out)
    code, printed, _ = kgflow("tune", "world", *flags)
    assert code == 0
    assert f"kgflow train --config {out}" in printed
    assert "best of 1 trials" in printed


def test_hyperband_on_a_core(kgflow, tmp_path):
    out = tmp_path / "best.toml"
    flags = ("--dim", 2, "--epochs", 1, "--trials", 1, "--protocol", "hyperband", "--out", out)
    code, printed, err = kgflow("tune", "world", *flags, "--reduce", "0.4")
    assert code == 0
    assert "searching on a k-core with " in err
    assert "best of 1 trials" in printed


def test_a_protocol_of_the_user_is_found_by_name(answer, tmp_path):
    class LearningRates(TpeProtocol):
        name, default_trials = "learning-rates", 2

        def suggest_settings(self, trial):
            return {LR: trial.suggest_categorical(LR, (0.25, 0.5))}

    try:
        flags = ("--dim", 2, "--epochs", 1, "--protocol", "learning-rates")
        found = answer("tune", "world", *flags, "--out", tmp_path / "best.toml")
        assert [set(t["settings"]) for t in found["trials"]] == [{LR}] * 2
        assert {t["settings"][LR] for t in found["trials"]} <= {0.25, 0.5}
    finally:
        del PROTOCOLS["learning-rates"]


def test_refusals(refusal, tmp_path):
    out = ("--out", tmp_path / "best.toml")
    assert "did you mean paper" in refusal("tune", "world", "--protocol", "papr", *out)
    assert "does not exist" in refusal("tune", "world", "--out", tmp_path / "no" / "x.toml")
    assert "unknown model" in refusal("tune", "world", "--model", "nfe1", *out)
    assert "share of triples" in refusal("tune", "world", "--reduce", "2", *out)
    assert not list(tmp_path.iterdir())


def test_help_has_an_example(kgflow):
    code, out, _ = kgflow("tune", "--help")
    assert code == 0
    assert "Example: kgflow tune" in out
    assert "--json" in out
