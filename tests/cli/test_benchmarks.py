"""kgflow reproduce benchmarks: from small files to a page."""

import pytest

import kgflow as library

pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")


def test_a_run_is_kept_and_shown(kgflow, answer, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "experiments" / "benchmarks" / "world"
    folder.mkdir(parents=True)
    text = "# Tiny\ndata = 'world'\n[model]\ndim = 4\n[training]\nepochs = 1\n"
    for name in ("a", "b"):
        (folder / f"{name}.toml").write_text(text)
    library.train("world", dim=4, epochs=1, out="runs/world-a-0")
    words = ("reproduce", "benchmarks", "--no-train", "--keep", "docs/kept")
    code, out, err = kgflow(*words, "--out", "runs", "--page", "page.md")
    assert code == 0, err
    assert "world-b-0 skipped: it was not run" in err
    page = (tmp_path / "page.md").read_text()
    assert out.strip() in page
    assert "kgflow train --config experiments/benchmarks/world/a.toml --seed 0" in page
    assert "(benchmarks/world.png)" in page
    assert not (tmp_path / "runs" / "world-b-0").exists()
    found = answer(*words, "--out", "nowhere")["rows"]
    assert [row["seeds"] for row in found] == [1, 0]
    assert f"| {found[0]['mrr'][0]:.3f} |" in page


def test_refusals(refusal, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = refusal("reproduce", "benchmarks", "--scale", "half")
    assert "benchmarks has one scale: leave --scale out" in said
    assert "run this in a checkout" in refusal("reproduce", "benchmarks")
    said = refusal("reproduce", "uncertainty", "--keep", "kept")
    assert "uncertainty measures the models themselves: leave --keep out" in said
    assert not list(tmp_path.iterdir())
