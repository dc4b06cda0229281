"""Laws of predicted and discovered facts."""

import sys
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import torch

import kgflow
from graphs import random_graph, random_model
from kgflow.__main__ import run as run_program
from kgflow.errors import KgflowError
from kgflow.kernels import EncodedEntities, ExactSearch
from kgflow.runs.answers import COLUMNS, DISCOVERY_COLUMNS, TripleQuery
from kgflow.runs.discovery import discover
from kgflow.runs.predictor import FEW_FACTS, Predictor

LABELS = {"e1": "One", "e2": "Twin", "e3": "Twin"}


def graph():
    """A graph whose e3 and r1 occur in valid and test only."""
    data = random_graph(facts=120, held_out=20)
    h, r, t = data.train.h, data.train.r, data.train.t
    train = data.train.take((h != 3) & (t != 3) & (r != 1))
    types = {"e1": ("odd", "small"), "e2": ("even",), "e5": ("odd",)}
    return replace(data, train=train, labels=LABELS, types=types)


@pytest.fixture
def predictor():
    data = graph()
    return Predictor(random_model("nfe-1", data), data, margin=2.0)


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "run"
    kgflow.train(graph(), dim=2, epochs=1, out=out)
    return out


@pytest.fixture
def call(monkeypatch, capsys):
    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["kgflow", *map(str, arguments)])
        code = run_program()
        return code, *capsys.readouterr()

    return run


def every_question():
    yield from (TripleQuery(head=f"e{i}", relation=f"r{i % 3}") for i in range(17))
    yield from (TripleQuery(relation=f"r{i % 3}", tail=f"e{i}") for i in range(17))
    yield from (TripleQuery(head=f"e{i}", tail=f"e{16 - i}") for i in range(17))


def test_rows_are_what_each_triple_says_of_itself(predictor):
    data = predictor.data
    facts = {tuple(row) for s in ("train", "valid", "test") for row in data.split(s).array()}
    found = predictor.predict(list(every_question()), k=4)
    assert found["rank"].to_list() == [1, 2, 3, 4] * 34 + [1, 2, 3] * 17
    assert found["query"].is_sorted()
    for row in found.to_dicts():
        triple = (
            data.entities.id(row["head"]),
            data.relations.id(row["relation"]),
            data.entities.id(row["tail"]),
        )
        assert row["known"] == (triple in facts)
        assert row["trained"] == (
            "e3" not in (row["head"], row["tail"]) and row["relation"] != "r1"
        )
        assert row["conditional_probability"] == pytest.approx(1 / (1 + np.exp(-2 - row["score"])))
        assert row["probability"] is None
        assert row["note"] == (None if row["known"] else FEW_FACTS)
    ids = [data.entities.ids(found[c]) for c in ("head", "tail")]
    forward = found["query"].to_numpy() <= 17
    score = predictor.score(ids[0], data.relations.ids(found["relation"]), ids[1]).numpy()
    assert found["score"].to_numpy()[forward] == pytest.approx(score[forward])


def test_questions_together_or_alone_have_the_same_answers(predictor):
    questions = list(every_question()) * 6  # more than one chunk
    together = predictor.predict(questions, k=3)
    alone = pl.concat([predictor.predict([q], k=3) for q in questions])
    for name in set(together.columns) - {"query", "score", "conditional_probability"}:
        assert together[name].to_list() == alone[name].to_list()


def test_a_label_asks_like_its_name(predictor):
    for side in ("head", "tail"):
        by_name, by_label = (
            predictor.predict([TripleQuery(relation="r0", **{side: text})], k=5)
            for text in ("e1", "One")
        )
        assert by_label.equals(by_name)
        assert set(by_label[side]) == {"e1"}
    with pytest.raises(KgflowError, match="'Twin' is the label of"):
        predictor.predict([TripleQuery(head="Twin", relation="r0")], k=1)


def test_one_type_may_be_a_plain_string(predictor):
    question = [TripleQuery(head="e0", relation="r0")]
    one, listed = (predictor.predict(question, k=10**9, types=t) for t in ("odd", ["odd"]))
    assert one.equals(listed)
    assert set(one["tail"]) == {"e1", "e5"}


def test_no_answers_keep_the_columns(predictor):
    full = predictor.predict([TripleQuery(head="e0", relation="r0")], k=1)
    assert predictor.predict([], k=1).schema == full.schema
    assert discover(predictor, k=3, relation="r1").schema == discover(predictor, k=3).schema


