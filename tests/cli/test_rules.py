"""kgflow rules, kgflow predict --explain, kgflow reproduce figures."""

import pytest


def test_rules_beside_the_graph(answer, kgflow, world_run):
    found = answer("rules", world_run, "-k", 3)["rules"]
    kinds = [rule["kind"] for rule in found]
    assert all(kinds.count(kind) <= 3 for kind in kinds)
    keys = {
        "kind",
        "rule",
        "model_confidence",
        "distance",
        "closure",
        "support",
        "confidence",
        "chance",
    }
    assert set(found[0]) == keys | {"agreement", "body", "head"}
    code, out, _ = kgflow("rules", world_run, "--kind", "symmetric")
    assert code == 0
    assert "borders is symmetric" in out


def test_rules_of_one_relation(answer, world_run):
    found = answer("rules", world_run, "--relation", "borders", "--all")["rules"]
    assert found
    assert all("borders" in rule["rule"] for rule in found)


def test_rules_are_drawn(answer, world_run, tmp_path):
    pytest.importorskip("matplotlib")
    answer("rules", world_run, "--kind", "inverse", "--plot", tmp_path / "rules.png")
    assert (tmp_path / "rules.png").read_bytes().startswith(b"\x89PNG")


def test_rules_refusals(refusal, world_run, tmp_path):
    assert "did you mean symmetric" in refusal("rules", world_run, "--kind", "symetric")
    assert "unknown relation" in refusal("rules", world_run, "--relation", "adjoins")
    assert "ask for 1 rule or more" in refusal("rules", world_run, "-k", 0)
    assert "does not exist" in refusal("rules", world_run, "--plot", tmp_path / "no" / "a.png")
    assert "is not an image" in refusal("rules", world_run, "--plot", tmp_path / "a.doc")


def test_answers_are_explained(answer, kgflow, world_run):
    asked = ("predict", world_run, "--head", "France", "--relation", "borders", "-k", 3)
    answers = answer(*asked, "--explain", 2)["answers"]
    assert ["explanations" in row for row in answers] == [True, True, False]
    assert all(e["triples"] for row in answers[:2] for e in row["explanations"])
    assert "explanations" not in answer(*asked)["answers"][0]
    _, out, _ = kgflow(*asked, "--explain", 1)
    assert f"explanation of {answers[0]['answer']} (rank 1):" in out
    assert "similar to " in out
