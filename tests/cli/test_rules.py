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
    assert "is no plot file" in refusal("rules", world_run, "--plot", tmp_path / "a.doc")


def test_answers_are_explained(answer, kgflow, world_run):
    asked = ("predict", world_run, "--head", "France", "--relation", "borders", "-k", 3)
    answers = answer(*asked, "--explain", 2)["answers"]
    assert ["explanations" in row for row in answers] == [True, True, False]
    assert all(e["triples"] for row in answers[:2] for e in row["explanations"])
    assert "explanations" not in answer(*asked)["answers"][0]
    _, out, _ = kgflow(*asked, "--explain", 1)
    assert f"explanation of {answers[0]['answer']} (rank 1):" in out
    assert "similar to " in out


def test_figures_are_drawn_of_what_is_there(kgflow, monkeypatch, tmp_path):
    pytest.importorskip("matplotlib")
    from kgflow.studies import figures

    monkeypatch.delenv("KGFLOW_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    quick = {"world": "--dim 4 --epochs 1", "wn18rr": "--epochs 1 --nonsense"}
    monkeypatch.setattr(figures, "GRAPHS", quick)
    code, out, err = kgflow("reproduce", "figures", "--out", "runs", "--page", "figures.md")
    assert code == 0
    assert "wn18rr, nfe-1 skipped" in err
    page = (tmp_path / "figures.md").read_text()
    assert "| world | borders is symmetric |" in out
    assert "kgflow train world --model nfe-1 --dim 4 --epochs 1" in page
    for picture in (tmp_path / "figures").iterdir():
        assert f"(figures/{picture.name})" in page
    assert len(list((tmp_path / "figures").iterdir())) == 4


def test_figures_refusals(refusal):
    assert "no figure is of 'umls'" in refusal("reproduce", "figures", "--data", "umls")
    assert "leave --model out" in refusal("reproduce", "figures", "--model", "transe")
    assert "known are small, figures" in refusal("reproduce", "xyz")
