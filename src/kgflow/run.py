"""A trained model with its names and its numbers: the facade of the Python API."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from kgflow.answer_set import AnswerSet, answer_set
from kgflow.calibrated import count, learn, read_calibration, write_calibration
from kgflow.config import MEAN, Experiment, ModelConfig, Option, RunConfig, parse
from kgflow.data import Dataset, Holdout, QueryIndex, Triples, describe, hold_out, load
from kgflow.discovery import discover
from kgflow.errors import KgflowError
from kgflow.evaluation import (
    ByMass,
    ByRank,
    Calibration,
    ConfidenceMetrics,
    Conformal,
    Coverage,
    Evaluation,
    Reliability,
    Strangeness,
    check_coverage,
    conform,
    cover,
    differences,
    evaluate_confidence,
    rank,
)
from kgflow.models import Mean, Model, build, model_class
from kgflow.prediction import Predictor, Question
from kgflow.recipe import make_loss, make_schedule
from kgflow.store import new_run, read_metrics, read_run, write_metrics
from kgflow.training import (
    Callback,
    History,
    Trainer,
    best_epoch,
    load_model,
    read_history,
    save_model,
)

if TYPE_CHECKING:
    import polars as pl


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
        self._places: dict[bool, Conformal] = {}

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
        return best_epoch(self.history)

    @property
    def metrics(self) -> dict[str, Any]:
        """The metrics noted so far, by split."""
        return read_metrics(self.directory)

    @cached_property
    def predictor(self) -> Predictor:
        """The model, speaking names."""
        margin = self.config.training.margin
        return Predictor(self.model, self.data, margin, read_calibration(self.directory, margin))

    @cached_property
    def known(self) -> QueryIndex:
        """Every fact of every split."""
        return self.data.queries()

    @cached_property
    def validation(self) -> Holdout:
        """The validation facts: those that choose the epoch and the probabilities, and the rest."""
        training = self.config.training
        return hold_out(self.data.valid, training.held_out, training.seed)

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
        score = self.predictor.score(h, r, t).double().numpy()
        columns = {"head": heads, "relation": relations, "tail": tails, "score": score}
        return pl.DataFrame(columns | {"probability": self.predictor.probability(score, r)})

    def discover(self, k: int = 100, relation: str | None = None) -> "pl.DataFrame":
        """The k most likely facts of the whole graph that it does not hold."""
        return discover(self.predictor, k, relation)

    def calibrate(self, tell: Callable[[float], None] = lambda share: None) -> Calibration:
        """Learn what scores mean as probabilities, and keep that with the run.

        Learned from the validation facts that are not held out; see `Calibration`.
        """
        facts, training = self.validation.choosing, self.config.training
        if not len(facts):
            raise KgflowError(f"{self.data.name} has no valid facts to learn probabilities from")
        found = learn(
            self.model,
            self.data,
            self.known,
            facts,
            training.margin,
            training.seed,
            self.directory,
            tell,
        )
        write_calibration(self.directory, found)
        self.__dict__.pop("predictor", None)  # the next one speaks by the new calibration
        self._places.clear()
        return found

    def reliability(
        self, split: str = "test", tell: Callable[[float], None] = lambda share: None
    ) -> dict[str, Any]:
        """How well probabilities are frequencies, before and after calibration, on a split.

        Returns:
            "before" and "after" as `Reliability` has them, and under "difference" after less
            before with its bootstrap error.
        """
        facts, training = self.data.split(split), self.config.training
        if not len(facts):
            raise KgflowError(f"{self.data.name} has no {split} facts to judge probabilities by")
        census = count(self.model, self.data, self.known, facts, training.seed, tell)
        before = Reliability.of(Calibration(margin=training.margin), census)
        after = Reliability.of(self.predictor.calibration, census)
        return {
            "split": split,
            "questions": len(census),
            "before": before.to_dict(),
            "after": after.to_dict(),
            "difference": differences(before, after),
        }

    def answer_set(
        self,
        head: str | None = None,
        relation: str | None = None,
        tail: str | None = None,
        coverage: float = 0.9,
        by_relation: bool = False,
        adaptive: bool = False,
    ) -> AnswerSet:
        """The answers, known ones left out, that hold the missing one with a promised probability.

        Args:
            head: of (head, relation, ?).
            relation: what is asked about.
            tail: of (?, relation, tail).
            coverage: the probability that is promised.
            by_relation: promise it for each relation and side that has enough held-out facts.
            adaptive: sets whose size depends on how sure the model is, not one size for all.
        """
        question = Question(head, relation, tail)
        conformal = self.conformal(coverage, by_relation, adaptive)
        strangeness = self._strangeness(adaptive)
        return answer_set(self.predictor, strangeness, conformal, question, coverage)

    def coverage(
        self,
        split: str = "test",
        coverage: float = 0.9,
        by_relation: bool = False,
        adaptive: bool = False,
        tell: Callable[[float], None] = lambda share: None,
    ) -> Coverage:
        """How often answer sets hold the answers of a split, and how large they are.

        Only of test facts, or others that chose nothing: of train and valid nothing is promised.
        """
        if split != "test":
            raise KgflowError(
                f"coverage is promised for new facts, and the {split} facts are none: take test"
            )
        facts, conformal = self.data.split(split), self.conformal(coverage, by_relation, adaptive)
        if not len(facts):
            raise KgflowError(f"{self.data.name} has no {split} facts to measure coverage on")
        strangeness, questions = self._strangeness(adaptive), self.data.index(facts)
        return cover(self.model, strangeness, conformal, questions, self.known, coverage, tell=tell)

    def conformal(
        self, coverage: float, by_relation: bool = False, adaptive: bool = False
    ) -> Conformal:
        """Where the held-out validation answers stand, to read thresholds from."""
        check_coverage(coverage)
        facts = self.validation.held_out
        if not len(facts) and self.config.model.parts:
            raise KgflowError(
                f"{self.directory} is of runs that did not hold the same valid facts out of their "
                "choices, so that no coverage can be promised: combine runs of one seed and share"
            )
        if not len(facts):
            raise KgflowError(
                f"{self.directory} held no valid facts out of its choices, so that no coverage can "
                "be promised: train with --held-out 0.3 on a graph of 20 valid facts or more"
            )
        if adaptive not in self._places:
            strangeness, seed = self._strangeness(adaptive), self.config.training.seed
            questions = self.data.index(facts)
            found = conform(self.model, strangeness, questions, self.known, seed=seed)
            self._places[adaptive] = found
        return replace(self._places[adaptive], by_relation=by_relation)

    def _strangeness(self, adaptive: bool) -> Strangeness:
        return ByMass(self.predictor.calibration.temperature) if adaptive else ByRank()

    def _filter(self, known: Triples | None) -> QueryIndex:
        if known is None:
            return self.known
        facts = Triples.concatenate(
            [*(self.data.split(s) for s in ("train", "valid", "test")), known]
        )
        return self.data.index(facts)

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
    reciprocals: bool | None = None,
    start: float | None = None,
    both_ends: bool | None = None,
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
        reciprocals: whether a relation read backwards has numbers of its own.
        start: what the first numbers of all rows are multiplied by.
        both_ends: whether answers are scored by the mean of what head and tail say of a fact.
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
        "reciprocals": reciprocals,
        "start": start,
        "both_ends": both_ends,
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
    _check_trainable(experiment, f"'{experiment.model.name}'")
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
        trainer = _trainer(Path(directory), experiment, data, _build(experiment, data, device))
        trainer.callbacks = callbacks
        return trainer.fit().best


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
    _check_trainable(run.config, str(directory))
    trainer = _trainer(directory, run.config, run.data, run.model, stop)
    trainer.resume()
    history = History(directory / "history.jsonl", trainer.progress.epoch)
    trainer.callbacks = (history, *callbacks)
    trainer.fit()
    return judge(directory, device)


def judge(directory: Path, device: str = "cpu") -> Run:
    """A run whose model is made, evaluated and calibrated."""
    run = Run.open(directory, device)
    for split in ("valid", "test"):
        if len(run.data.split(split)):
            write_metrics(directory, split, run.evaluate(split).to_dict())
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


def _build(experiment: Experiment, data: Dataset, device: str) -> Model:
    model = _made(experiment.model, len(data.entities), 2 * len(data.relations))
    try:
        return model.to(device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).split("\n")[0]
        raise KgflowError(f"device '{device}' cannot be used here: {reason}") from None


def _made(chosen: ModelConfig, entities: int, relations: int) -> Model:
    if chosen.parts:
        return Mean([_made(part.model, entities, relations) for part in chosen.parts])
    return build(
        chosen.name,
        entities,
        relations,
        chosen.dim,
        chosen.options,
        bias=chosen.bias,
        reciprocals=chosen.reciprocals,
        start=chosen.start,
        both_ends=chosen.both_ends,
    )


def _default_directory(experiment: Experiment) -> Path:
    data = Path(experiment.data).name.split(".")[0]
    now = datetime.now().strftime("%Y%m%d-%H%M%S")
    return Path("runs") / f"{data}-{experiment.model.name}-{now}"


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in values.items() if v is not None}
