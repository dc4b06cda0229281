"""Hyperparameter search: the protocols, studies in files, reduced graphs, and bad input."""

import itertools

import numpy as np
import pytest

import kgflow
from graphs import random_graph
from kgflow.config import Experiment, read
from kgflow.data import Dataset, Triples, Vocabulary, k_core
from kgflow.errors import KgflowError
from kgflow.runs.build import complete
from kgflow.runs.training import best_validation, run_experiment

pytest.importorskip("optuna", reason="the extra `tune` is not installed")

from kgflow.tuning import (
    HyperbandProtocol,
    HyperparameterSearch,
    PaperProtocol,
    TpeProtocol,
    best_experiment,
    tune,
)
from kgflow.tuning.protocol import GRIDS, INITIAL

DATA = random_graph(entities=20, facts=150)
MARGIN, LR = "training.loss.margin", "training.optimizer.lr"
BATCH_SIZE = "training.batch_size"
BASE = {"data": "random", "model": {"dim": 2}, "training": {"epochs": 1}}


def searched(trials, protocol=TpeProtocol, storage=None, base=BASE, **more):
    search = HyperparameterSearch(DATA, base, protocol, storage)
    return search, tune(search, trials, **more)


def test_the_papers_order_finds_the_best_of_each_line():
    """With a made-up goal: every line is tried whole, in turn, from the best so far."""
    goal = {MARGIN: 9.0, LR: 0.003, "training.lr_schedule.decay": 1.0, BATCH_SIZE: 128}

    def value(settings):
        return -sum(abs(GRIDS[k].index(settings[k]) - GRIDS[k].index(goal[k])) for k in GRIDS)

    protocol, tried = PaperProtocol(), []
    while (settings := protocol.next_settings(tried)) is not None:
        tried.append((settings, value(settings)))
    assert len(tried) == PaperProtocol.default_trials
    assert max(tried, key=lambda pair: pair[1])[0] == goal
    assert [s[MARGIN] for s, _ in tried[:16]] == list(GRIDS[MARGIN])
    assert all(s == INITIAL | {MARGIN: s[MARGIN]} for s, _ in tried[:16])
    assert {s[MARGIN] for s, _ in tried[16:]} == {9.0}
    assert [k for k, _ in itertools.groupby(s[BATCH_SIZE] for s, _ in tried)] == [
        512, 128, 256, 1024,
    ]  # fmt: skip


def test_started_trials_come_last():
    protocol = PaperProtocol()
    protocol.grids, protocol.initial = {"lr": (1.0, 2.0, 3.0)}, {"lr": 1.0}
    started = [{"lr": 1.0}, {"lr": 2.0}]
    assert protocol.next_settings([], started) == {"lr": 3.0}
    assert protocol.next_settings([({"lr": 3.0}, 0.5)], started) == {"lr": 1.0}


def test_the_papers_protocol_on_a_graph():
    search, found = searched(3, PaperProtocol)
    assert sorted(t.settings[MARGIN] for t in found) == [0.0, 1.0, 2.0]
    assert found[0].mrr == max(t.mrr for t in found)
    best = best_experiment(search, found).training
    assert (best.loss.margin, best.optimizer.lr, best.loss.dropout) == (
        found[0].settings[MARGIN],
        0.001,
        0.0,
    )


def test_a_search_goes_on_where_it_stopped(tmp_path):
    file, told = tmp_path / "study.sqlite", []
    _, first = searched(2, storage=file, progress=told.append)
    assert told == [0, 1, 2]
    _, more = searched(4, storage=file, progress=told.append)
    assert told[3:] == [2, 3, 4]
    assert len(more) == 4
    assert all(t in more for t in first)
    assert len({tuple(sorted(t.settings.items())) for t in more}) == 4, "something was tried twice"
    _, same = searched(4, storage=file)
    assert same == more
    with pytest.raises(KgflowError, match="contains a different search"):
        searched(4, storage=file, base=BASE | {"model": {"dim": 4}})


