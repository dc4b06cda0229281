"""A run directory, opened: evaluation, prediction and calibration of a trained model."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kgflow.config import RunConfig
from kgflow.data import SPLITS, Dataset, Triples, ValidationSplit, describe, split_validation
from kgflow.errors import KgflowError
from kgflow.evaluation import Evaluation, Progress, no_progress, rank
from kgflow.models import Model
from kgflow.queries.engine import AskOptions, QueryEngine
from kgflow.runs.answers import TripleQuery
from kgflow.runs.build import make_model
from kgflow.runs.confidence import Confidences
from kgflow.runs.discovery import discover
from kgflow.runs.prediction_set import PredictionSet, SetCalibration, prediction_set
from kgflow.runs.predictor import Predictor
from kgflow.runs.store import (
    model_digest,
    read_calibration,
    read_metrics,
    read_run,
    read_trials,
    write_calibration,
)
from kgflow.runs.update_log import UPDATES, UpdateLog, read_updates
from kgflow.training import LossSettings, best_epoch, load_model, read_history
from kgflow.uncertainty import (
    Calibration,
    CandidateScores,
    Comparison,
    ConfidenceMetrics,
    Conformal,
    Coverage,
    IntervalCoverage,
    Reliability,
    calibrate,
    compare_reliability,
    evaluate_confidence,
    fit_truth,
    measure_coverage,
    score_candidates,
)

if TYPE_CHECKING:
    import polars as pl

MAX_TRIPLES = 2000
"""Largest number of triples to calibrate on: more take minutes and change little."""


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

    @classmethod
    def open(cls, directory: str | Path, device: str = "cpu") -> "Run":
        """Open a run with the model of its best epoch."""
        directory = Path(directory)
        config, data = read_run(directory)
        run = cls(directory, config, data, make_model(config, data, device))
        run.load_best()
        return run

    def load_best(self) -> None:
        """Load the weights of the best epoch, and set the model to evaluation mode."""
        load_model(self.directory / "model.safetensors", self.model)
        self.model.eval()
        self._forget()

    @property
    def history(self) -> list[dict[str, float]]:
        """One record per epoch."""
        return read_history(self.directory / "history.jsonl")

    @property
    def best_epoch(self) -> int:
        """Epoch of the model: the one with the best validation metric, or the last."""
        return best_epoch(self.history)

    @property
    def metrics(self) -> dict[str, Any]:
        """Stored metrics by split."""
        return read_metrics(self.directory)

    @property
    def trials(self) -> list[dict[str, Any]]:
        """Recipes of the race that this run won, or of which it is an ensemble; empty otherwise."""
        return read_trials(self.directory)

    @property
    def logit_offset(self) -> float:
        """Number that the loss adds to a score to make it a logit."""
        loss = self.config.training.loss
        assert isinstance(loss, LossSettings)
        return loss.logit_offset

    @cached_property
    def predictor(self) -> Predictor:
        """Predictor with the calibration of the run."""
        offset = self.logit_offset
        calibration = read_calibration(self.directory, offset)
        return Predictor(self.model, self.data, offset, calibration, self.updates)

    @cached_property
    def updates(self) -> UpdateLog:
        """Facts that were added after training, and the embeddings that were fitted to them."""
        found = read_updates(self.directory)
        sizes = len(self.data.entities), len(self.data.relations)
        found.check(*sizes, self.directory / UPDATES)
        return found

    @cached_property
    def validation(self) -> ValidationSplit:
        """Validation triples for selection and calibration, and held-out ones."""
        fraction = self.config.training.conformal_fraction
        return split_validation(self.data.valid, fraction, self.config.seed)

    def evaluate(
        self,
        split: str = "test",
        by: str | None = None,
        known: Triples | None = None,
        progress: Progress = no_progress,
    ) -> Evaluation:
        """Compute filtered ranking metrics of a split.

        Args:
            split: "train", "valid" or "test".
            by: Group for which metrics are computed too: "relation", "side" or "category".
            known: Further triples to filter out.
            progress: Progress callback.
        """
        queries = self.data.queries(split)
        if not len(queries):
            raise KgflowError(f"{self.data.name} has no {split} facts to evaluate on")
        filtered = self.data.known
        if known is not None:
            splits = [self.data.split(name) for name in SPLITS]
            filtered = self.data.index(Triples.concatenate([*splits, known]))
        ranking = rank(self.model, queries, filtered, progress=progress)
        trained = self.data.train.entity_mask(len(self.data.entities))
        untrained = int((~(trained[ranking.h] & trained[ranking.t])).sum())
        relations = describe(self.data).by_relation if by == "category" else []
        categories = {relation.name: relation.category for relation in relations}
        names = self.data.relations.names
        return Evaluation(split, ranking, by, names, categories, untrained)

    def evaluate_confidence(
        self, split: str = "test", progress: Progress = no_progress
    ) -> ConfidenceMetrics:
        """Compute errors of predicted confidences and nDCG of a split."""
        fitted = split == "test" and self._confidences.available
        regression = self._confidences.regression if fitted else None
        offset = self.logit_offset
        return evaluate_confidence(self.model, self.data, offset, split, regression, progress)

    def confidence_interval(
        self, triples: Sequence[tuple[str, str, str]], coverage: float = 0.9
    ) -> "pl.DataFrame":
        """Predict the confidences of triples of names or labels, and intervals with a coverage.

        Returns:
            A table with the columns head, relation, tail, confidence, low and high.
        """
        return self._confidences.intervals(triples, coverage)

    def interval_coverage(self, coverage: float = 0.9) -> IntervalCoverage:
        """Measure how often intervals contain the confidences of the test triples."""
        return self._confidences.coverage(coverage)

    @cached_property
    def _confidences(self) -> Confidences:
        return Confidences(self.predictor, self.validation, self.config.seed, self.directory)

    def predict(
        self,
        head: str | None = None,
        relation: str | None = None,
        tail: str | None = None,
        k: int = 10,
        new: bool = False,
        types: Sequence[str] = (),
        entropy: bool = False,
    ) -> "pl.DataFrame":
        """Find the k best answers to (head, relation, ?), (?, relation, tail) or (head, ?, tail).

        Args:
            head: Name or label of the head.
            relation: Name of the relation.
            tail: Name or label of the tail.
            k: Number of answers.
            new: Whether known triples are left out.
            types: Entity types of the answers.
            entropy: Whether to add a column entropy_change, in nats, of the answers.
        """
        return self.predictor.predict([TripleQuery(head, relation, tail)], k, new, types, entropy)

    def score(self, triples: Sequence[tuple[str, str, str]]) -> "pl.DataFrame":
        """Compute score and probability of triples of names or labels."""
        return self.predictor.score_names(triples)

    @cached_property
    def queries(self) -> QueryEngine:
        """Engine that answers queries of several hops."""
        predictor, seed = self.predictor, self.config.seed
        return QueryEngine(
            predictor.scorer, self.data, predictor.calibration, self.validation, seed
        )

    def ask(
        self,
        query: str,
        k: int = 10,
        new: bool = False,
        model_only: bool = False,
        existential: str = "max",
        method: str = "beam",
    ) -> "pl.DataFrame":
        """Answer a query of several hops, such as ``France borders ?x . ?x has_currency ?c``.

        Args:
            query: Patterns as in SPARQL; see `parse_query`.
            k: Number of answers.
            new: Whether answers that follow from known facts alone are left out.
            model_only: Whether known facts are judged by the model too.
            existential: Combination of intermediate entities, "max" or "noisy-or".
            method: "beam", or "compose" for a chain of relations as one function.
        """
        options = AskOptions(k, new, model_only, existential, method)
        return self.queries.ask(query, options).frame

    def discover(
        self, k: int = 100, relation: str | None = None, progress: Progress = no_progress
    ) -> "pl.DataFrame":
        """Find the k most probable triples that are not in the graph, of all relations or one."""
        return discover(self.predictor, k, relation, progress)

    def calibrate(self, progress: Progress = no_progress) -> Calibration:
        """Fit the calibration of scores to probabilities, and store it in the run.

        It is fitted to the validation triples that are not held out; see `Calibration` and
        `TruthModel`.
        """
        facts, data, seed = self.validation.selection, self.data, self.config.seed
        if not len(facts):
            raise KgflowError(f"{data.name} has no valid facts to calibrate probabilities on")
        candidates = self._candidates(facts, progress)
        digest = model_digest(self.directory)
        found = calibrate(candidates, self.logit_offset, seed, digest)
        share, known = len(facts) / len(data.valid), data.queries("train", "test")
        removed, left_out = (data.index(part) for part in self.validation)
        found = fit_truth(found, self.model, known, removed, share, seed, left_out)
        write_calibration(self.directory, found)
        self._forget()
        return found

    def update(
        self,
        triples: "pl.DataFrame | str | Path | Sequence[Sequence[object]]",
        out: str | Path | None = None,
        *,
        force: bool = False,
        labels: Mapping[str, str] | str | Path | None = None,
        types: Mapping[str, Sequence[str]] | str | Path | None = None,
        finetune: bool = False,
        evaluated: bool = True,
    ) -> "Run":
        """Add facts, and return the updated run; this object stays as it is.

        New entities and relations are fitted to their facts; see `kgflow.runs.update.update`.

        Args:
            triples: Triples of names, a table of them, or a file.
            out: Directory of the updated run; without it, this run is replaced.
            force: Whether an existing run in `out` is replaced.
            labels: Labels of entities, or a file of them.
            types: Types of entities, or a file of them.
            finetune: Whether the embeddings of trained entities in the facts move as well.
            evaluated: Whether the ranking metrics are computed again.
        """
        from kgflow.runs.update import update

        given = {"force": force, "finetune": finetune, "evaluated": evaluated}
        return update(self, triples, out, labels=labels, types=types, **given)

    def reliability(self, split: str = "test", progress: Progress = no_progress) -> dict[str, Any]:
        """Measure the reliability of probabilities on a split, before and after calibration.

        Returns:
            The number of "answers", "before" and "after" as `Reliability.to_dict`, and under
            "difference" after minus before with its bootstrap standard error.
        """
        facts, margin = self.data.split(split), self.logit_offset
        if not len(facts):
            raise KgflowError(f"{self.data.name} has no {split} facts to measure reliability on")
        candidates = self._candidates(facts, progress)
        before = Reliability.of(Calibration(margin=margin), candidates)
        after = Reliability.of(self.predictor.calibration, candidates)
        return {
            "split": split,
            "answers": len(candidates),
            "before": before.to_dict(),
            "after": after.to_dict(),
            "difference": compare_reliability(before, after),
        }

    def prediction_set(
        self,
        head: str | None = None,
        relation: str | None = None,
        tail: str | None = None,
        coverage: float = 0.9,
        by_relation: bool = False,
        nonconformity: str | None = None,
    ) -> PredictionSet:
        """Compute the set of unknown answers that contains the missing one with a probability.

        Args:
            head: Name or label of the head, for (head, relation, ?).
            relation: Name of the relation.
            tail: Name or label of the tail, for (?, relation, tail).
            coverage: Probability that the set contains the missing answer.
            by_relation: Whether the coverage holds for each relation and direction that has enough
                held-out triples, and for clusters of the others.
            nonconformity: Name of the nonconformity score, such as "rank" for sets of one size;
                without, the one with the smallest sets on validation triples.
        """
        query = TripleQuery(head, relation, tail)
        conformal = self.conformal(coverage, by_relation, nonconformity)
        return prediction_set(self.predictor, conformal, query, coverage)

    def coverage(
        self,
        split: str = "test",
        coverage: float = 0.9,
        by_relation: bool = False,
        nonconformity: str | None = None,
        progress: Progress = no_progress,
    ) -> Coverage:
        """Measure how often prediction sets contain the answers of a split, and their sizes.

        Only the test split is new to the model; arguments as in `prediction_set`.
        """
        if split != "test":
            raise KgflowError(
                f"coverage is promised for new facts, and the {split} facts are none: take test"
            )
        facts = self.data.split(split)
        conformal = self.conformal(coverage, by_relation, nonconformity)
        if not len(facts):
            raise KgflowError(f"{self.data.name} has no {split} facts to measure coverage on")
        queries, known = self.data.index(facts), self.data.known
        return measure_coverage(self.model, conformal, queries, known, coverage, progress=progress)

    def conformal(
        self, coverage: float, by_relation: bool = False, nonconformity: str | None = None
    ) -> Conformal:
        """Compute the nonconformity scores of held-out validation answers.

        The score is fitted, and without a name chosen, by the other validation triples, which
        leaves the coverage as promised; arguments as in `prediction_set`.
        """
        return self._sets.conformal(coverage, by_relation, nonconformity)

    def compare_nonconformity(
        self, coverage: float, name: str | None = None, progress: Progress = no_progress
    ) -> Comparison:
        """Compare nonconformity scores, or one, by the sizes of sets on validation triples."""
        return self._sets.compare(coverage, name, progress)

    @cached_property
    def _sets(self) -> SetCalibration:
        ensemble, seed = bool(self.config.model.members), self.config.seed
        return SetCalibration(self.predictor, self.validation, seed, self.directory, ensemble)

    def _candidates(self, facts: Triples, progress: Progress) -> CandidateScores:
        seed = self.config.seed
        if len(facts) > MAX_TRIPLES:
            order = np.random.default_rng(seed).permutation(len(facts))
            facts = facts.take(order[:MAX_TRIPLES])
        queries = self.data.index(facts)
        return score_candidates(self.model, queries, self.data.known, seed, progress)

    def _forget(self) -> None:
        """Drop what was computed from earlier weights or another calibration."""
        for name in ("predictor", "queries", "_sets", "_confidences"):
            self.__dict__.pop(name, None)


def open_run(directory: str | Path, device: str = "cpu") -> Run:
    """Open a saved run with the model of its best epoch; `kgflow.open` is this function."""
    return Run.open(directory, device)
