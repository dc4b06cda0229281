"""A run directory, opened: evaluation, prediction and calibration of a trained model."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kgflow.config import RunConfig
from kgflow.data import SPLITS, Dataset, Triples, ValidationSplit, describe, split_validation
from kgflow.errors import KgflowError
from kgflow.evaluation import Evaluation, Progress, no_progress, rank
from kgflow.models import Model
from kgflow.runs.answers import TripleQuery
from kgflow.runs.build import make_model
from kgflow.runs.discovery import discover
from kgflow.runs.prediction_set import PredictionSet, prediction_set
from kgflow.runs.predictor import Predictor
from kgflow.runs.store import (
    model_digest,
    read_calibration,
    read_metrics,
    read_run,
    write_calibration,
)
from kgflow.runs.update_log import UPDATES, UpdateLog, read_updates
from kgflow.training import LossSettings, best_epoch, load_model, read_history
from kgflow.uncertainty import (
    AdaptiveScore,
    Calibration,
    CandidateScores,
    ConfidenceMetrics,
    Conformal,
    Coverage,
    RankScore,
    Reliability,
    calibrate,
    check_coverage,
    compare_reliability,
    evaluate_confidence,
    fit_conformal,
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
        self._conformal: dict[bool, Conformal] = {}

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
        return evaluate_confidence(self.model, self.data, self.logit_offset, split, progress)

    def predict(
        self,
        head: str | None = None,
        relation: str | None = None,
        tail: str | None = None,
        k: int = 10,
        new: bool = False,
        types: Sequence[str] = (),
    ) -> "pl.DataFrame":
        """Find the k best answers to (head, relation, ?), (?, relation, tail) or (head, ?, tail).

        Args:
            head: Name or label of the head.
            relation: Name of the relation.
            tail: Name or label of the tail.
            k: Number of answers.
            new: Whether known triples are left out.
            types: Entity types of the answers.
        """
        return self.predictor.predict([TripleQuery(head, relation, tail)], k, new, types)

    def score(self, triples: Sequence[tuple[str, str, str]]) -> "pl.DataFrame":
        """Compute score and probability of triples of names or labels."""
        return self.predictor.score_names(triples)

    def discover(
        self, k: int = 100, relation: str | None = None, progress: Progress = no_progress
    ) -> "pl.DataFrame":
        """Find the k most probable triples that are not in the graph, of all relations or one."""
        return discover(self.predictor, k, relation, progress)

    def calibrate(self, progress: Progress = no_progress) -> Calibration:
        """Fit the calibration of scores to probabilities, and store it in the run.

        It is fitted to the validation triples that are not held out; see `Calibration`.
        """
        facts = self.validation.selection
        if not len(facts):
            raise KgflowError(f"{self.data.name} has no valid facts to calibrate probabilities on")
        candidates = self._candidates(facts, progress)
        digest = model_digest(self.directory)
        found = calibrate(candidates, self.logit_offset, self.config.seed, digest)
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
        adaptive: bool = False,
    ) -> PredictionSet:
        """Compute the set of unknown answers that contains the missing one with a probability.

        Args:
            head: Name or label of the head, for (head, relation, ?).
            relation: Name of the relation.
            tail: Name or label of the tail, for (?, relation, tail).
            coverage: Probability that the set contains the missing answer.
            by_relation: Whether the coverage holds for each relation and direction that has enough
                held-out triples.
            adaptive: Whether sets are smaller where the model is certain, and not all of one size.
        """
        query = TripleQuery(head, relation, tail)
        conformal = self.conformal(coverage, by_relation, adaptive)
        return prediction_set(self.predictor, conformal, query, coverage)

    def coverage(
        self,
        split: str = "test",
        coverage: float = 0.9,
        by_relation: bool = False,
        adaptive: bool = False,
        progress: Progress = no_progress,
    ) -> Coverage:
        """Measure how often prediction sets contain the answers of a split, and their sizes.

        Only the test split is new to the model; arguments as in `prediction_set`.
        """
        if split != "test":
            raise KgflowError(
                f"coverage is promised for new facts, and the {split} facts are none: take test"
            )
        facts, conformal = self.data.split(split), self.conformal(coverage, by_relation, adaptive)
        if not len(facts):
            raise KgflowError(f"{self.data.name} has no {split} facts to measure coverage on")
        queries, known = self.data.index(facts), self.data.known
        return measure_coverage(self.model, conformal, queries, known, coverage, progress=progress)

    def conformal(
        self, coverage: float, by_relation: bool = False, adaptive: bool = False
    ) -> Conformal:
        """Compute the nonconformity scores of held-out validation answers."""
        check_coverage(coverage)
        facts = self.validation.conformal
        if not len(facts) and self.config.model.members:
            raise KgflowError(
                f"{self.directory} is an ensemble of runs that held out different validation"
                " triples: for prediction sets, use runs with the same seed and conformal_fraction"
            )
        if not len(facts):
            raise KgflowError(
                f"{self.directory} held out no validation triples for prediction sets: train with"
                " training.conformal_fraction=0.3 on a graph with 20 validation triples or more"
            )
        if adaptive not in self._conformal:
            queries, seed = self.data.index(facts), self.config.seed
            score = (
                AdaptiveScore(self.predictor.calibration.temperature) if adaptive else RankScore()
            )
            found = fit_conformal(self.model, score, queries, self.data.known, seed=seed)
            self._conformal[adaptive] = found
        return replace(self._conformal[adaptive], by_relation=by_relation)

    def _candidates(self, facts: Triples, progress: Progress) -> CandidateScores:
        seed = self.config.seed
        if len(facts) > MAX_TRIPLES:
            order = np.random.default_rng(seed).permutation(len(facts))
            facts = facts.take(order[:MAX_TRIPLES])
        queries = self.data.index(facts)
        return score_candidates(self.model, queries, self.data.known, seed, progress)

    def _forget(self) -> None:
        """Drop what was computed from earlier weights or another calibration."""
        self.__dict__.pop("predictor", None)
        self._conformal.clear()


def open_run(directory: str | Path, device: str = "cpu") -> Run:
    """Open a saved run with the model of its best epoch; `kgflow.open` is this function."""
    return Run.open(directory, device)
