"""Bad input raises one sentence that names the file, the line, the value and the remedy."""

import gzip

import polars as pl
import pytest

from kgflow.data import Columns, load, read_triples
from kgflow.errors import KgflowError

GOOD = "a\tr\tb\n"

LINES = {
    "two columns": ("c\td", "2 columns where head, relation and tail are needed", "'c', 'd'"),
    "one column": ("c", "1 column where", "'c'"),
    "a fourth column that the others lack": ("c\tr\td\t0.5", "4 columns where", "'0.5'"),
    "an empty head": ("\tr\td", "the head is empty", "give it a name"),
    "an empty relation": ("c\t\td", "the relation is empty", "give it a name"),
    "an empty tail": ("c\tr\t", "2 columns where", "'c', 'r'"),
}
WEIGHTS = ["nan", "NaN", "0", "0.0", "-0.5", "1.5", "1.0000001", "inf", "high", "1e-60", "0,5"]


def sentence(action):
    with pytest.raises(KgflowError) as caught:
        action()
    text = str(caught.value)
    assert "\n" not in text
    return text


@pytest.mark.parametrize("case", LINES)
def test_a_bad_row_is_named_by_its_line(case, write):
    row, what, value = LINES[case]
    path = write("facts.tsv", GOOD * 16 + row + "\n" + GOOD)
    text = sentence(lambda: read_triples(path))
    assert text.startswith(f"{path}:17: {what}")
    assert value in text


def test_lines_are_counted_with_blank_lines_and_header(write):
    path = write("facts.csv", 'head,relation,tail\r\n\r\n"a\nb",r,c\r\nd,e\r\n')
    assert sentence(lambda: read_triples(path)).startswith(f"{path}:5: 2 columns")


@pytest.mark.parametrize("weight", WEIGHTS)
def test_a_bad_weight_is_named_by_its_line_and_value(weight, write):
    path = write("facts.tsv", "a\tr\tb\t0.5\n" * 16 + f"c\tr\td\t{weight}\n")
    text = sentence(lambda: read_triples(path))
    assert text.startswith(f"{path}:17: the weight is '{weight}': give a number above 0")


def test_a_missing_weight_is_named_by_its_line(write):
    path = write("facts.tsv", "a\tr\tb\t0.5\na\tr\tc\n")
    text = sentence(lambda: read_triples(path))
    assert text.startswith(f"{path}:2: 3 columns where head, relation, tail and weight are needed")


def test_five_columns_need_a_choice(write):
    path = write("facts.tsv", "a\tr\tb\t0.5\t2020\n")
    text = sentence(lambda: read_triples(path))
    assert text.startswith(f"{path}:1: 5 columns")
    assert "--columns" in text
    assert read_triples(path, Columns.parse("0,1,2")).rows() == [("a", "r", "b")]


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xef\xbb\xbf", b"head\trelation\ttail\n"])
def test_a_file_without_triples_is_refused(content, write):
    path = write("facts.tsv", content)
    assert sentence(lambda: read_triples(path)).startswith(f"{path}: contains no triples")


@pytest.mark.parametrize("suffix", [".tsv", ".csv"])
def test_bytes_that_are_not_utf8_are_named(suffix, write):
    row = "a\tr\tb\n" if suffix == ".tsv" else "a,r,b\n"
    path = write(f"facts{suffix}", row.encode() * 16 + b"caf\xe9" + row.encode())
    text = sentence(lambda: read_triples(path))
    assert text.startswith(f"{path}:17: byte 0xe9 at position 4 of the line is not UTF-8")


def test_an_open_quote_is_named(write):
    path = write("facts.csv", 'a,r,b\na,r,"b\nc,r,d\n')
    assert sentence(lambda: read_triples(path)).startswith(f"{path}:2: unexpected end of data")


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"a\tr\tb\n", "not gzip data"),
        (gzip.compress(GOOD.encode() * 99, mtime=0)[:-12], "the gzip data are truncated"),
        (gzip.compress(GOOD.encode(), mtime=0) + b"rubbish", "not gzip data"),
        (gzip.compress(GOOD.encode() * 99, mtime=0)[:10] + b"\xff" * 50, "not gzip data"),
    ],
)
def test_bad_gzip_is_refused(content, what, write):
    path = write("facts.tsv.gz", content)
    assert sentence(lambda: read_triples(path)).startswith(f"{path}: {what}")


