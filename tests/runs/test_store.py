"""A run directory is there whole or not at all, and what it holds is believed only if it fits."""

import json
import os
import subprocess
from contextlib import contextmanager

import pytest

import kgflow
from graphs import random_graph
from kgflow.config import Experiment
from kgflow.errors import KgflowError
from kgflow.runs.store import check_free, new_run, read_metrics, read_run, run_config, write_metrics

DATA = random_graph()


@contextmanager
def making(directory, force=False, data=DATA):
    with new_run(directory, run_config(Experiment(data="random"), data), data, force) as draft:
        yield draft


def make(directory, force=False, mark="new"):
    with making(directory, force) as draft:
        (draft / "mark").write_text(mark)
    return directory


def mark(directory):
    return (directory / "mark").read_text()


@pytest.fixture
def dead():
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


def names(directory):
    return sorted(path.name for path in directory.iterdir())


def test_what_is_written_is_read(tmp_path):
    data = random_graph(weighted=True)
    with making(tmp_path / "deep" / "run", data=data):
        pass
    _, again = read_run(tmp_path / "deep" / "run")
    assert again.digest() == data.digest()
    assert again.entities.names == data.entities.names


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, KgflowError])
def test_a_failing_body_leaves_all_as_it_was(tmp_path, error):
    make(tmp_path / "old", mark="old")
    for name in ("new", "old"):
        with pytest.raises(error), making(tmp_path / name, force=True):
            raise error
    assert names(tmp_path) == ["old"]
    assert mark(tmp_path / "old") == "old"


def test_force_replaces_and_nothing_else_stays(tmp_path):
    run = make(tmp_path / "run", mark="old")
    with pytest.raises(KgflowError, match="holds a run already"):
        make(run)
    assert mark(make(run, force=True)) == "new"
    assert names(tmp_path) == ["run"]


def test_the_old_run_comes_back_where_the_new_one_cannot_come_in(tmp_path):
    run = make(tmp_path / "run", mark="old")
    with (
        pytest.raises(KgflowError, match="run cannot be created"),
        making(run, force=True) as draft,
    ):
        draft.rename(tmp_path / "stolen")
    assert mark(run) == "old"


def test_what_came_in_between_is_not_replaced(tmp_path):
    with pytest.raises(KgflowError, match="holds a run already"), making(tmp_path / "run"):
        make(tmp_path / "run", mark="quicker")
    assert mark(tmp_path / "run") == "quicker"


def test_empty_directories_links_and_here_become_the_run(tmp_path, monkeypatch):
    for name in ("empty", "target", "here"):
        (tmp_path / name).mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "target")
    make(tmp_path / "empty")
    make(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    monkeypatch.chdir(tmp_path / "here")
    for force in (False, True):
        kgflow.train("world", dim=2, epochs=1, out=".", force=force)
        assert kgflow.open(".").history
    assert names(tmp_path) == ["empty", "here", "link", "target"]
    assert mark(tmp_path / "target") == "new"


def test_drafts_of_the_dead_go_and_of_the_living_stay(tmp_path, dead):
    living = os.getppid()
    for name in (f".run.{dead}.tmp", f".run.{living}.tmp", f".run.{os.getpid()}.tmp"):
        (tmp_path / name).mkdir()
    (tmp_path / f".other.{dead}.tmp").mkdir()
    (tmp_path / f".run.{10**30}.tmp").mkdir()
    make(tmp_path / "run")
    assert names(tmp_path) == sorted([f".other.{dead}.tmp", f".run.{living}.tmp", "run"])


def test_an_old_run_goes_only_once_another_is_in_its_place(tmp_path, dead):
    make(tmp_path / "run", mark="old").rename(tmp_path / f".run.{dead}.old")
    with pytest.raises(ValueError), making(tmp_path / "run"):
        raise ValueError
    assert names(tmp_path) == [f".run.{dead}.old"]
    make(tmp_path / "run")
    make(tmp_path / "run", force=True)
    assert names(tmp_path) == ["run"]


def test_impossible_places_are_refused_in_a_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    for place in (tmp_path / ("x" * 300), tmp_path / ("x" * 250), tmp_path / "file" / "run"):
        with pytest.raises(KgflowError, match="cannot be created: "):
            make(place)
    with pytest.raises(KgflowError, match="cannot be created: "):
        check_free(tmp_path / ("x" * 300), force=False)
    assert names(tmp_path) == ["file"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_unwritable_parents_are_refused_in_a_sentence(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(KgflowError, match="cannot be created: Permission denied"):
        make(tmp_path / "run")


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "null", '{"test": 3}', "[" * 100_000, "\xff"])
def test_damaged_metrics_count_as_none(tmp_path, text):
    assert read_metrics(tmp_path) == {}
    (tmp_path / "metrics.json").write_text(text, encoding="latin-1")
    assert read_metrics(tmp_path) == {}
    write_metrics(tmp_path, "test", {"mrr": 1.0})
    assert read_metrics(tmp_path) == {"test": {"mrr": 1.0}}


@pytest.mark.parametrize(
    "change",
    [
        {"labels": None},
        {"labels": {"e0": 3}},
        {"types": []},
        {"types": {"e0": "city"}},
        {"entities": [3]},
        {"entities": "e0"},
        {"relations": None},
        {"name": 3},
        {"more": 3},
    ],
    ids=str,
)
def test_a_vocabulary_of_another_shape_is_a_damaged_run(tmp_path, change):
    path = make(tmp_path / "run") / "vocabulary.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(KgflowError, match=r"damaged run \(vocabulary.json"):
        read_run(path.parent)


@pytest.mark.parametrize("text", ["[]", "null", "", "{}", "[" * 100_000])
def test_no_vocabulary_at_all_is_a_damaged_run(tmp_path, text):
    path = make(tmp_path / "run") / "vocabulary.json"
    path.write_text(text)
    with pytest.raises(KgflowError, match=r"damaged run \(vocabulary.json"):
        read_run(path.parent)


@pytest.mark.parametrize("shape", [(3,), (0, 2), (4, 4), (1, 3, 3)])
def test_facts_of_another_shape_are_a_damaged_run(tmp_path, shape):
    import numpy as np
    from safetensors.numpy import load, save

    path = make(tmp_path / "run") / "splits.safetensors"
    path.write_bytes(save(load(path.read_bytes()) | {"test": np.zeros(shape, np.int64)}))
    with pytest.raises(KgflowError, match=r"damaged run \(test holds no triples"):
        read_run(path.parent)


def test_a_run_of_another_format_gets_one_sentence(tmp_path):
    run = make(tmp_path / "run")
    text = (run / "config.toml").read_text()
    for old, said in (
        ("format = 1", "format 1"),
        ('format = "x"', "format x"),
        ("", "format None"),
    ):
        (run / "config.toml").write_text(text.replace("format = 2", old))
        with pytest.raises(KgflowError, match=f"has {said} .*reads format 2: train the run again"):
            read_run(run)