def test_the_value_is_that_of_the_training():
    search, found = searched(1)
    run = kgflow.runs.training.run_experiment(best_experiment(search, found), DATA, None)
    assert run.metrics["valid"]["realistic"]["mrr"] == found[0].mrr


@pytest.fixture(autouse=True)
def _runs_go_elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_trials_that_fall_behind_are_ended(tmp_path, monkeypatch):
    from kgflow.tuning import search as module

    values = iter([0.5] * 6 + [0.1] * 6)

    def training(experiment, data, device, callbacks):
        mrr = next(values)
        for epoch in (1, 2, 3):
            callbacks[0].on_epoch({"epoch": epoch, "mrr": mrr})
        return mrr

    monkeypatch.setattr(module, "best_validation", training)
    _, found = searched(8)
    assert [t.state for t in found] == ["complete"] * 6 + ["pruned"] * 2


NINE = BASE | {"training": {"epochs": 9}}


@pytest.fixture
def pretended(monkeypatch):
    """Trainings of nine epochs: every third is good, the others are bad, from the beginning."""
    from kgflow.tuning import search as module

    epochs, number = [], itertools.count()

    def training(experiment, data, device, callbacks):
        mrr = 0.5 if next(number) % 3 == 0 else 0.1
        epochs.append(0)
        for epoch in range(1, 10):
            epochs[-1] = epoch
            callbacks[0].on_epoch({"epoch": epoch, "mrr": mrr})
        return mrr

    monkeypatch.setattr(module, "best_validation", training)
    return epochs


def states(found):
    return [t.state for t in sorted(found, key=lambda t: t.number)]


def test_hyperband_spends_its_epochs_on_the_best_third(pretended):
    _, found = searched(30, HyperbandProtocol, base=NINE)
    ended = states(found)
    assert set(ended[::3]) == {"complete"}, "the good ones go to their end"
    trials = zip(ended, pretended, strict=True)
    bad = [(state, epochs) for i, (state, epochs) in enumerate(trials) if i % 3]
    assert sum(state == "pruned" for state, _ in bad) >= 0.8 * len(bad)
    assert {epochs for state, epochs in bad if state == "pruned"} == {1, 3, 9}, "three brackets"
    assert sum(pretended) < 0.75 * 9 * 30


def test_hyperband_knows_the_epochs_of_a_trial():
    search = HyperparameterSearch(DATA, NINE, HyperbandProtocol)
    assert search.make_protocol().epochs == 9
    assert search.make_protocol().pruner()._max_resource == 9


def test_hyperband_goes_on_and_is_shared_as_if_in_one_go(pretended, tmp_path):
    """Whoever opens the file, the trials of all count."""
    _, whole = searched(12, HyperbandProtocol, base=NINE)
    for trials in (6, 12):  # each time by another object, as another process would
        _, found = searched(trials, HyperbandProtocol, tmp_path / "study.sqlite", base=NINE)
    assert states(found) == states(whole)
    assert "pruned" in states(found)
    assert pretended[:12] == pretended[12:]
    with pytest.raises(KgflowError, match="contains a different search"):
        searched(13, TpeProtocol, tmp_path / "study.sqlite", base=NINE)


def test_divergence_is_the_worst_and_other_failures_are_told(monkeypatch):
    from kgflow.training import Diverged
    from kgflow.tuning import search as module

    def failing(*_):
        raise error

    monkeypatch.setattr(module, "best_validation", failing)
    error = Diverged("too fast")
    assert [t.mrr for t in searched(2)[1]] == [0.0, 0.0]
    error = MemoryError()
    with pytest.raises(MemoryError):
        searched(1)


