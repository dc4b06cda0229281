"""Presets, the forecast and time limits on the command line."""

import json

import pytest

import kgflow as library

FACTS = [(h, r, (h * (r + 2) + s) % 12) for h in range(12) for r in range(2) for s in range(3)]


@pytest.fixture
def facts(tmp_path):
    file = tmp_path / "facts.tsv"
    file.write_text("".join(f"e{h}\tr{r}\te{t}\n" for h, r, t in FACTS))
    return file


def test_dry_run_prints_settings_time_and_memory_only(kgflow, answer, facts, tmp_path):
    out = tmp_path / "run"
    code, text, _ = kgflow("train", facts, "--dry-run", "--out", out)
    assert code == 0
    for words in ("auto/filled", "forecast", "memory", "training.optimizer.lr"):
        assert words in text
    found = answer("train", facts, "--dry-run", "--epochs", 7, "--out", out)
    assert found["settings"]["training"]["epochs"] == found["forecast"]["epochs"] == 7
    assert found["forecast"]["fits"]
    assert not out.exists()


def test_a_preset_is_chosen_recorded_and_explained(kgflow, answer, facts, tmp_path):
    found = answer("train", facts, "--epochs", 1, "--out", tmp_path / "run")
    assert found["preset"] == "auto/filled"
    assert found["trials"] == []
    flags = ("--preset", "fast", "--epochs", 1, "--set", "model.dim=4")
    code, text, err = kgflow("train", facts, *flags, "--out", tmp_path / "small")
    assert code == 0
    assert "preset fast/filled: nfe-1, dim 4, up to 1 epochs" in err
    for command in ("predict", "report", "serve"):
        assert f"kgflow {command} {tmp_path / 'small'}" in text
    assert library.open(tmp_path / "small").model.entity.weight.shape[1] == 8
    assert "paper: NFE-1" in kgflow("settings")[1]
    assert set(answer("settings")["presets"]) == {"auto", "fast", "best", "paper"}


def test_a_time_limit_prints_the_recipes_and_resumes(kgflow, facts, tmp_path, monkeypatch):
    out = tmp_path / "run"
    flags = ("--preset", "fast", "--time-limit", "9s", "--epochs", 2, "--out", out)
    code, text, err = kgflow("train", facts, *flags)
    assert code == 0
    assert "0:09 as limited" in err
    assert "validation MRR" in text
    assert "filled" in text
    state = json.loads((out / "race.json").read_text())
    assert state["limit"] == 9
    assert state["spent"] < 11
    assert kgflow("train", "--resume", out)[0] in (0, 2)  # an ensemble is not trained further


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--preset", "atuo"), "unknown preset 'atuo'; did you mean auto?"),
        (("--time-limit", "soon"), "give a time such as 90s, 10m or 1h30m"),
        (("--time-limit", "0s"), "the time limit is too short"),
        (("--preset", "auto", "--set", "training.loss.margn=1"), "unknown key"),
    ],
)
def test_refusals(refusal, facts, tmp_path, flags, said):
    assert said in refusal("train", facts, *flags, "--out", tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_resume_takes_no_preset(refusal, world_run):
    for flag in (("--preset", "fast"), ("--time-limit", "9s"), ("--dry-run",)):
        assert f"{flag[0]} cannot be combined with --resume" in refusal(
            "train", "--resume", world_run, *flag
        )
