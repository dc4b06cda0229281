"""Models without reciprocal relations, through the commands."""


def test_train_takes_it(answer, tmp_path):
    flags = ("--model", "complex", "--dim", 4, "--epochs", 1, "--out", tmp_path / "run")
    found = answer("train", "world", "--set", "model.inverse_relations=false", *flags)
    assert found["model"]["inverse_relations"] is False
    assert answer("evaluate", tmp_path / "run") == found["test"]
    assert answer("train", "--resume", tmp_path / "run")["test"] == found["test"]
    answers = answer("predict", tmp_path / "run", "--tail", "France", "--relation", "borders")
    assert answers["answers"]


def test_it_is_refused_where_relations_cannot_be_read_backwards(refusal, tmp_path):
    said = refusal(
        "train", "world", "--set", "model.inverse_relations=false", "--out", tmp_path / "run"
    )
    assert "nfe-1 cannot compute inverse relations" in said
    assert not list(tmp_path.iterdir())
