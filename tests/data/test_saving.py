import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgflow.data import Dataset, Triples, Vocabulary, load, save
from kgflow.data.loading import dataset_from_frames
from kgflow.errors import KgflowError

names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\r\n"), min_size=1)
triple = st.tuples(names, names, names)
weight = st.floats(0, 1, width=32, exclude_min=True)


def frame(rows, weights=None):
    data = pl.DataFrame(
        rows, schema=dict.fromkeys(["head", "relation", "tail"], pl.String), orient="row"
    )
    return (
        data if weights is None else data.with_columns(weight=pl.Series(weights, dtype=pl.Float32))
    )


@settings(max_examples=40, deadline=None)
@given(st.lists(triple, min_size=1), st.lists(triple, min_size=1), st.data())
def test_saved_data_sets_load_the_same(tmp_path_factory, train, test, data):
    weights = data.draw(st.none() | st.lists(weight, min_size=len(train), max_size=len(train)))
    before = dataset_from_frames("nasty", {"train": frame(train, weights), "test": frame(test)})
    place = tmp_path_factory.mktemp("written")
    after = load(save(before, place / "nasty"))
    assert after.entities.names == before.entities.names
    assert after.digest() == before.digest()


@pytest.mark.parametrize(
    "first",
    [
        ("h", "r", "t"),
        ("\ufeffa", "r", "b"),
        ("Source", "label", "Target"),
        ("x\x01y", "r", "b"),  # the first bytes of a compressed file
    ],
)
def test_a_first_row_like_a_header_survives(first, tmp_path):
    before = dataset_from_frames("odd", {"train": frame([first, ("a", "r", "b")])})
    assert load(save(before, tmp_path / "odd")).digest() == before.digest()


def test_labels_types_and_splits_come_back(tmp_path):
    before = Dataset(
        name="mine",
        entities=Vocabulary(["a", "b"]),
        relations=Vocabulary(["r"], kind="relation"),
        train=Triples.of([(0, 0, 1)]),
        valid=Triples.of([(1, 0, 0)]),
        labels={"a": "Álpha 1"},
        types={"a": ("x", "y"), "b": ("x",)},
    )
    after = load(save(before, tmp_path / "deep" / "mine"))
    assert (after.labels, after.types, after.name) == (before.labels, before.types, "mine")
    assert after.digest() == before.digest()
    assert not (tmp_path / "deep" / "mine" / "test.tsv").exists()


def test_a_directory_that_is_not_empty_is_refused(tmp_path):
    (tmp_path / "notes").write_text("mine")
    with pytest.raises(KgflowError, match="exists and is not empty"):
        save(dataset_from_frames("f", {"train": frame([("a", "r", "b")])}), tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["notes"]


@pytest.mark.parametrize("name", ["a\tb", "a\nb", "a\r"])
def test_names_that_tsv_cannot_represent_are_refused_and_nothing_is_written(name, tmp_path):
    with pytest.raises(KgflowError, match="contains a tab or a line break"):
        save(
            dataset_from_frames("f", {"train": frame([("a", "r", "b"), ("b", "r", name)])}),
            tmp_path / "f",
        )
    assert list(tmp_path.iterdir()) == []
