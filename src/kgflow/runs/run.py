"""A trained model with its names and its numbers: the facade of the Python API."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kgflow.config import RunConfig
from kgflow.data import Dataset, Holdout, QueryIndex, Triples, describe, hold_out
from kgflow.errors import KgflowError
from kgflow.evaluation import Evaluation, rank
from kgflow.models import Model
from kgflow.runs.build import make_model
from kgflow.runs.calibration import count, learn, read_calibration, write_calibration
from kgflow.runs.discovery import discover
from kgflow.runs.prediction_set import PredictionSet, prediction_set
from kgflow.runs.predictor import Predictor, Question
from kgflow.runs.store import read_metrics, read_run
from kgflow.training import best_epoch, load_model, read_history
from kgflow.uncertainty import (
    Calibration,
    ConfidenceMetrics,
    Conformal,
    Coverage,
    MassScore,
    NonconformityScore,
    RankScore,
    Reliability,
    check_coverage,
    conform,
    cover,
    differences,
    evaluate_confidence,
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

    def __init__(self, directory: Path, config: RunConfig, data: Dataset, model: Model) -> None:
        self.directory, self.config, self.data, self.model = directory, config, data, model
        self._places: dict[bool, Conformal] = {}

    @classmethod
    def open(cls, directory: str | Path, device: str = "cpu") -> "Run":
        """A run with the model of its best epoch."""
        directory = Path(directory)
        config, data = read_run(directory)
        run = cls(directory, config, data, make_model(config, data, device))
        run.load_best()
        return run

    def load_best(self) -> None:
        """Read the weights of the best epoch, and set the model to evaluation mode."""
        load_model(self.directory / "model.safetensors", self.model)
        self.model.eval()

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
        progress: Callable[[float], None] = lambda share: None,
    ) -> Evaluation:
        """Filtered ranking metrics of a split.

        Args:
            split: train, valid or test.
            by: also for each "relation", "side" or "category".
            known: further facts to filter out.
            progress: called with the share of the work that is done.
        """
        questions = self.data.queries(split)
        if not len(questions):
            raise KgflowError(f"{self.data.name} has no {split} facts to evaluate on")
        ranking = rank(self.model, questions, self._filter(known), progress=progress)
        seen = self.data.train.entity_mask(len(self.data.entities))
        untrained = int((~(seen[ranking.h] & seen[ranking.t])).sum())
        names, categories = self.data.relations.names, self._categories(by)
        return Evaluation(split, ranking, by, names, categories, untrained)

    def evaluate_confidence(
        self, split: str = "test", progress: Callable[[float], None] = lambda share: None
    ) -> ConfidenceMetrics:
        """How well the confidences of a split are predicted, and followed by the order of answers.

        Args:
            split: train, valid or test.
            progress: called with the share of the work that is done.
        """
        margin = self.config.training.margin
        return evaluate_confidence(self.model, self.data, margin, split, progress)

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

    def calibrate(self, progress: Callable[[float], None] = lambda share: None) -> Calibration:
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
            progress,
        )
        write_calibration(self.directory, found)
        self.__dict__.pop("predictor", None)  # the next one speaks by the new calibration
        self._places.clear()
        return found

    def reliability(
        self, split: str = "test", progress: Callable[[float], None] = lambda share: None
    ) -> dict[str, Any]:
        """How well probabilities are frequencies, before and after calibration, on a split.

        Returns:
            "before" and "after" as `Reliability` has them, and under "difference" after less
            before with its bootstrap error.
        """
        facts, training = self.data.split(split), self.config.training
        if not len(facts):
            raise KgflowError(f"{self.data.name} has no {split} facts to judge probabilities by")
        census = count(self.model, self.data, self.known, facts, training.seed, progress)
        before = Reliability.of(Calibration(margin=training.margin), census)
        after = Reliability.of(self.predictor.calibration, census)
        return {
            "split": split,
            "questions": len(census),
            "before": before.to_dict(),
            "after": after.to_dict(),
            "difference": differences(before, after),
        }

    def prediction_set(
        self,
        head: str | None = None,
        relation: str | None = None,
        tail: str | None = None,
        coverage: float = 0.9,
        by_relation: bool = False,
        adaptive: bool = False,
    ) -> PredictionSet:
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
        nonconformity = self._nonconformity(adaptive)
        return prediction_set(self.predictor, nonconformity, conformal, question, coverage)

    def coverage(
        self,
        split: str = "test",
        coverage: float = 0.9,
        by_relation: bool = False,
        adaptive: bool = False,
        progress: Callable[[float], None] = lambda share: None,
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
        nonconformity, questions = self._nonconformity(adaptive), self.data.index(facts)
        return cover(
            self.model, nonconformity, conformal, questions, self.known, coverage, progress=progress
        )

    def conformal(
        self, coverage: float, by_relation: bool = False, adaptive: bool = False
    ) -> Conformal:
        """Where the held-out validation answers stand, to read thresholds from."""
        check_coverage(coverage)
        facts = self.validation.held_out
        if not len(facts) and self.config.model.parts:
            raise KgflowError(
                f"{self.directory} is an ensemble of runs with different calibration sets, so its "
                "prediction sets have no coverage guarantee: use runs of one seed and held_out"
            )
        if not len(facts):
            raise KgflowError(
                f"{self.directory} held no valid facts out of its choices, so that no coverage can "
                "be promised: train with --held-out 0.3 on a graph of 20 valid facts or more"
            )
        if adaptive not in self._places:
            nonconformity, seed = self._nonconformity(adaptive), self.config.training.seed
            questions = self.data.index(facts)
            found = conform(self.model, nonconformity, questions, self.known, seed=seed)
            self._places[adaptive] = found
        return replace(self._places[adaptive], by_relation=by_relation)

    def _nonconformity(self, adaptive: bool) -> NonconformityScore:
        return MassScore(self.predictor.calibration.temperature) if adaptive else RankScore()

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
