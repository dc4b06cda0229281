"""A file with a confidence column, from training to predicted confidences."""

import numpy as np
import pytest

from graphs import random_graph


@pytest.fixture(scope="module")
def facts(tmp_path_factory):
    """A CSV of facts with confidences."""
    path = tmp_path_factory.mktemp("data") / "facts.csv"
    data = random_graph(entities=20, facts=200, weighted=True, held_out=0)
    rows = zip(data.train.array().tolist(), data.train.weight.tolist(), strict=True)
    lines = ["subject,verb,object,belief", *(f"e{h},r{r},e{t},{w:.3f}" for (h, r, t), w in rows)]
    path.write_text("\n".join(lines) + "\n")
    return path


COLUMNS = ("--columns", "subject,verb,object,belief")


def test_train_evaluate_predict(answer, kgflow, facts, tmp_path):
    run = tmp_path / "run"
    words = (
        "train",
        facts,
        *COLUMNS,
        "--set",
        "training.loss.confidence=regression",
        "--dim",
        4,
        "--epochs",
        2,
    )
    answer(*words, "--out", run)
    found = answer("evaluate", run, "--confidence")
    assert found["split"] == "test"
    assert found["facts"] >= found["queries"] > 0
    for kind in ("direct", "mapped", "constant"):
        assert 0 < found[kind]["mse"] <= found[kind]["mae"] < 1
    assert 0 < found["ndcg"]["exponential"] <= 1
    assert found["tails"]["facts"] == found["facts"] >= found["high"]["facts"]
    assert answer("evaluate", run, "--confidence", "--split", "valid")["fitted"] is None
    code, out, _ = kgflow("evaluate", run, "--confidence", "--split", "valid")
    assert code == 0
    assert "nDCG" in out
    assert "mapped" in out
    first = answer("predict", run, "--head", "e0", "--relation", "r0", "-k", 1)
    assert np.isfinite(first["answers"][0]["score"])


def test_what_does_not_fit_is_refused_in_one_sentence(refusal, world_run, facts, tmp_path):
    assert "world has no test facts with confidences" in refusal(
        "evaluate", world_run, "--confidence"
    )
    said = refusal("evaluate", world_run, "--confidence", "--coverage", 0.9, "--split", "valid")
    assert "take test, not valid" in said
    assert "--confidence cannot be used with" in refusal(
        "evaluate", world_run, "--confidence", "--by", "side"
    )
    message = refusal("train", facts, "--model", "nfe-1", "--set", "training.loss.confidence=hard")
    assert "training.loss.confidence" in message
    assert "'soft-label'" in message
