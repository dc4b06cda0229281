"""Training: it learns, it stops and resumes to the same bytes, and it never loses a good state."""

import itertools

import pytest
import torch
from safetensors.torch import load_file

import kgflow
from graphs import make_experiment, random_graph
from kgflow.errors import KgflowError
from kgflow.models import embedding
from kgflow.runs.training import resume, run_experiment
from kgflow.training import Batch, Callback, Diverged, Interrupted, epoch_batches
from kgflow.training.checkpoint import TrainingState

DATA = random_graph(entities=30, facts=200)


DEFAULTS = {
    "model.dim": 8,
    "training.epochs": 4,
    "training.batch_size": 20,
    "training.patience": 100,
    "training.optimizer.lr": 0.05,
}


def experiment(settings=()):
    return make_experiment(dict(settings), DEFAULTS)


def after(batches):
    """A stop that is asked for after so many batches."""
    count = itertools.count(1)
    return lambda: next(count) >= batches


class Silent(Callback):
    """A callback that does nothing."""

    def on_start(self, epoch, batches):
        pass

    def on_batch(self, epoch, batch, loss):
        pass

    def on_epoch(self, record):
        pass


def weights(directory):
    return (directory / "model.safetensors").read_bytes()


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    directory = tmp_path_factory.mktemp("whole") / "run"
    run_experiment(experiment(), DATA, directory)
    return directory


def test_same_seed_same_bytes_other_seed_other(whole, tmp_path):
    run_experiment(experiment(), DATA, tmp_path / "again")
    run_experiment(experiment({"seed": 1}), DATA, tmp_path / "other")
    assert weights(tmp_path / "again") == weights(whole)
    assert weights(tmp_path / "other") != weights(whole)


@pytest.mark.parametrize("batches", [1, 9, 20, 21, 50])
def test_interrupted_and_resumed_equals_uninterrupted(whole, tmp_path, batches):
    directory = tmp_path / "run"
    with pytest.raises(Interrupted):
        run_experiment(experiment(), DATA, directory, stop=after(batches))
    torch.manual_seed(batches)  # whatever else the process does in between
    run = resume(directory)
    assert weights(directory) == weights(whole)
    assert [r["loss"] for r in run.history] == [r["loss"] for r in kgflow.open(whole).history]
    assert run.metrics == kgflow.open(whole).metrics


@pytest.mark.parametrize("average", [0.0, 0.9])
def test_with_batch_norm_and_hidden_dropout_it_resumes_the_same(tmp_path, average):
    """Statistics of batches are part of the state; batches of a single query are among them."""
    config = experiment(
        {
            "model.name": "conve",
            "training.epochs": 2,
            "training.batch_size": 2,
            "training.optimizer.lr": 0.01,
            "training.ema_decay": average,
        }
    )
    whole = run_experiment(config, DATA, tmp_path / "whole")
    index = DATA.queries("train")
    order = epoch_batches("queries", index, 2, config.seed, 0)
    sizes = [len(Batch.of_facts(index, facts).h) for facts in order]
    assert 1 in sizes
    for count in (sizes.index(1) + 1, len(sizes) + 1):
        directory = tmp_path / str(count)
        with pytest.raises(Interrupted):
            run_experiment(config, DATA, directory, stop=after(count))
        torch.manual_seed(count)
        run = resume(directory)
        assert weights(directory) == weights(whole.directory)
        assert [r["loss"] for r in run.history] == [r["loss"] for r in whole.history]
    state = load_file(tmp_path / "whole" / "model.safetensors")
    assert (state["project.norm.mean"] != 0).any(), "nothing was remembered"


def test_what_a_batch_draws_depends_on_seed_epoch_and_batch_only(monkeypatch, tmp_path):
    def drawn(name, callbacks=(), **training):
        seen = []
        monkeypatch.setattr(embedding, "dropout", lambda x, share: seen.append(torch.rand(())) or x)
        run_experiment(
            experiment({"training.epochs": 2, **training}),
            DATA,
            tmp_path / name,
            callbacks=callbacks,
        )
        return torch.stack(seen)

    class Noise(Silent):
        def on_batch(self, epoch, batch, loss):
            torch.rand(batch)

    plain = drawn("plain")
    assert len(plain.unique()) == len(plain)
    assert torch.equal(drawn("noisy", [Noise()]), plain)
    assert not torch.isin(drawn("other", seed=1), plain).any()


def test_killed_between_files_equals_uninterrupted(whole, tmp_path, monkeypatch):
    # As after kill -9 just before the checkpoint of epoch 2 is renamed into place.
    directory = tmp_path / "run"
    real, calls = TrainingState.save, itertools.count(1)

    def dying(*arguments):
        if next(calls) == 3:
            raise OSError("killed")
        real(*arguments)

    monkeypatch.setattr(TrainingState, "save", dying)
    with pytest.raises(OSError, match="killed"):
        run_experiment(experiment(), DATA, directory)
    monkeypatch.undo()
    run = resume(directory)
    assert weights(directory) == weights(whole)
    assert [r["epoch"] for r in run.history] == [1, 2, 3, 4]


