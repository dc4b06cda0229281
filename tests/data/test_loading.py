import gzip
import hashlib

import numpy as np
import pytest

from kgflow.data import Columns, catalog, files, import_files, load
from kgflow.errors import KgflowError

TRAIN = "c\tr\ta\na\ts\tb\n"
VALID = "d\tr\ta\n"
TEST = "a\tq\te\n"


@pytest.fixture
def directory(write, tmp_path):
    write("mine/train.tsv", TRAIN)
    write("mine/dev.csv", VALID.replace("\t", ","))
    write("mine/test.txt.gz", gzip.compress(TEST.encode()))
    write("mine/labels.tsv", "a\tAlpha\nz\tOmega\na\tOther\n")
    write("mine/types.tsv.gz", gzip.compress(b"a\tletter\na\tvowel\nb\tletter\na\tletter\n"))
    return tmp_path / "mine"


def test_names_are_numbered_by_first_appearance_over_all_splits(directory):
    dataset = load(directory)
    assert dataset.name == "mine"
    assert dataset.entities.names == ("c", "a", "b", "d", "e")
    assert dataset.relations.names == ("r", "s", "q")
    assert dataset.train.array().tolist() == [[0, 0, 1], [1, 1, 2]]
    assert dataset.valid.array().tolist() == [[3, 0, 1]]
    assert dataset.test.array().tolist() == [[1, 2, 4]]
    assert not dataset.weighted


def test_labels_and_types_in_the_directory_are_used(directory, write):
    dataset = load(str(directory))
    assert dataset.labels == {"a": "Alpha"}
    assert [dataset.label(i) for i in (0, 1)] == ["c", "Alpha"]
    assert dataset.types == {"a": ("letter", "vowel"), "b": ("letter",)}
    assert load(directory, labels=write("l.csv", "c,Gamma\n")).labels == {"c": "Gamma"}


def test_labels_of_other_entities_give_a_notice(directory, write):
    path = write("l.tsv", "http://a\tAlpha\n")
    assert f"{path} names none of the entities" in load(directory, labels=path).notices


def test_valid_and_test_may_be_missing(directory):
    (directory / "dev.csv").unlink()
    assert len(load(directory).valid) == 0
    (directory / "test.txt.gz").unlink()
    assert len(load(directory).queries("valid", "test")) == 0


def test_repeats_are_merged_and_counted(write):
    path = write("f.tsv", "a\tr\tb\t0.5\nb\tr\ta\t1\na\tr\tb\t0.75\n")
    dataset = import_files([path], shares=(0, 0))
    assert dataset.train.weight.tolist() == [0.75, 1.0]
    assert dataset.duplicates == {"train": 1}
    assert dataset.notices == ("train: repeated triples merged, each with its largest weight: 1",)


def test_one_file_is_split_by_its_seed(write):
    facts = "".join(f"{i}\t{(i + j) % 3}\t{j}\n" for i in range(20) for j in range(20))
    path = write("grid.tsv", facts)
    first, again, other = load(path), load(path), load(path, seed=1)
    assert (len(first.train), len(first.valid), len(first.test)) == (360, 20, 20)
    assert first.digest() == again.digest() != other.digest()
    assert first.name == "grid"


def test_several_files_are_imported_as_one(write):
    paths = [write("f.tsv", "a\tr\tb\t0.5\n"), write("g.csv", "b,r,a\nb,s,a\n")]
    dataset = import_files(paths, shares=(0, 0), labels=write("l.tsv", "a\tAlpha\n"))
    assert (dataset.name, dataset.label(0)) == ("f", "Alpha")
    assert dataset.train.array().tolist() == [[0, 0, 1], [1, 0, 0], [1, 1, 0]]
    assert dataset.train.weight.tolist() == [0.5, 1.0, 1.0]


def test_columns_reach_every_file(write, tmp_path):
    write("d/train.csv", "a,b,r\n")
    write("d/test.csv", "b,a,r\n")
    dataset = load(tmp_path / "d", columns=Columns.parse("0,2,1"))
    assert dataset.relations.names == ("r",)


def test_digest_depends_on_names_splits_and_weights_only(write):
    def digest(text, label="x"):
        labels = write("l.tsv", f"a\t{label}\n")
        return load(write("f.tsv", text), labels=labels).digest()

    texts = ["a\tr\tb\n", "a\tr\tc\n", "b\tr\ta\n", "a\tr\tb\t0.5\n", "a\tr\tb\t0.25\n"]
    assert len({digest(text) for text in texts}) == len(texts)
    assert digest(texts[0]) == digest(texts[0], label="y")


def test_an_unknown_split_is_refused(directory):
    with pytest.raises(KgflowError, match="unknown split 'tset'; did you mean test"):
        load(directory).split("tset")


def test_world_is_embedded():
    if not (catalog.EMBEDDED / "world" / "train.tsv").exists():
        pytest.skip("the embedded data set is not built")
    world = load("world")
    assert world.notices == ()
    assert world.train.entity_mask(len(world.entities)).all()
    assert len(world.types) > 0


@pytest.mark.shared
@pytest.mark.parametrize("name", ["umls", "fb15k-237", "cn15k", "countries-s1"])
def test_benchmarks_have_the_expected_counts(name, shared):
    dataset = shared(name)
    assert dataset.name == name
    for split, digest in catalog.entry(name).sha256.items():
        content = files.read_bytes(files.find_file(catalog.dataset_directory(name), split))
        assert hashlib.sha256(content).hexdigest() == digest
    assert not any("unexpected counts" in notice for notice in dataset.notices)
    index = dataset.queries("train")
    assert len(index.tails) == 2 * len(dataset.train)
    assert index.contains(dataset.train.h, dataset.train.r, dataset.train.t).all()
    assert dataset.weighted == (name == "cn15k")
    assert np.unique(index.h * index.relations + index.r).size == len(index)
