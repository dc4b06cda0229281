"""Entities by label, and the arguments of loading."""

import math
from dataclasses import replace

import pytest

import kgflow
from graphs import random_graph
from kgflow.data import Columns, Vocabulary, read_triples, resplit
from kgflow.data.columns import recognize_header
from kgflow.errors import KgflowError

LABELS = {"e1": "One", "e2": "Twin", "e3": "Twin", "e4": "e5", "stranger": "Nobody"}


@pytest.fixture
def data():
    return replace(random_graph(), labels=LABELS)


def test_names_take_precedence_over_labels(data):
    assert [data.entity_id(name) for name in data.entities] == list(range(len(data.entities)))


def test_a_unique_label_finds_its_entity(data):
    assert data.entity_id("One") == 1


def test_a_shared_label_is_refused_with_two_candidates(data):
    with pytest.raises(KgflowError, match=r"'Twin' is the label of 'e2' and of 'e3'"):
        data.entity_id("Twin")


@pytest.mark.parametrize(("typo", "meant"), [("Onne", "One"), ("e1x", "e1"), ("Twim", "Twin")])
def test_suggestions_come_from_names_and_labels(data, typo, meant):
    with pytest.raises(KgflowError, match=rf"unknown entity '{typo}'; did you mean .*\b{meant}\b"):
        data.entity_id(typo)


def test_labels_of_unknown_entities_are_ignored(data):
    with pytest.raises(KgflowError, match="unknown entity 'Nobody'"):
        data.entity_id("Nobody")


def test_few_relations_are_listed_where_none_is_near():
    relations = Vocabulary(["P0", "P1"], kind="relation")
    with pytest.raises(KgflowError, match=r"^unknown relation 'PX'; known are P0, P1$"):
        relations.id("PX")
    for many in (Vocabulary([f"P{i}" for i in range(13)], kind="relation"), Vocabulary(["P0"])):
        with pytest.raises(KgflowError, match=r"'ZZ'$"):
            many.id("ZZ")


def test_load_takes_plain_strings(write):
    facts = write("facts.tsv", "b\tr\ta\nc\tr\ta\n")
    labels, types = write("l.tsv", "a\tAlpha\n"), write("t.tsv", "a\todd\n")
    paths = kgflow.load(facts, columns=Columns(2, 1, 0), labels=labels, types=types)
    texts = kgflow.load(str(facts), columns="2,1,0", labels=str(labels), types=str(types))
    assert texts.digest() == paths.digest()
    assert (texts.labels, texts.types) == (paths.labels, paths.types)
    assert texts.labels == {"a": "Alpha"}
    assert read_triples(str(facts), "2,1,0")["head"].to_list() == ["a", "a"]


@pytest.mark.parametrize("shares", [(math.nan, 0.1), (0.1, math.nan), (-0.1, 0.1), (0.5, 0.5)])
def test_impossible_shares_are_refused(data, shares):
    with pytest.raises(KgflowError, match="share"):
        resplit(data, *shares)


def test_negative_seeds_are_refused(data):
    with pytest.raises(KgflowError, match="seed -1 is negative"):
        resplit(data, seed=-1)


@pytest.mark.parametrize("weight", ["weight", "w", "W", "confidence", "conf", "score"])
def test_weight_columns_are_recognized(weight):
    assert recognize_header([weight, "head", "relation", "tail"]) == (1, 2, 3, 0)
