"""kgflow ask."""

import polars as pl
import pytest

import kgflow as library

QUERY = "France borders ?x . ?x has_currency ?c"


def test_answers_have_probabilities_and_witnesses(answer, world_run):
    found = answer("ask", world_run, QUERY, "-k", 5)
    assert (found["shape"], found["exact"]) == ("2p", True)
    first, second = found["answers"][:2]
    assert {first["answer"], second["answer"]} == {"euro", "Swiss franc"}
    assert first["known"]
    assert first["probability"] == 1
    facts = second["witness"]["facts"]
    assert [fact["relation"] for fact in facts] == ["borders", "has_currency"]
    assert facts[0]["tail"] == facts[1]["head"] == second["witness"]["entities"]["x"]
    new = answer("ask", world_run, QUERY, "--new")["answers"]
    assert not any(row["known"] for row in new)
    assert all(0 < row["probability"] < 1 for row in new)
    chances = [row["probability"] for row in new]
    assert chances == sorted(chances, reverse=True)


def test_every_option_does_something(answer, world_run):
    def best(*options):
        return answer("ask", world_run, QUERY, "-k", 30, *options)["answers"]

    plain = best()
    for options in (("--model-only",), ("--existential", "noisy-or"), ("--new",), ("-k", 2)):
        assert best(*options) != plain, options


def test_python_terminal_and_file_say_the_same(kgflow, answer, world_run, tmp_path):
    frame = library.open(world_run).ask(QUERY, k=3)
    code, out, err = kgflow("ask", world_run, QUERY, "-k", 3)
    assert (code, err) == (0, "")
    for row in frame.iter_rows(named=True):
        assert row["answer"] in out
        assert row["witness"] in out
    assert "exact: no other entity is more probable" in out
    assert kgflow("ask", world_run, QUERY, "-k", 3, "--out", tmp_path / "a.tsv")[0] == 0
    assert pl.read_csv(tmp_path / "a.tsv", separator="\t")["answer"].equals(frame["answer"])


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (("France borders ?x . ?x has_curency ?c",), "query:1:24: unknown relation 'has_curency'"),
        (("?x borders ?y . ?y borders ?x",), "queries must be trees"),
        ((QUERY, "-k", "0"), "k is 0"),
        ((QUERY, "-k", "1000000"), "k is 1000000"),
        ((QUERY, "--beam", "0"), "beam is 0"),
        ((QUERY, "--method", "guess"), "method is 'guess'"),
        ((QUERY, "--existential", "sum"), "existential is 'sum'"),
        ((QUERY, "--out", "nowhere/a.tsv"), "cannot be written"),
    ],
)
def test_bad_queries_get_one_sentence(refusal, world_run, given, sentence):
    assert sentence in refusal("ask", world_run, *given)
