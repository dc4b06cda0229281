"""`kgflow update`: what it says, and what it refuses."""

import pytest

FACTS = "subject,note,object,predicate\nAvalon,x,France,borders\nAvalon,y,Peru,twin\n"


@pytest.fixture
def facts(tmp_path):
    path = tmp_path / "new.csv"
    path.write_text(FACTS)
    return path


def test_files_with_columns_labels_and_types(kgflow, answer, facts, world_run, tmp_path):
    (tmp_path / "labels.tsv").write_text("Avalon\tIsle of Apples\n")
    (tmp_path / "types.tsv").write_text("Avalon\tisland\n")
    given = ("--columns", "subject,predicate,object", "--no-evaluate", "--out", tmp_path / "run")
    more = ("--labels", tmp_path / "labels.tsv", "--types", tmp_path / "types.tsv")
    found = answer("update", world_run, facts, *given, *more)
    assert (found["facts"], found["known"], found["new_relations"]) == (2, 0, ["twin"])
    (entity,) = found["new_entities"]
    assert (entity["label"], entity["facts"]) == ("Isle of Apples", 2)
    code, out, err = kgflow("update", tmp_path / "run", facts, "--in-place", "--no-evaluate")
    assert (code, err) == (0, "")
    assert "0 facts added, 2 known already, 0 repeated" in out
    rows = answer("predict", tmp_path / "run", "--head", "Avalon", "--relation", "twin")["answers"]
    assert rows[0]["head"] == "Avalon"


def test_bad_input_is_refused(refusal, facts, world_run, tmp_path):
    out = ("--out", tmp_path / "run")
    assert "either --out" in refusal("update", world_run, facts)
    assert "either --out" in refusal("update", world_run, facts, "--in-place", *out)
    assert "no such file" in refusal("update", world_run, tmp_path / "none.tsv", *out)
    assert "is no run" in refusal("update", tmp_path, facts, *out)
    assert "holds a run already" in refusal("update", world_run, facts, "--out", world_run)
    assert "the run itself" in refusal("update", world_run, facts, "--out", world_run, "--force")
    facts.write_text("a,b\n")
    assert "new.csv:1: 2 columns" in refusal("update", world_run, facts, *out)
    assert not (tmp_path / "run").exists()
