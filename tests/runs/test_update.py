"""Updates of runs: what is new is fitted, what was trained stays, and nothing is lost."""

import os
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch

import kgflow
from graphs import ALL_MODELS, VARIANTS, make_experiment, random_graph, random_model
from kgflow.data import extend, triples_frame
from kgflow.errors import KgflowError
from kgflow.evaluation import rank
from kgflow.models import Ensemble
from kgflow.runs import update as module
from kgflow.runs.ensemble import ensemble
from kgflow.runs.growth import TABLE
from kgflow.runs.predictor import ADDED
from kgflow.runs.run import Run
from kgflow.runs.store import run_config
from kgflow.runs.training import resume
from kgflow.runs.update import fitted_model, update
from kgflow.runs.update_log import UpdateLog
from kgflow.training import save_model

DATA = random_graph(entities=30, facts=200)
FAST = {"training.batch_size": 1000, "training.optimizer.lr": 0.1}
NEW = [("n0", "r0", "e1"), ("e2", "r1", "n0"), ("n0", "r2", "e3"), ("n0", "s", "e4")]
LOSSES = (
    "one-vs-all",
    "kvsall",
    "softmax",
    "sampled-softmax",
    "margin-ranking",
    "self-adversarial",
)
WRAPPED = [
    ("nfe-1", {"bias": True}),
    ("nfe-1", {"bidirectional": True}),
    ("complex", {"inverse_relations": False}),
]


def in_memory(key, settings=(), **options):
    """A run in memory with random numbers in its model."""
    name, chosen = VARIANTS[key]
    model = random_model(key, DATA, dim=200 if name in ("conve", "hyper") else 12, **options)
    given = {f"model.{k}": v for k, v in (chosen | options).items()}
    given |= {"model.name": name, "model.dim": model.dim, "training.loss.name": "softmax"}
    run = Run(None, run_config(make_experiment(given | dict(settings)), DATA), DATA, model)
    run.__dict__["updates"] = UpdateLog()
    return run


def check_fit(run, triples=NEW, finetune=False):
    """Fit, and assert that all trained rows and other parameters are the same, bit by bit."""
    before = {k: v.clone() for k, v in run.model.state_dict().items()}
    extension = extend(run.data, triples_frame(triples))
    model, rows = fitted_model(run, extension, finetune)
    after, R, R2 = model.state_dict(), len(run.data.relations), len(extension.data.relations)
    assert all(torch.equal(v, before[k]) for k, v in run.model.state_dict().items())
    assert all(torch.equal(after[k], before[k]) for k in before if not TABLE.fullmatch(k))
    kept = np.setdiff1d(np.flatnonzero(run.data.train.entity_mask(30)), rows.touched)
    assert torch.equal(model.entity.weight[kept], run.model.entity.weight[kept])
    old, new = run.model.relation.weight, model.relation.weight
    assert torch.equal(torch.cat([new[:R], new[R2 : R2 + R]]), old)
    assert torch.isfinite(model.entity.weight).all()
    assert torch.isfinite(new).all()
    return model, rows, extension


@pytest.mark.parametrize("key", ALL_MODELS)
def test_trained_embeddings_stay_bit_by_bit(key):
    model, rows, _ = check_fit(in_memory(key))
    assert (rows.entities.tolist(), rows.relations.tolist()) == ([30], [3])
    assert model.entity.weight.shape[0] == 31


@pytest.mark.parametrize(("key", "options"), WRAPPED, ids=str)
def test_wrapped_models_are_updated(key, options):
    run = in_memory(key, **options)
    model, _, _ = check_fit(run)
    assert type(model) is type(run.model)


@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_and_regularizer_fits(loss):
    more = {"training.relation_prediction_weight": 0.1, "training.regularizer.name": "dura"}
    run = in_memory("nfe-1", {"training.loss.name": loss} | more)
    model, _, extension = check_fit(run)
    again, _ = fitted_model(run, extension)
    assert torch.equal(model.entity.weight, again.entity.weight)


