"""The study of presets: whole commands, their medians and what was not run."""

import json
from pathlib import Path

import pytest

from kgflow.errors import KgflowError
from reproduce.presets import PresetsStudy
from reproduce.results import Record, Results
from reproduce.running import RECORD, _call, run_plans
from reproduce.study import Options

ROWS = """
[[rows]]
id = "umls/fast"
data = "umls"
flags = "--preset fast"
mrr = 0.9
minutes = 1
[[rows]]
id = "umls/pykeen-TransE"
data = "umls"
peer = "TransE"
"""
MRRS = {"0": 0.7, "1": 0.9, "2": 0.8}


@pytest.fixture
def study(place):
    (place / "studies" / "presets.toml").write_text(ROWS)
    return PresetsStudy(Path(), Path(), Options(seeds=3))


def fake(words, jobs):
    """Write what a command would, without training."""
    if words[0] != "kgflow":
        raise KgflowError("no PyKEEN here")
    assert words[:5] == ["kgflow", "train", "umls", "--preset", "fast"]
    seed, out = words[words.index("--seed") + 1], Path(words[words.index("--out") + 1])
    metrics = {"realistic": {"mrr": MRRS[seed], "hits@1": 0.5, "hits@10": 0.9}}
    config = {"data": "umls", "model": {"name": "nfe-1", "dim": 8}}
    record = Record("presets", "umls/fast", int(seed), config, {"test": metrics}, [], {})
    out.mkdir(parents=True)
    (out / RECORD).write_text(record.to_line())
    return {"wall": "90.0", "cpu": "60.0"}


def test_commands_are_run_and_shown_with_medians_beside_targets(study, place, monkeypatch):
    monkeypatch.setattr("reproduce.running._call", fake)
    results = Results(place / "results")
    found = run_plans(study.plans(), place / "runs", results)
    shown = study.show(found)
    (row,) = shown.values["rows"]
    assert (row["mrr"], row["seeds"], row["cpu"], row["model"]) == (0.8, 3, 1.0, "nfe-1")
    line = shown.text.splitlines()[2]
    assert line.startswith(
        "| umls | `kgflow train umls --preset fast` | `nfe-1`, n = 8 | 3 | 0.800"
    )
    assert line.endswith("| 1.0 | 0.5 | 1 |")
    assert "PyKEEN, TransE (`umls/pykeen-TransE`): no PyKEEN here." in shown.text
    assert "no PyKEEN here" in study.page(shown, found)
    for result in found[:3]:
        results.add(result.record)
    stored = Results(place / "results").get("presets", "umls/fast", 1)
    assert stored.provenance["cpu"] == "60.0"
    assert json.loads(stored.to_line())["metrics"]["test"]["realistic"]["mrr"] == 0.9


def test_a_command_is_measured_and_its_last_line_is_the_error():
    spent = _call(["timeit", "-n", "1", "-r", "1", "sum(range(10**7))"], 1)
    assert float(spent["cpu"]) > 0
    with pytest.raises(KgflowError, match="No module named"):
        _call(["kgflow_nothing"], 1)


def test_models_are_no_choice(place):
    (place / "studies" / "presets.toml").write_text(ROWS)
    with pytest.raises(KgflowError, match="leave --model out"):
        PresetsStudy(Path(), Path(), Options(models=("nfe-1",))).plans()


def test_the_file_of_the_study_is_whole():
    rows = PresetsStudy(Path(), Path()).preset_rows()
    assert len({row.id for row in rows}) == len(rows)
    targets = {row.id: (row.mrr, row.minutes) for row in rows}
    assert targets["umls/auto"] == (0.94, 1)
    assert targets["fb15k-237/60m"] == (0.368, 60)
