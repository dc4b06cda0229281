"""A trained model with its names and its numbers: the facade of the Python API."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from kgflow.config import Experiment, ModelConfig, Option, RunConfig, parse
from kgflow.data import Dataset, QueryIndex, Triples, describe, load
from kgflow.discovery import discover
from kgflow.engine import Dense, Pullback, Sparse
from kgflow.errors import KgflowError
from kgflow.evaluation import ConfidenceMetrics, Evaluation, evaluate_confidence, rank
from kgflow.models import Model, build, model_class
from kgflow.prediction import Predictor, Question
from kgflow.store import new_run, read_metrics, read_run, write_metrics
from kgflow.training import (
    Callback,
    Confidence,
    History,
    OneVsAll,
    Plain,
    Regress,
    Schedule,
    Soft,
    Trainer,
    Weights,
    load_model,
    read_history,
    save_model,
)

if TYPE_CHECKING:
    import polars as pl


PULLBACKS: dict[str, type[Pullback]] = {"dense": Dense, "sparse": Sparse}
CONFIDENCES: dict[str, type[Confidence]] = {
    "plain": Plain,
    "weights": Weights,
    "soft": Soft,
    "regress": Regress,
}


class Run:
    """A run directory, opened.

    Example:
        >>> import kgflow, tempfile
        >>> out = tempfile.mkdtemp() + "/run"
        >>> run = kgflow.train("world", dim=8, epochs=1, out=out)
        >>> run.predict(head="France", relation="has_capital", k=3).shape[0]
        3
        >>> kgflow.open(out).evaluate("test")["realistic"]["mrr"] == run.metrics["test"][
        ...     "realistic"]["mrr"]
        True
    """

    def __init__(self, directory: Path, config: RunConfig, data: Dataset, device: str) -> None:
        self.directory, self.config, self.data = directory, config, data
        self.model = _build(config, data, device)

    @classmethod
    def open(cls, directory: str | Path, device: str = "cpu") -> "Run":
        """A run with the model of its best epoch."""
        directory = Path(directory)
        run = cls(directory, *read_run(directory), device)
        load_model(directory / "model.safetensors", run.model)
        run.model.eval()
        return run

    @property
    def history(self) -> list[dict[str, float]]:
        """One record per epoch."""
        return read_history(self.directory / "history.jsonl")

    @property
    def best_epoch(self) -> int:
        """The epoch whose model is kept: the best validated one, or the last."""
        judged = [r for r in self.history if "mrr" in r] or self.history[-1:]
        best = max(judged, key=lambda r: r.get("mrr", 0.0), default={"epoch": 0})
        return int(best["epoch"])

    @property
    def metrics(self) -> dict[str, Any]:
        """The metrics noted so far, by split."""
        return read_metrics(self.directory)

    @cached_property
    def predictor(self) -> Predictor:
        """The model, speaking names."""
        return Predictor(self.model, self.data, self.config.training.margin)

    def evaluate(
        self,
        split: str = "test",
        by: str | None = None,
        known: Triples | None = None,
        tell: Callable[[float], None] = lambda share: None,
    ) -> Evaluation:
        """Filtered ranking metrics of a split.

        Args:
            split: train, valid or test.
            by: also for each "relation", "side" or "category".
            known: further facts to filter out.
            tell: told what share is done.
        """
        questions = self.data.queries(split)
        if not len(questions):
            raise KgflowError(f"{self.data.name} has no {split} facts to evaluate on")
        ranking = rank(self.model, questions, self._filter(known), tell=tell)
        seen = self.data.train.entity_mask(len(self.data.entities))
        untrained = int((~(seen[ranking.h] & seen[ranking.t])).sum())
        names, categories = self.data.relations.names, self._categories(by)
        return Evaluation(split, ranking, by, names, categories, untrained)

    def evaluate_confidence(
        self, split: str = "test", tell: Callable[[float], None] = lambda share: None
    ) -> ConfidenceMetrics:
        """How well the confidences of a split are predicted, and followed by the order of answers.

        Args:
            split: train, valid or test.
            tell: told what share is done.
        """
        margin = self.config.training.margin
        return evaluate_confidence(self.model, self.data, margin, split, tell)

    def predict(
        self,
        head: str | None = None,
        relation: str | None = None,
        tail: str | None = None,
        k: int = 10,
        new: bool = False,
        types: Sequence[str] = (),
    ) -> "pl.DataFrame":
        """The k best answers to (head, relation, ?), (?, relation, tail) or (head, ?, tail)."""
        return self.predictor.predict([Question(head, relation, tail)], k, new, types)

    def score(self, triples: Sequence[tuple[str, str, str]]) -> "pl.DataFrame":
        """Score and probability of triples of names."""
        import polars as pl

        if any(len(triple) != 3 for triple in triples):
            raise KgflowError("score wants triples of (head, relation, tail)")
        heads, relations, tails = zip(*triples, strict=True) if triples else ((), (), ())
        h, t = (np.array([self.data.entity_id(n) for n in side], int) for side in (heads, tails))
        r = self.data.relations.ids(relations)
        score = self.predictor.score(h, r, t).double()
        probability = torch.sigmoid(score + self.config.training.margin)
        columns = {"head": heads, "relation": relations, "tail": tails}
        return pl.DataFrame(columns | {"score": score.numpy(), "probability": probability.numpy()})

    def discover(self, k: int = 100, relation: str | None = None) -> "pl.DataFrame":
        """The k most likely facts of the whole graph that it does not hold."""
        return discover(self.predictor, k, relation)

    def _filter(self, known: Triples | None) -> QueryIndex:
        if known is None:
            return self.predictor.known
        facts = Triples.concatenate(
            [*(self.data.split(s) for s in ("train", "valid", "test")), known]
        )
        return QueryIndex.build(facts, len(self.data.entities), len(self.data.relations))

    def _categories(self, by: str | None) -> Mapping[str, str]:
        if by != "category":
            return {}
        return {r.name: r.category for r in describe(self.data).by_relation}


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
        lr: Adam's learning rate.
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
    }
    chosen = {"name": model, "dim": dim, "options": dict(options or {})}
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
    settings = dict(model_class(model.get("name", ModelConfig().name)).settings)
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
    if not len(data.train):
        raise KgflowError(f"{data.name} has no training facts")
    directory = Path(out) if out is not None else _default_directory(experiment)
    torch.manual_seed(experiment.training.seed)
    model = _build(experiment, data, device)
    with new_run(directory, experiment, data, force) as draft:
        # The very first state is a checkpoint too, so that a run can be resumed from any moment.
        _trainer(draft, experiment, data, model).save()
        save_model(draft / "model.safetensors", model)
    return _finish(directory, device, callbacks, stop)


def resume(
    directory: str | Path,
    device: str = "cpu",
    callbacks: Sequence[Callback] = (),
    stop: Callable[[], bool] = lambda: False,
) -> Run:
    """Go on with a run from its last checkpoint, to the numbers it would have had."""
    return _finish(Path(directory), device, callbacks, stop)


def _finish(
    directory: Path, device: str, callbacks: Sequence[Callback], stop: Callable[[], bool]
) -> Run:
    run = Run(directory, *read_run(directory), device)
    trainer = _trainer(directory, run.config, run.data, run.model, stop)
    trainer.resume()
    history = History(directory / "history.jsonl", trainer.progress.epoch)
    trainer.callbacks = (history, *callbacks)
    trainer.fit()
    run = Run.open(directory, device)
    for split in ("valid", "test"):
        if len(run.data.split(split)):
            write_metrics(directory, split, run.evaluate(split).to_dict())
    return run


def _trainer(
    directory: Path,
    experiment: Experiment,
    data: Dataset,
    model: Model,
    stop: Callable[[], bool] = lambda: False,
) -> Trainer:
    settings = experiment.training.model_dump()
    pullback = PULLBACKS[settings.pop("backward")]()
    confidence = CONFIDENCES[settings.pop("confidence")]()
    margin, dropout = settings.pop("margin"), settings.pop("dropout")
    queries = data.queries("train")
    loss = OneVsAll(model, queries, margin, dropout, pullback, confidence=confidence)
    known, questions = data.queries(), data.queries("valid")

    def validate() -> dict[str, float]:
        return rank(model, questions, known).metrics()["realistic"].to_dict()

    validator = validate if len(questions) else None
    return Trainer(model, loss, Schedule(**settings), validator, directory, stop=stop)


def _build(experiment: Experiment, data: Dataset, device: str) -> Model:
    chosen = experiment.model
    entities, relations = len(data.entities), 2 * len(data.relations)
    model = build(chosen.name, entities, relations, chosen.dim, chosen.options)
    try:
        return model.to(device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).split("\n")[0]
        raise KgflowError(f"device '{device}' cannot be used here: {reason}") from None


def _default_directory(experiment: Experiment) -> Path:
    data = Path(experiment.data).name.split(".")[0]
    now = datetime.now().strftime("%Y%m%d-%H%M%S")
    return Path("runs") / f"{data}-{experiment.model.name}-{now}"


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in values.items() if v is not None}
