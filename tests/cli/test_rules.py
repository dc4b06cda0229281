"""kgflow rules and kgflow predict --explain."""

import pytest


def test_rules_beside_the_graph(answer, kgflow, world_run):
    found = answer("rules", world_run, "-k", 3)["rules"]
    kinds = [rule["kind"] for rule in found]
    assert all(kinds.count(kind) <= 3 for kind in kinds)
    keys = {"kind", "rule", "belief", "distance", "closure", "support", "confidence", "chance"}
    assert set(found[0]) == keys | {"verdict", "body", "head"}
    code, out, _ = kgflow("rules", world_run, "--kind", "symmetric")
    assert code == 0
    assert "borders is symmetric" in out


def test_rules_of_one_relation(answer, world_run):
    found = answer("rules", world_run, "--relation", "borders", "--all")["rules"]
    assert found
    assert all("borders" in rule["rule"] for rule in found)


def test_rules_are_drawn(answer, world_run, tmp_path):
    pytest.importorskip("matplotlib")
    answer("rules", world_run, "--kind", "inverse", "--picture", tmp_path / "rules.png")
    assert (tmp_path / "rules.png").read_bytes().startswith(b"\x89PNG")


def test_rules_refusals(refusal, world_run, tmp_path):
    assert "did you mean symmetric" in refusal("rules", world_run, "--kind", "symetric")
    assert "unknown relation" in refusal("rules", world_run, "--relation", "adjoins")
    assert "ask for 1 rule or more" in refusal("rules", world_run, "-k", 0)
    assert "does not exist" in refusal("rules", world_run, "--picture", tmp_path / "no" / "a.png")
    assert "is no picture" in refusal("rules", world_run, "--picture", tmp_path / "a.doc")


def test_answers_are_explained(answer, kgflow, world_run):
    asked = ("predict", world_run, "--head", "France", "--relation", "borders", "-k", 3)
    answers = answer(*asked, "--explain", 2)["answers"]
    assert ["reasons" in row for row in answers] == [True, True, False]
    assert all(reason["facts"] for row in answers[:2] for reason in row["reasons"])
    assert "reasons" not in answer(*asked)["answers"][0]
    _, out, _ = kgflow(*asked, "--explain", 1)
    assert f"why {answers[0]['answer']} (rank 1):" in out
    assert "like it is " in out