def test_resuming_a_finished_run_changes_nothing(whole):
    before = weights(whole)
    resume(whole)
    assert weights(whole) == before


def test_best_epoch_is_kept_and_patience_ends(tmp_path):
    run = run_experiment(
        experiment({"training.epochs": 60, "training.patience": 3}), DATA, tmp_path / "run"
    )
    curve = [r["mrr"] for r in run.history]
    assert len(curve) < 60
    assert len(curve) == curve.index(max(curve)) + 1 + 3
    assert run.evaluate("valid")["realistic"]["mrr"] == pytest.approx(max(curve))


def test_eval_every_validates_that_often_and_at_the_end(tmp_path):
    run = run_experiment(
        experiment({"training.epochs": 5, "training.validate_every": 2}), DATA, tmp_path / "run"
    )
    assert [r["epoch"] for r in run.history if "mrr" in r] == [2, 4, 5]


def test_decay_lowers_the_rate_each_epoch(tmp_path):
    run = run_experiment(
        experiment({"training.epochs": 3, "training.lr_schedule.decay": 0.5}),
        DATA,
        tmp_path / "run",
    )
    assert [r["lr"] for r in run.history] == [0.05, 0.025, 0.0125]


def test_without_validation_facts_the_last_epoch_is_kept(tmp_path):
    data = random_graph(held_out=0)
    run = run_experiment(experiment({"training.epochs": 2}), data, tmp_path / "run")
    assert run.metrics == {}
    assert len(run.history) == 2


def test_divergence_stops_with_a_sentence_and_the_last_good_state(whole, tmp_path):
    directory = tmp_path / "run"

    class Poison(Silent):
        def on_batch(self, epoch, batch, loss):
            if epoch == 3:
                model.entity.weight.data[0] = torch.inf

    import kgflow.runs.training as module

    real = module.make_trainer

    def spy(*arguments):
        nonlocal model
        model = arguments[3]
        return real(*arguments)

    model = None
    module.make_trainer = spy
    try:
        with pytest.raises(Diverged, match=r"epoch 3, batch .* not finite; .* smaller --lr"):
            run_experiment(experiment(), DATA, directory, callbacks=[Poison()])
    finally:
        module.make_trainer = real
    assert kgflow.open(directory).evaluate("valid")["realistic"]["mrr"] > 0
    resume(directory)
    assert weights(directory) == weights(whole)


def test_learning_beats_guessing_for_the_training_facts(tmp_path):
    run = run_experiment(
        experiment({"training.epochs": 40, "training.loss.margin": 2.0}), DATA, tmp_path / "run"
    )
    assert run.evaluate("train")["realistic"]["mrr"] > 0.5


def test_init_scale_is_a_factor_of_the_first_embeddings(tmp_path):
    def first(scale):
        """Weights after a step that moves nothing."""
        chosen = {"training.init_scale": scale, "training.epochs": 1}
        config = experiment({**chosen, "training.optimizer.lr": 1e-30})
        run = run_experiment(config, DATA, tmp_path / str(scale))
        return load_file(run.directory / "model.safetensors")

    whole, small = first(1.0), first(0.01)
    for name in ("entity.weight", "relation.weight"):
        torch.testing.assert_close(small[name], whole[name] * 0.01)


def test_weights_reach_the_loss(tmp_path):
    plain = run_experiment(experiment({"training.epochs": 1}), DATA, tmp_path / "plain")
    data = random_graph(entities=30, facts=200, weighted=True)
    heavy = run_experiment(experiment({"training.epochs": 1}), data, tmp_path / "heavy")
    assert heavy.history[0]["loss"] < plain.history[0]["loss"]


def test_truncated_and_foreign_checkpoints_are_refused(whole, tmp_path):
    directory = tmp_path / "run"
    with pytest.raises(Interrupted):
        run_experiment(experiment(), DATA, directory, stop=after(5))
    last = directory / "checkpoint" / "last.safetensors"
    good = last.read_bytes()
    for bad, message in (
        (good[: len(good) // 2], "damaged"),
        (b"not at all", "damaged"),
        (weights(whole), "not a checkpoint"),
    ):
        last.write_bytes(bad)
        with pytest.raises(KgflowError, match=message):
            resume(directory)
    other = tmp_path / "other"
    with pytest.raises(Interrupted):
        run_experiment(
            make_experiment({"model.dim": 9}),
            DATA,
            other,
            stop=after(1),
        )
    last.write_bytes((other / "checkpoint" / "last.safetensors").read_bytes())
    with pytest.raises(KgflowError, match="another run's"):
        resume(directory)