@pytest.mark.parametrize("content", [b"", b"a\tr\tb\n", b"PAR1" + b"\0" * 40 + b"PAR1"])
def test_what_is_not_parquet_is_refused(content, write):
    path = write("facts.parquet", content)
    assert sentence(lambda: read_triples(path)).startswith(f"{path}: not a Parquet table")


@pytest.mark.parametrize(
    ("columns", "what"),
    [
        ({"h": ["a", None], "r": ["r", "r"], "t": ["b", "c"]}, "row 1: the head is empty"),
        ({"h": ["a"], "r": ["r"], "t": ["b"], "score": [2.0]}, "row 0: the weight is 2.0"),
        ({"h": ["a"], "r": ["r"], "t": ["b"], "score": [None]}, "row 0: the weight is missing"),
        ({"h": ["a"], "r": ["r"]}, "2 columns where head, relation and tail are needed"),
        ({"h": ["a"], "r": ["r"], "t": [["b"]]}, "not a Parquet table of names"),
        ({name: ["x"] for name in "abcde"}, "5 columns where"),
    ],
)
def test_bad_parquet_is_named_by_its_row(columns, what, tmp_path):
    path = tmp_path / "facts.parquet"
    pl.DataFrame(columns).write_parquet(path)
    assert sentence(lambda: read_triples(path)).startswith(f"{path}: {what}")


def test_an_unknown_column_gets_a_suggestion(write):
    path = write("facts.csv", "subject,predicate,object\na,r,b\n")
    text = sentence(lambda: read_triples(path, Columns.parse("subjct,predicate,object")))
    assert text.startswith(f"{path}:1: there is no column 'subjct'; did you mean subject")
    text = sentence(lambda: read_triples(path, Columns.parse("0,1,7")))
    assert text.startswith(f"{path}:1: there is no column 7")


def test_a_missing_file_is_named(tmp_path):
    for name in ("facts.tsv", "facts.xls", "facts.parquet", "facts"):
        path = tmp_path / name
        assert sentence(lambda path=path: load(path)).startswith(f"{path}: no such file")


@pytest.mark.parametrize("name", ["facts.xls", "facts", "facts.gz", "facts.parquet.gz"])
def test_an_unknown_suffix_is_named(name, write):
    path = write(name, GOOD)
    text = sentence(lambda: load(path))
    assert text.startswith(f"{path}: unknown file format")
    assert ".parquet" in text


def test_a_directory_needs_a_train_file(write, tmp_path):
    write("test.tsv", GOOD)
    assert sentence(lambda: load(tmp_path)).startswith(f"{tmp_path}: contains no train file")


def test_two_train_files_are_ambiguous(write, tmp_path):
    write("train.tsv", GOOD)
    write("train.txt", GOOD)
    text = sentence(lambda: load(tmp_path))
    assert text == f"{tmp_path}: contains both train.tsv and train.txt: keep one of them"


def test_labels_and_types_need_two_columns(write):
    facts = write("facts.tsv", GOOD)
    path = write("l.tsv", "a\tAlpha\nb\n")
    assert sentence(lambda: load(facts, labels=path)).startswith(
        f"{path}:2: an entity and its label"
    )
    assert sentence(lambda: load(facts, types=path)).startswith(f"{path}:2: an entity and its type")
    path = write("l.parquet", "")
    assert sentence(lambda: load(facts, labels=path)).startswith(f"{path}: labels are read from")


def test_unseen_names_are_an_error_only_when_strict(write, tmp_path):
    write("train.tsv", GOOD)
    write("test.tsv", "a\tr\tz\na\ts\tb\n")
    assert load(tmp_path).notices == (
        "entities in valid or test that do not occur in training: 1",
        "relations in valid or test that do not occur in training: 1",
    )
    assert "--strict" in sentence(lambda: load(tmp_path, strict=True))
