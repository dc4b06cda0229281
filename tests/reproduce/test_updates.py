"""Entities that are held out, added and ranked."""

from pathlib import Path

from graphs import random_graph
from kgflow.data import SPLITS, load, save
from pretended import BENCHMARKS, row
from reproduce import updates
from reproduce.held_out import hold_out
from reproduce.results import Results
from reproduce.running import run_plans
from reproduce.study import Study
from reproduce.updates import OTHERS, UpdatesStudy


def test_held_out_entities_leave_with_all_their_facts():
    data = load("world")
    first, other = hold_out(data, 0), hold_out(data, 1)
    assert not set(first.entities) & set(other.entities)
    assert not [name for name in first.entities if name in first.base.entities]
    everything = {
        (data.entities[h], data.relations[r], data.entities[t])
        for split in SPLITS
        for h, r, t in data.split(split).array().tolist()
    }
    for name, given, others in zip(first.entities, first.given, first.others, strict=True):
        assert len(given) == 10
        assert 1 <= len(others) <= 20
        assert not set(given) & set(others)
        for h, r, t in {*given, *others}:
            assert (h, r, t) in everything
            assert name in (h, t)
            assert (t if h == name else h) in first.base.entities
    assert first.facts(2) == [fact for given in first.given for fact in given[:2]]


def test_the_study_trains_updates_and_shows(place, monkeypatch):
    save(random_graph(entities=60, facts=1200, held_out=60), place / "graph")
    short = {"training__epochs": 1, "training__conformal_fraction": 0.4}
    text = BENCHMARKS + row("graph/nfe-1", "graph", **short)
    (Study.files / "updates.toml").write_text(text)
    monkeypatch.setattr(updates, "COUNTS", (5,))
    study = UpdatesStudy(Path("runs"), Path("pictures"))
    found = run_plans(study.plans(), Path("runs"), Results(Path("results")))
    assert [result.skipped for result in found] == [None] * 3
    shown = study.show(found)
    assert shown.text.count("| graph | nfe-1 | 5 |") == 3
    base, again, new = (result.record.metrics[OTHERS] for result in found)
    assert base.keys() == {"seconds"}
    assert 0 < new["chance"] < 0.2
    assert again["answers"] == new["answers"] > 0
    assert "5 % of the entities" in study.page(shown, found)
