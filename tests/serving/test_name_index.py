"""Names are found by prefix and in spite of typing errors."""

import random

import pytest

from kgflow.serving.name_index import NameIndex


@pytest.fixture(scope="module")
def many():
    rng = random.Random(0)
    letters = "abcdefghijklmnopqrstuvwxyzéß 日"
    return sorted({"".join(rng.choices(letters, k=rng.randint(3, 14))) for _ in range(5_000)})


def test_names_with_the_prefix_come_first(many):
    names = NameIndex(many, many)
    for query in ("a", "bc", many[70][:3], many[4_000]):
        begin = {i for i, name in enumerate(many) if name.casefold().startswith(query.casefold())}
        found = names.search(query)
        assert set(found[: len(begin)]) == begin
        assert len(set(found)) == len(found)


def test_one_wrong_letter_is_forgiven(many):
    names, rng = NameIndex(many, many), random.Random(1)
    long = [i for i, name in enumerate(many) if len(name) >= 8]
    for i in rng.sample(long, 50):
        place = rng.randrange(len(many[i]))
        typo = many[i][:place] + "q" + many[i][place + 1 :]
        assert i in names.search(typo)[:3]


def test_labels_case_and_nonsense():
    names = NameIndex(["Q1", "Q2", "Q3"], ["Straße", "Peru", "Q3"])
    assert names.search("STRASSE") == [0]
    assert names.search("q3") == [2]
    assert names.search("q") == [0, 1, 2]
    for nonsense in ("\x00", "\ud800", "z" * 10**6, "💥"):
        assert names.search(nonsense) == []
    assert NameIndex([], []).search("x") == []