def test_refusals(tmp_path):
    with pytest.raises(KgflowError, match="give --storage"):
        searched(2, jobs=2)
    with pytest.raises(KgflowError, match="unknown model"):
        searched(1, base=BASE | {"model": {"name": "nfe1"}})
    (tmp_path / "x.sqlite").write_text("not a study, but long enough to be taken for one" * 9)
    with pytest.raises(KgflowError, match="is not a kgflow study"):
        searched(1, storage=tmp_path / "x.sqlite")
    with pytest.raises(KgflowError, match="no validation triples"):
        tune(HyperparameterSearch(random_graph(held_out=0), BASE, TpeProtocol), 1)
    with pytest.raises(KgflowError, match="no trial was completed"):
        best_experiment(HyperparameterSearch(DATA, BASE, TpeProtocol), [])


@pytest.mark.slow
def test_processes_share_a_study(tmp_path):
    _, found = searched(3, storage=tmp_path / "study.sqlite", jobs=2)
    assert len(found) in (3, 4)
    assert all(t.state == "complete" for t in found)


# --- smaller graphs -----------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.8, 0.5])
def test_a_core_is_a_core(share):
    core = k_core(skewed_graph(), share)
    degree = np.bincount(np.concatenate([core.train.h, core.train.t]))
    assert degree.min() >= 2


@pytest.mark.parametrize("share", [1.0, 0.8, 0.5])
def test_a_smaller_graph_is_what_lies_between_its_entities(share):
    data = skewed_graph()
    core = k_core(data, share)
    assert 0 < len(core.train) <= share * len(data.train)
    assert len(core.valid)
    names = {tuple(map(str, x)) for x in named(data, data.train)}
    inside = {e for h, _, t in named(core, core.train) for e in (h, t)}
    assert inside == set(core.entities)
    # Nothing was lost that lies between the entities that were kept.
    assert set(named(core, core.train)) == {x for x in names if {x[0], x[2]} <= inside}
    for split in ("valid", "test"):
        kept = {x for x in named(data, data.split(split)) if {x[0], x[2]} <= inside}
        assert set(named(core, core.split(split))) == {x for x in kept if x[1] in core.relations}
    if share == 1:
        assert len(core.train) == len(data.train)


def test_a_graph_without_a_small_core_keeps_its_smallest():
    data = random_graph(entities=60, relations=4, facts=400)
    core = k_core(data, 0.1)
    assert 0.1 * len(data.train) < len(core.train) < len(data.train)


def skewed_graph():
    """Few entities with many facts, many with few."""
    rng = np.random.default_rng(0)
    h, t = (rng.random((2, 600)) ** 3 * 100).astype(int)
    facts, _ = Triples(h, rng.integers(0, 4, 600), t).unique()
    place = np.arange(len(facts))
    return Dataset(
        "skewed",
        Vocabulary([f"e{i}" for i in range(100)]),
        Vocabulary([f"r{i}" for i in range(4)], kind="relation"),
        train=facts.take(place >= 80),
        valid=facts.take(place < 40),
        test=facts.take((place >= 40) & (place < 80)),
    )


def named(data, facts):
    names, relations = data.entities.names, data.relations.names
    return [(names[h], relations[r], names[t]) for h, r, t in facts.array().tolist()]


def test_bad_shares_are_refused():
    for share in (0.0, 1.5, float("nan")):
        with pytest.raises(KgflowError, match="share of triples"):
            k_core(DATA, share)


# --- the command --------------------------------------------------------------------------------


def test_written_is_what_train_takes(tmp_path):
    from kgflow.config import dump

    search, found = searched(1)
    file = tmp_path / "best.toml"
    file.write_bytes(dump(best_experiment(search, found)))
    assert read(Experiment, file) == best_experiment(search, found)


def test_settings_are_judged_by_the_facts_that_choose_an_epoch(tmp_path):
    """So that what is held out chooses nothing in the search either."""
    data = random_graph(entities=20, facts=150, held_out=24)
    found = {}
    for held_out in (0.0, 0.5):
        training = {"epochs": 2, "conformal_fraction": held_out}
        experiment = complete(BASE | {"training": training}, "test")
        run = run_experiment(experiment, data, tmp_path / str(held_out))
        found[held_out] = best_validation(experiment, data)
        assert found[held_out] == max(record["mrr"] for record in run.history)
    assert found[0.0] != found[0.5]
