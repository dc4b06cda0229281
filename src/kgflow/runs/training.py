"""From an experiment to a run: settle it, train it, go on with it, judge it."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from kgflow.config import MEAN, Experiment, ModelConfig, Option, parse
from kgflow.data import Dataset, hold_out, load
from kgflow.errors import KgflowError
from kgflow.evaluation import rank
from kgflow.models import Model, variant
from kgflow.runs.build import make_loss, make_model, make_schedule
from kgflow.runs.run import Run
from kgflow.runs.store import new_run, read_run, run_config, write_metrics
from kgflow.training import Callback, History, Trainer, save_model


def train(
    data: Dataset | str | Path,
    model: str = "nfe-1",
    dim: int | None = None,
    *,
    epochs: int | None = None,
    batch_size: int | None = None,
    lr: float | None = None,
    decay: float | None = None,
    margin: float | None = None,
    dropout: float | None = None,
    average: float | None = None,
    backward: str | None = None,
    confidence: str | None = None,
    seed: int | None = None,
    patience: int | None = None,
    eval_every: int | None = None,
    held_out: float | None = None,
    loss: str | None = None,
    smoothing: float | None = None,
    negatives: int | None = None,
    corruption: str | None = None,
    adversarial: float | None = None,
    popularity: float | None = None,
    query_dropout: float | None = None,
    regularizer: str | None = None,
    penalty: float | None = None,
    relation_weight: float | None = None,
    optimizer: str | None = None,
    schedule: str | None = None,
    warmup: float | None = None,
    bias: bool | None = None,
    inverse_relations: bool | None = None,
    start: float | None = None,
    bidirectional: bool | None = None,
    options: Mapping[str, Option] | None = None,
    out: str | Path | None = None,
    force: bool = False,
    device: str = "cpu",
    callbacks: Sequence[Callback] = (),
) -> Run:
    """Train a model, keep its best epoch, and evaluate it.

    Args:
        data: a data set, or what `kgflow.load` takes.
        model: a model's name.
        dim: the paper's n, the size of each part.
        epochs: passes over the training facts.
        batch_size: facts in a batch.
        lr: the learning rate.
        decay: the rate's factor per epoch.
        margin: the margin of the loss.
        dropout: the share of each head's numbers left out in training.
        average: how much of the average of earlier epochs' weights is kept.
        backward: "dense", or "sparse" for a sampled gradient, quicker on large graphs.
        confidence: "plain" to ignore it, "weights" to count facts by it, "soft" for labels among
            all entities, "regress" for labels among facts and a few corruptions.
        seed: of the start and the order of batches.
        patience: validations without gain before the end.
        eval_every: epochs between validations.
        held_out: the share of the validation facts that chooses nothing, so that answer sets can
            promise how often they hold the answer.
        loss: "one-vs-all", "softmax", "kvsall", "sampled", "sampled-softmax", "margin" or
            "self-adversarial".
        smoothing: of the labels of "kvsall".
        negatives: entities drawn per batch ("sampled", "sampled-softmax") or per fact.
        corruption: what is replaced in a fact: "tails", "both" or "bernoulli".
        adversarial: α of "self-adversarial", how much more the best corruptions count.
        popularity: how much more facts with frequent tails count.
        query_dropout: the share of each query's numbers left out in training.
        regularizer: "l2", "n3" or "dura", with a penalty.
        penalty: the regularizer's weight.
        relation_weight: of predicting relations beside tails.
        optimizer: "adam", "adagrad" or "row-adagrad".
        schedule: of the rate, "exponential", "cosine" or "plateau".
        warmup: epochs until the rate is reached.
        bias: whether every entity has a number that is added where it is the tail.
        inverse_relations: whether a relation read backwards has numbers of its own.
        start: what the first numbers of all rows are multiplied by.
        bidirectional: whether answers are scored by the mean of what head and tail say of a fact.
        options: what only this model knows, such as ``{"x0": "uniform"}``.
        out: the run directory; ``runs/<data>-<model>-<date>`` if not given.
        force: replace a run that is there.
        device: "cpu", "cuda", …
        callbacks: who is told of batches and epochs.
    """
    dataset = data if isinstance(data, Dataset) else load(data)
    training = {
        "epochs": epochs,
        "batch_size": batch_size,
        "lr": lr,
        "decay": decay,
        "margin": margin,
        "dropout": dropout,
        "average": average,
        "backward": backward,
        "confidence": confidence,
        "seed": seed,
        "patience": patience,
        "eval_every": eval_every,
        "held_out": held_out,
        "loss": loss,
        "smoothing": smoothing,
        "negatives": negatives,
        "corruption": corruption,
        "adversarial": adversarial,
        "popularity": popularity,
        "query_dropout": query_dropout,
        "regularizer": regularizer,
        "penalty": penalty,
        "relation_weight": relation_weight,
        "optimizer": optimizer,
        "schedule": schedule,
        "warmup": warmup,
    }
    chosen = {
        "name": model,
        "dim": dim,
        "bias": bias,
        "inverse_relations": inverse_relations,
        "start": start,
        "bidirectional": bidirectional,
        "options": dict(options or {}),
    }
    name = data.name if isinstance(data, Dataset) else str(data)
    values = {"data": name, "model": _given(chosen), "training": _given(training)}
    experiment = settle(values, "train")
    return run_experiment(experiment, dataset, out, force, device, callbacks)


def settle(values: Mapping[str, Any], source: str) -> Experiment:
    """An experiment of what was chosen; the rest as suits its model, or else in general.

    Args:
        values: the keys of an experiment, those of `model` and `training` as far as chosen.
        source: where they are from, for messages.

    Example:
        >>> settle({"data": "umls", "training": {"lr": 0.5}}, "here").training.lr
        0.5
    """
    model, training = values.get("model", {}), values.get("training", {})
    if model.get("name") == MEAN or model.get("parts"):
        parse(ModelConfig, model, source)  # says what is wrong with it
        raise KgflowError(f"{source}: a mean of runs is not trained: train its runs, then combine")
    if "decay" in training and training.get("schedule") == "cosine":
        raise KgflowError(f"{source}: 'training.decay' has no use where the schedule is cosine")
    name, options = model.get("name", ModelConfig().name), model.get("options", {})
    settings = dict(variant(name, options).settings)
    dim = {"dim": settings.pop("dim")} if "dim" in settings else {}
    merged = {"model": dim | model, "training": settings | training}
    return parse(Experiment, {**values, **merged}, source)


def run_experiment(
    experiment: Experiment,
    data: Dataset,
    out: str | Path | None = None,
    force: bool = False,
    device: str = "cpu",
    callbacks: Sequence[Callback] = (),
    stop: Callable[[], bool] = lambda: False,
) -> Run:
    """Run an experiment from its beginning."""
    _check_trainable(experiment, f"'{experiment.model.name}'")
    if not len(data.train):
        raise KgflowError(f"{data.name} has no training facts")
    directory = Path(out) if out is not None else _default_directory(experiment)
    torch.manual_seed(experiment.training.seed)
    config, model = run_config(experiment, data), make_model(experiment, data, device)
    with new_run(directory, config, data, force) as draft:
        trainer = _trainer(draft, experiment, data, model, stop)
        # The initial state is a checkpoint too, so that a run can be resumed from any moment.
        trainer.save()
        save_model(trainer.best_file, model)
    trainer.directory = directory
    return _finish(Run(directory, config, data, model), trainer, callbacks)


def best_validation(
    experiment: Experiment,
    data: Dataset,
    device: str = "cpu",
    callbacks: Sequence[Callback] = (),
) -> float:
    """The best validation MRR of an experiment, of which nothing else is kept."""
    _check_trainable(experiment, f"'{experiment.model.name}'")
    torch.manual_seed(experiment.training.seed)
    with TemporaryDirectory() as directory:
        trainer = _trainer(Path(directory), experiment, data, make_model(experiment, data, device))
        trainer.callbacks = callbacks
        return trainer.fit().best


def resume(
    directory: str | Path,
    device: str = "cpu",
    callbacks: Sequence[Callback] = (),
    stop: Callable[[], bool] = lambda: False,
) -> Run:
    """Go on with a run from its last checkpoint, to the numbers it would have had."""
    directory = Path(directory)
    config, data = read_run(directory)
    _check_trainable(config, str(directory))
    run = Run(directory, config, data, make_model(config, data, device))
    trainer = _trainer(directory, config, data, run.model, stop)
    trainer.resume()
    return _finish(run, trainer, callbacks)


def _finish(run: Run, trainer: Trainer, callbacks: Sequence[Callback]) -> Run:
    history = History(run.directory / "history.jsonl", trainer.progress.epoch)
    trainer.callbacks = (history, *callbacks)
    trainer.fit()
    run.load_best()
    return evaluate_and_calibrate(run)


def evaluate_and_calibrate(run: Run) -> Run:
    """Write the metrics of the validation and test splits and the calibration of a run."""
    for split in ("valid", "test"):
        if len(run.data.split(split)):
            write_metrics(run.directory, split, run.evaluate(split).to_dict())
    if len(run.data.valid):
        run.calibrate()
    return run


def _check_trainable(experiment: Experiment, what: str) -> None:
    if experiment.model.parts:
        raise KgflowError(f"{what} is a mean of runs and cannot be trained: train its runs")


def _trainer(
    directory: Path,
    experiment: Experiment,
    data: Dataset,
    model: Model,
    stop: Callable[[], bool] = lambda: False,
) -> Trainer:
    training = experiment.training
    loss = make_loss(training, model, data.queries("train"))
    choosing, _ = hold_out(data.valid, training.held_out, training.seed)
    known, questions = data.queries(), data.index(choosing)

    def validate() -> dict[str, float]:
        return rank(model, questions, known).metrics()["realistic"].to_dict()

    validator = validate if len(questions) else None
    schedule = make_schedule(training)
    return Trainer(model, loss, schedule, validator, directory, stop=stop)


def _default_directory(experiment: Experiment) -> Path:
    data = Path(experiment.data).name.split(".")[0]
    now = datetime.now().strftime("%Y%m%d-%H%M%S")
    return Path("runs") / f"{data}-{experiment.model.name}-{now}"


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in values.items() if v is not None}
