"""Forecast of time and memory before training."""

from dataclasses import replace

import pytest

import kgflow
from graphs import ALL_MODELS, VARIANTS, make_experiment, random_graph
from kgflow.errors import KgflowError
from kgflow.runs import forecast as module
from kgflow.runs.build import make_model
from kgflow.runs.forecast import Timings, Work, check_memory, forecast, measure, parameters

DATA = random_graph()
WORK = Work(10, 100, 5, 1000, 4000, parameters=10**6, copies=3, facts=10**5)


@pytest.mark.parametrize("key", ALL_MODELS)
def test_parameters_are_counted_without_creating_them(key):
    name, options = VARIANTS[key]
    experiment = make_experiment(
        {f"model.{k}": v for k, v in {"name": name, "dim": 36, **options}.items()}
    )
    model = make_model(experiment, DATA)
    assert parameters(experiment, DATA) == sum(p.numel() for p in model.parameters())


@pytest.mark.parametrize(
    ("field", "factor"), [("epochs", 2), ("batches", 2), ("validations", 2), ("final_queries", 2)]
)
def test_time_grows_with_each_part_of_the_work(field, factor):
    timings = Timings(batch=0.1, query=0.01)
    more = replace(WORK, **{field: factor * getattr(WORK, field)})
    assert forecast(more, timings, 1).seconds > forecast(WORK, timings, 1).seconds
    found = forecast(WORK, timings, 1)
    parts = 10 * found.epoch_seconds + 5 * found.validation_seconds + found.final_seconds
    assert found.seconds == pytest.approx(parts)


def test_batches_and_validations_are_those_of_a_training(tmp_path):
    experiment = make_experiment(
        {
            "training.epochs": 5,
            "training.validate_every": 2,
            "training.batch_size": 8,
            "training.batches": "facts",
            "model.dim": 4,
        }
    )
    work, calls = Work.of(experiment, DATA), []

    class Count(kgflow.training.Callback):
        def on_start(self, epoch, batches):
            calls.append(batches)

    run = kgflow.train(
        DATA,
        "nfe-1",
        settings=experiment.model_dump(exclude={"data"}),
        out=tmp_path / "run",
        callbacks=[Count()],
    )
    assert len(calls) == work.epochs
    assert abs(calls[0] - work.batches) <= 1
    assert sum("mrr" in record for record in run.history) == work.validations


def test_what_does_not_fit_is_refused_with_a_dimension_that_does(monkeypatch):
    experiment = make_experiment({"model.dim": 2**20, "training.optimizer.name": "adagrad"})
    work = Work.of(experiment, DATA)
    available = work.memory // 3 + int(module.BASE_MEMORY)
    with pytest.raises(KgflowError, match=r"--dim \d+ would fit, or try --preset fast") as error:
        check_memory(experiment, work, available)
    dim = int(str(error.value).split("--dim ")[1].split()[0])
    assert dim < 2**20
    fitting = make_experiment({"model.dim": dim, "training.optimizer.name": "adagrad"})
    check_memory(fitting, Work.of(fitting, DATA), available)
    monkeypatch.setattr(module, "available_memory", lambda: 0)
    with pytest.raises(KgflowError, match="no dimension would fit"):
        measure(experiment, DATA)


def test_measuring_leaves_the_training_as_it_is(tmp_path):
    experiment = make_experiment({"model.dim": 4, "training.epochs": 1})
    one = kgflow.runs.training.run_experiment(experiment, DATA, tmp_path / "one")
    found = measure(experiment, DATA)
    assert 0 < found.epoch_seconds < found.seconds
    assert found.fits
    two = kgflow.runs.training.run_experiment(experiment, DATA, tmp_path / "two")
    assert one.metrics == two.metrics
