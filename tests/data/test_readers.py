import gzip

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kgflow.data import Columns, files, read_triples, readers
from kgflow.data.columns import column_layout
from kgflow.errors import KgflowError

FACTS = [("Córdoba", 'the "city"', "a b"), ("日本", "r", "Córdoba"), ("x'", "r", "日本")]


def table(path, columns=None):
    return read_triples(path, columns).rows()


def quoted(row):
    return ",".join('"' + cell.replace('"', '""') + '"' for cell in row)


def tsv(facts):
    return "".join("\t".join(map(str, row)) + "\n" for row in facts)


FORMS = {
    "facts.tsv": tsv(FACTS),
    "facts.txt": tsv(FACTS),
    "facts.TSV": tsv(FACTS),
    "windows.tsv": tsv(FACTS).replace("\n", "\r\n"),
    "marked.tsv": "\ufeff" + tsv(FACTS),
    "blank.tsv": "\n \n\r\n" + tsv(FACTS).replace("\n", "\n\n\n") + "\t\t\n  ",
    "unended.tsv": tsv(FACTS).rstrip("\n"),
    "trailing.tsv": tsv(FACTS).replace("\n", "\t\n"),
    "headed.tsv": "Subject\tPredicate\tObject\n" + tsv(FACTS),
    "marked-and-headed.csv": "\ufeff\r\n\r\nh,r,t\n" + "\n".join(map(quoted, FACTS)),
    "plain.csv": "\n".join(map(quoted, FACTS)),
    "wide.csv": "id,source,target,type,note\n"
    + "\n".join(quoted(["1", h, t, r, "n"]) for h, r, t in FACTS),
    "other-wide.csv": "from,date,to,edge\n" + "\n".join(quoted([h, "", t, r]) for h, r, t in FACTS),
}


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("name", FORMS)
def test_every_text_form_gives_the_same_triples(name, zipped, write):
    content = FORMS[name].encode()
    path = write(name + ".gz", gzip.compress(content)) if zipped else write(name, content)
    assert table(path) == FACTS


def test_gzip_of_several_members_is_read_whole(write):
    path = write("a.tsv.gz", b"".join(gzip.compress(tsv([row]).encode()) for row in FACTS))
    assert table(path) == FACTS


@pytest.mark.parametrize("names", [("s", "p", "o"), ("a", "b", "c"), ("Head", "Relation", "Tail")])
def test_parquet_gives_the_same_triples(names, tmp_path):
    pl.DataFrame(FACTS, schema=list(names), orient="row").write_parquet(tmp_path / "facts.parquet")
    assert table(tmp_path / "facts.parquet") == FACTS


def test_parquet_columns_of_other_types_become_names(tmp_path):
    frame = pl.DataFrame({"h": [1, 2], "w": [9, 9], "r": ["x", "x"], "t": [3, 4], "weight": [1, 1]})
    frame.with_columns(pl.col("r").cast(pl.Categorical)).write_parquet(tmp_path / "f.parquet")
    assert table(tmp_path / "f.parquet") == [("1", "x", "3", 1.0), ("2", "x", "4", 1.0)]


@pytest.mark.parametrize("text", ["o,p,s", "2,1,0", "o,1,0"])
@pytest.mark.parametrize("name", ["f.csv", "f.parquet"])
def test_columns_are_mapped_by_name_or_position(name, text, tmp_path):
    frame = pl.DataFrame([(t, r, h) for h, r, t in FACTS], schema=["s", "p", "o"], orient="row")
    path = tmp_path / name
    (frame.write_csv if name == "f.csv" else frame.write_parquet)(path)
    assert table(path, Columns.parse(text)) == FACTS


def test_a_mapping_by_unusual_names_makes_the_first_row_a_header(write):
    path = write("f.csv", "Wer,Was,Wen,Wie\na,b,c,0.5\n")
    assert table(path, Columns.parse("Wer,Was,Wen,Wie")) == [("a", "b", "c", 0.5)]


def test_weights_are_read_from_a_fourth_column(write):
    facts = [("a", "r", "b", 0.5), ("b", "r", "c", 1.0)]
    assert table(write("f.tsv", tsv(facts))) == facts
    assert table(write("f.csv", "confidence,h,r,t\n.5,a,r,b\n 1.0 ,b,r,c\n")) == facts
    assert read_triples(write("f.tsv", tsv(facts))).schema["weight"] == pl.Float32


def test_a_line_break_in_quotes_belongs_to_the_name(write):
    assert table(write("f.csv", 'a,r,"b\nc"\n')) == [("a", "r", "b\nc")]


def test_a_mapping_must_name_three_or_four_distinct_columns():
    for text in ["a,b", "a,b,c,d,e", "a,,c", "a,a,b", ""]:
        with pytest.raises(KgflowError, match="subject,predicate,object"):
            Columns.parse(text)


def outcome(action):
    try:
        return action().rows()
    except KgflowError as error:
        return str(error)


@pytest.mark.parametrize("suffix", [".tsv", ".csv"])
@settings(deadline=None)
@given(st.text('ab\t,"\n\r é0.5', max_size=40).map(str.encode) | st.binary(max_size=12))
@example(b'a,b"",c\n')
@example(b"a\tb\tc\r")
@example(b"a\r\tb\tc")
def test_reading_at_once_agrees_with_reading_by_row(tmp_path_factory, suffix, content):
    path = tmp_path_factory.getbasetemp() / f"either{suffix}"
    path.write_bytes(content)
    content = content.removeprefix(files.BYTE_ORDER_MARK)

    def by_row():
        line, first = next(files.text_rows(path, content), (1, None))
        if first is None:
            raise KgflowError(f"{path}: contains no triples: give a file with at least one")
        return readers._read_by_row(path, content, column_layout(first, None, f"{path}:{line}"))

    assert outcome(lambda: read_triples(path)) == outcome(by_row)
