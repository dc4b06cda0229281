"""kgflow ask."""

import polars as pl
import pytest

import kgflow as library
from kgflow.queries.engine import AskOptions

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


def test_a_prediction_set_is_the_best_new_answers(kgflow, world_run):
    engine = library.open(world_run).queries
    found, larger = (engine.prediction_set(QUERY, coverage) for coverage in (0.8, 0.95))
    assert 0 < len(found) < len(larger)
    assert found.held_out >= 50
    new = engine.ask(QUERY, AskOptions(new=True, k=len(larger), beam=64)).answers
    assert larger.answers.answers == new
    assert found.answers.answers == new[: len(found)]
    code, out, _ = kgflow("ask", world_run, QUERY, "--coverage", 0.8, "-k", 2)
    assert code == 0
    assert f"{len(found):,} answers that do not follow" in out
    assert "contain the missing answer in 0.8 of queries of the shape 2p" in out


def test_a_composed_chain(answer, world_run):
    found = answer("ask", world_run, QUERY, "--method", "compose", "-k", 5)["answers"]
    assert {row["answer"] for row in found[:2]} == {"euro", "Swiss franc"}
    assert [row["probability"] for row in found[:2]] == [1, 1]
    assert found[2]["probability"] < 1
    assert not found[2]["witness"]["facts"]


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
        ((QUERY, "--coverage", "1"), "between 0 and 1"),
        ((QUERY, "--coverage", "0.999"), "a coverage of 0.999 needs 1,000"),
        (("France borders ?x . Peru borders ?x", "--method", "compose"), "a chain of relations"),
        ((QUERY, "--method", "compose", "--beam", "9"), "leave existential and beam out"),
        ((QUERY, "--out", "nowhere/a.tsv"), "cannot be written"),
    ],
)
def test_bad_queries_get_one_sentence(refusal, world_run, given, sentence):
    assert sentence in refusal("ask", world_run, *given)