def test_finetune_moves_the_entities_of_the_facts_and_no_others():
    run = in_memory("complex")
    triples = [("e1", "r0", "e5"), ("n0", "r1", "e7")]
    model, rows, extension = check_fit(run, triples, finetune=True)
    assert rows.touched.tolist() == [1, 5, 7]
    assert not torch.equal(model.entity.weight[rows.touched], run.model.entity.weight[rows.touched])
    h, r, t = (torch.from_numpy(x) for x in extension.added.take([0]).array().T.copy())
    assert model.score(h, r, t) > run.model.score(h, r, t)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A trained run with labels and types."""
    directory = tmp_path_factory.mktemp("runs") / "world"
    kgflow.train("world", model="complex", dim=16, epochs=8, settings=FAST, out=directory)
    return Run.open(directory)


AVALON = [
    ("Avalon", "borders", "France"),
    ("Avalon", "borders", "Belgium"),
    ("Germany", "borders", "Avalon"),
]


def test_what_is_added_is_known_and_everything_follows(trained, tmp_path):
    given = [*AVALON, AVALON[0], ("France", "borders", "Spain"), ("Avalon", "twin", "Peru")]
    names = {"labels": {"Avalon": "Isle"}, "types": {"Avalon": ("island",), "France": ("old",)}}
    run = update(trained, given, tmp_path / "new", **names)
    (record,) = run.updates.updates
    assert (record.facts, record.known, record.repeated) == (4, 1, 1)
    assert (record.entities, record.relations) == (1, 1)
    assert run.score(given)["known"].all()
    assert run.data.label(run.data.entities.id("Avalon")) == "Isle"
    assert run.predict(head="Peru", relation="borders", types="island")["answer"][0] == "Isle"
    assert set(trained.data.types["France"]) < set(run.data.types["France"])
    assert run.predict(head="Isle", relation="borders", k=3)["trained"].all()
    assert set(run.metrics) == {"valid", "test"}
    assert [len(run.data.split(s)) for s in ("valid", "test")] == [
        len(trained.data.split(s)) for s in ("valid", "test")
    ]
    first = trained.data.relations[0]
    old = [("France", first, "Peru"), ("Peru", first, "Chile")]
    assert run.score(old)["score"].equals(trained.score(old)["score"])
    assert run.predictor.calibration.facts == trained.predictor.calibration.facts


def test_probabilities_of_what_was_added_are_doubted(trained, tmp_path):
    run = update(trained, AVALON, tmp_path / "new", evaluated=False)
    rows = run.score([("Avalon", "borders", "Peru"), ("France", "borders", "Peru"), AVALON[0]])
    assert rows["note"].to_list()[0] == ADDED
    assert ADDED not in rows["note"].to_list()[1:]
    assert run.config.run.preset == trained.config.run.preset
    assert run.history == trained.history


def test_the_fit_ranks_the_given_facts_far_above_chance(trained, tmp_path):
    run = update(trained, AVALON, tmp_path / "new", evaluated=False)
    data = run.data.index(run.data.train.take(slice(-3, None)))
    ranks = rank(run.model, data, run.data.known).rank("realistic")
    assert ranks.mean() < len(run.data.entities) / 8  # a quarter of chance
    assert run.metrics == {}


def test_two_steps_know_the_same_as_one(trained, tmp_path):
    given = [*AVALON, ("Avalon", "twin", "Lyonesse"), ("Lyonesse", "twin", "Avalon")]
    one = update(trained, given, tmp_path / "one", evaluated=False)
    two = update(trained, given[:2], tmp_path / "two", evaluated=False)
    fixed = two.model.entity.weight[: len(trained.data.entities)].clone()
    two = two.update(given[2:], evaluated=False)
    assert two.config.run.data_digest == one.config.run.data_digest
    assert two.updates.entities == one.updates.entities
    assert [record.facts for record in two.updates.updates] == [2, 3]
    assert torch.equal(two.model.entity.weight[: len(fixed)], fixed)
    assert np.isin(two.predictor.trained_entities, [True]).all()
    again = two.update(given, evaluated=False)
    assert (again.updates.updates[-1].facts, again.updates.updates[-1].known) == (0, 5)
    assert torch.equal(again.model.entity.weight, two.model.entity.weight)
    with pytest.raises(KgflowError, match="updated after its training"):
        resume(tmp_path / "two")


def test_certainty_grows_with_facts_and_coverage_is_not_guaranteed(tmp_path):
    run = kgflow.train("world", model="nfe-1", dim=8, epochs=1, out=tmp_path / "run")
    countries = ("France", "Belgium", "Germany", "Spain", "Italy", "Poland")
    facts, found = [("Avalon", "borders", name) for name in countries], []
    for count in (1, 3, 6):
        new = run.update(facts[:count], tmp_path / f"{count}", evaluated=False)
        found.append(new.predictor.certainty(new.data.entities.id("Avalon")))
    assert found[0] < found[1] < found[2]
    some = new.prediction_set(head="Avalon", relation="borders")
    assert "not guaranteed, as 'Avalon'" in str(some)
    assert some.to_dict()["guaranteed"] is False
    assert new.prediction_set(head="France", relation="borders").fitted is None


def test_ensembles_are_updated_member_by_member(tmp_path):
    data = random_graph(entities=30, facts=200, held_out=40)
    for name, more in (("nfe-1", {"model.bidirectional": True}), ("complex", {})):
        kgflow.train(data, name, 4, epochs=1, settings=more, out=tmp_path / name)
    both = ensemble([tmp_path / "nfe-1", tmp_path / "complex"], tmp_path / "both")
    run = both.update(NEW, tmp_path / "new")
    assert isinstance(run.model, Ensemble)
    kept = np.flatnonzero(data.train.entity_mask(len(both.data.entities)))
    assert torch.equal(run.model.entity.weight[kept], both.model.entity.weight[kept])
    paths = [tmp_path / name for name in ("nfe-1", "complex")]
    one, other = (kgflow.open(p).update(NEW, evaluated=False).score(NEW)["score"] for p in paths)
    assert run.score(NEW)["score"].to_list() == pytest.approx(((one + other) / 2).to_list())
    again = ensemble([tmp_path / "nfe-1", tmp_path / "complex"], tmp_path / "again")
    assert again.updates.entities == run.updates.entities


def test_a_killed_update_leaves_the_old_or_the_new_run_whole(trained, tmp_path, killer):
    """From some operation on, no operation on files happens any more, as if killed before it."""
    run = update(trained, [], tmp_path / "run", evaluated=False)
    (run.directory / "notes.txt").write_text("mine")
    old, step, states = run.config.run.data_digest, 0, set()
    while True:
        died = killer(
            tmp_path, step, lambda: update(run, [], labels={"France": "Gaul"}, evaluated=False)
        )
        found = Run.open(run.directory)
        assert found.config.run.data_digest == old
        assert found.score([("France", "borders", "Spain")])["known"].all()
        states.add(found.data.labels.get("France"))
        assert (run.directory / "notes.txt").read_text() == "mine"
        if not died:
            break
        step += 1
    assert step > 15
    assert states == {trained.data.labels.get("France"), "Gaul"}
    assert found.data.labels["France"] == "Gaul"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run"]


class Killed(BaseException):
    """The end of a process."""


@pytest.fixture
def killer():
    """Return a function that calls another one, and ends it before some operation on files."""
    kinds = {"os.rename", "os.mkdir", "os.rmdir", "os.remove", "shutil.rmtree", "open"}
    armed = []

    def audit(event, arguments):
        if armed and event in kinds and str(armed[0]) in str(arguments[0]):
            if event == "open" and not (arguments[2] & (os.O_WRONLY | os.O_RDWR)):
                return
            armed[1] -= 1
            if armed[1] < 0:
                raise Killed

    def call(place, step, function):
        armed[:] = [place, step]
        try:
            function()
        except Killed:
            return True
        finally:
            armed.clear()
        return False

    sys.addaudithook(audit)
    return call


@pytest.mark.parametrize(
    ("triples", "said"),
    [
        ([("a", "b")], "triples are"),
        ([("a", "", "b")], "triple 1: the relation is empty"),
        ([("a", "b", "c"), ("a", "b", "c", 0.5)], "all of them with a weight"),
        ([("a", "b", "c", 2.0)], "weight is .*2.0"),
    ],
)
def test_bad_triples_get_a_sentence(trained, tmp_path, triples, said):
    with pytest.raises(KgflowError, match=said):
        update(trained, triples, tmp_path / "new")
    assert list(tmp_path.iterdir()) == []


def test_impossible_updates_get_a_sentence(trained, tmp_path):
    with pytest.raises(KgflowError, match="is the run itself"):
        update(trained, AVALON, trained.directory)
    run = update(trained, [], tmp_path / "run", evaluated=False)
    with pytest.raises(KgflowError, match="holds a run already"):
        update(trained, AVALON, tmp_path / "run")
    run = update(trained, [], tmp_path / "run", force=True, evaluated=False)
    model = run.model
    with torch.no_grad():
        model.entity.weight[0] += 1

    def meddle(*_):
        save_model(run.directory / "model.safetensors", model)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_follow", meddle)
        with pytest.raises(KgflowError, match="changed meanwhile"):
            update(run, AVALON, evaluated=False)
    (run.directory / "updates.json").write_text('{"entities": [99999]}')
    with pytest.raises(KgflowError, match=r"updates\.json is damaged"):
        _ = Run.open(run.directory).updates


def test_weights_and_untrained_names(tmp_path):
    data = random_graph(entities=30, facts=200, weighted=True)
    found = extend(data, triples_frame([("e0", "new", "e1"), ("x", "r0", "e1")]))
    assert found.data.train.weight is not None
    assert found.added.weights().tolist() == [1, 1]
    untrained = replace(data, train=data.train.take((data.train.h != 3) & (data.train.t != 3)))
    run = in_memory("distmult")
    run.data = untrained
    _, rows = fitted_model(run, extend(untrained, triples_frame([("e3", "r0", "e1")])))
    assert rows.entities.tolist() == [3]
    # A name that is a label of another entity is new, and the user is told.
    labelled = replace(data, labels={"e1": "One"})
    (notice,) = extend(labelled, triples_frame([("One", "r0", "e2")])).notices
    assert "'One', the label of 'e1'" in notice