def test_discovered_facts_are_the_best_new_ones_of_trained_names(predictor):
    found = discover(predictor, k=10**6)
    questions = [
        TripleQuery(head=e, relation=f"r{i}") for e in predictor.data.entities for i in (0, 2)
    ]
    new = predictor.predict(questions, k=17, new=True).filter(pl.col("trained"))
    triple = ["head", "relation", "tail"]
    assert set(found.select(triple).iter_rows()) == set(new.select(triple).iter_rows())
    # The k best are the first of all, however many are looked at to find them.
    assert discover(predictor, k=7)["score"].to_list() == pytest.approx(
        found["score"].head(7).to_list()
    )
    for side in ("head", "tail"):
        assert found[f"{side}_label"].to_list() == [LABELS.get(e, e) for e in found[side]]


@pytest.mark.parametrize("scores", [1, 17, 40, 2**25])
def test_discovery_in_small_chunks_finds_the_same(predictor, monkeypatch, scores):
    whole = discover(predictor, k=9)
    monkeypatch.setattr(predictor.scorer, "memory", scores)
    assert predictor.scorer.batch_size() * 17 <= max(scores, 17)
    assert (
        discover(predictor, k=9)
        .select("head", "relation", "tail")
        .equals(whole.select("head", "relation", "tail"))
    )


@pytest.mark.parametrize("bad", [torch.nan, torch.inf, -torch.inf])
def test_scores_that_are_not_finite_are_refused(predictor, bad):
    K = torch.ones(5, 1)
    K[3] = bad
    entities = EncodedEntities(K, lambda rows: (rows, torch.zeros(len(rows))), block=2)
    with pytest.raises(FloatingPointError):
        ExactSearch(entities)(torch.ones(2, 1), torch.zeros(2), k=1, allowed=torch.arange(5) != 3)
    predictor.model.entity.weight.data[3] = torch.nan
    for question in (TripleQuery(head="e0", relation="r0"), TripleQuery(head="e3", tail="e0")):
        with pytest.raises(FloatingPointError):
            predictor.predict([question], k=1)


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        (("--head", "e3", "--relation", "r0", "--type", "odd"), "Twin"),
        (("--head", "e0", "--relation", "r1", "--type", "odd"), "r1"),
        (("--head", "e0", "--relation", "r0", "-k", "17"), "Twin"),
        (("--head", "e0", "--tail", "e1"), "r1"),
    ],
)
def test_what_training_never_saw_is_noted(call, directory, asked, named):
    code, _, err = call("predict", directory, *asked)
    assert code == 0
    few = f"note: {FEW_FACTS}\n"
    assert err == f"{few}note: not in the training data, so the scores are unreliable: {named}\n"


def test_nothing_is_noted_of_trained_names(call, directory):
    asked = ("--head", "One", "--relation", "r0", "--type", "odd")
    assert call("predict", directory, *asked)[::2] == (0, f"note: {FEW_FACTS}\n")


def test_discover_shows_labels(call, directory):
    code, out, err = call("discover", directory, "-k", "1000")
    assert (code, err) == (0, "")
    assert "One" in out
    assert " e1 " not in out
    assert "not in the training data" in call("discover", directory, "--relation", "r1")[2]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("e0\tr0\t?\n\n?\tr0\tnobody\n", "q.tsv:3: unknown entity 'nobody'"),
        ("e0\tr0\t?\r\ne0\tZZ\t?\r\n", "q.tsv:2: unknown relation 'ZZ'; known are r"),
        ("Twin\tr0\t?", "q.tsv:1: 'Twin' is the label of"),
        ("e0\u2028e1\tr0\t?\n", "q.tsv:1: unknown entity"),
        ("", "q.tsv has no query"),
        ("\ufeff\n \r\n", "q.tsv has no query"),
    ],
)
def test_bad_question_files_name_the_line(call, directory, tmp_path, text, said):
    (tmp_path / "q.tsv").write_bytes(text.encode())
    code, out, err = call("predict", directory, "--file", tmp_path / "q.tsv")
    assert (code, out) == (2, "")
    assert said in err
    assert len(err.split("\n")) == 2


def test_empty_tables_are_written_with_their_header(call, directory, tmp_path):
    data, out = graph(), tmp_path / "out.tsv"
    h, r, _ = data.train.take(data.train.t == 1).array()[0]
    asked = ("--head", data.entities[h], "--relation", data.relations[r])
    # Only e1 is small, and it is known.
    assert call("predict", directory, *asked, "--type", "small", "--new", "--out", out)[0] == 0
    assert out.read_text() == "\t".join(COLUMNS) + "\n"
    assert call("discover", directory, "--relation", "r1", "--out", out)[0] == 0
    assert out.read_text() == "\t".join(DISCOVERY_COLUMNS) + "\n"
