"""kgflow report, from its arguments to its files."""

import pytest

pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """Two quick runs on a small graph."""
    import kgflow
    from graphs import random_graph

    folder, data = tmp_path_factory.mktemp("pair"), random_graph(40, 3, 200)
    for name in ("transe", "distmult"):
        kgflow.train(data, name, 4, epochs=1, out=folder / name)
    return folder / "transe", folder / "distmult"


def test_report_prints_its_files_and_the_key_numbers(answer, pair, tmp_path):
    out = tmp_path / "page.html"
    found = answer("report", *pair, "--out", out, "--entity", "e3", "--split", "valid")
    assert found["report"] == str(out)
    assert found["bytes"] == out.stat().st_size
    assert found["split"] == "valid"
    assert sorted(found["plots"]) == sorted(map(str, (tmp_path / "page_files").iterdir()))
    assert {p.name for p in tmp_path.iterdir()} == {"page.html", "page_files"}
    mrrs = [answer("evaluate", run, "--split", "valid")["realistic"]["mrr"] for run in pair]
    assert [run["mrr"] for run in found["runs"]] == mrrs
    (comparison,) = found["comparisons"]
    assert comparison["difference"] == pytest.approx(mrrs[1] - mrrs[0])
    assert comparison["low"] <= comparison["difference"] <= comparison["high"]
    assert comparison["wins"] + comparison["ties"] + comparison["losses"] == 16


def test_report_for_people_names_the_file(kgflow, pair, tmp_path):
    code, out, err = kgflow("report", pair[0], "--out", tmp_path / "page.html")
    assert (code, err) == (0, "")
    assert f"report written to {tmp_path / 'page.html'}" in out


def test_report_refuses_before_it_works(refusal, pair, world_run, tmp_path):
    run, out = pair[0], tmp_path / "page.html"
    assert "does not exist" in refusal("report", run, "--out", tmp_path / "no" / "page.html")
    assert "is a directory" in refusal("report", run, "--out", tmp_path)
    assert "on other data than" in refusal("report", run, world_run, "--out", out)
    assert "unknown entity 'e99'" in refusal("report", run, "--out", out, "--entity", "e99")
    assert "unknown split" in refusal("report", run, "--out", out, "--split", "all")
    assert "no run of kgflow" in refusal("report", tmp_path, "--out", out)
    assert "--out" in refusal("report", run)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "page_files").write_text("mine")
    assert "is not a directory" in refusal("report", run, "--out", out)
    assert (tmp_path / "page_files").read_text() == "mine"
