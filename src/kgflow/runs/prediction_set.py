"""Conformal prediction sets of queries by name."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from kgflow.data import ValidationSplit
from kgflow.errors import KgflowError
from kgflow.evaluation import Progress, no_progress
from kgflow.runs.answers import TripleQuery, id_array
from kgflow.runs.predictor import Predictor
from kgflow.uncertainty import (
    Comparison,
    Conformal,
    FitData,
    check_coverage,
    compare_sizes,
    fit_conformal,
    relation_clusters,
    scores_of,
)

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class PredictionSet:
    """Unknown answers to a query, best first, and the coverage of such sets.

    Among queries like those of the validation triples, whose answer is missing from the graph, the
    share `coverage` of prediction sets contains the answer. A set may be empty where the best
    answer alone has a larger coverage.

    Args:
        query: Query by name.
        answers: Table with the columns of `Run.predict`.
        coverage: Nominal coverage.
        held_out: Number of held-out answers that the threshold was computed from.
        by_relation: Whether these are of the same relation and direction only.
        nonconformity: Name of the nonconformity score.
        fitted: Name in the query that was fitted after training, whose facts are not like those of
            validation, so that the coverage is not guaranteed; else None.
    """

    query: TripleQuery
    answers: "pl.DataFrame"
    coverage: float
    held_out: int
    by_relation: bool
    nonconformity: str
    fitted: str | None = None

    def __len__(self) -> int:
        return len(self.answers)

    def __str__(self) -> str:
        source = "of this relation and direction" if self.by_relation else "of all relations"
        held_out = f"(from {self.held_out:,} held-out answers {source})"
        if self.fitted is not None:
            return (
                f"{len(self):,} answers that are not known facts; a coverage of {self.coverage:.4g}"
                f" is not guaranteed, as {self.fitted!r} was added after training {held_out}"
            )
        return (
            f"{len(self):,} answers that are not known facts; such sets contain the missing answer"
            f" in {self.coverage:.4g} of queries {held_out}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the set as a dictionary."""
        return {
            "coverage": self.coverage,
            "size": len(self),
            "held_out": self.held_out,
            "by_relation": self.by_relation,
            "guaranteed": self.fitted is None,
            "nonconformity": self.nonconformity,
            "answers": self.answers.to_dicts(),
        }


@dataclass(eq=False)
class SetCalibration:
    """Nonconformity scores of a run, and the thresholds from its held-out validation triples.

    Args:
        predictor: Predictor with the model and its calibration.
        validation: Triples that scores are fitted and compared on, and held-out ones.
        seed: Random seed.
        source: Directory of the run, for messages.
        ensemble: Whether the run is an ensemble.
    """

    predictor: Predictor
    validation: ValidationSplit
    seed: int
    source: Path
    ensemble: bool = False
    _conformal: dict[str, Conformal] = field(default_factory=dict)
    _compared: dict[tuple[float, str | None], Comparison] = field(default_factory=dict)

    def conformal(
        self, coverage: float, by_relation: bool = False, nonconformity: str | None = None
    ) -> Conformal:
        """Compute the V of held-out answers, by the score with the smallest sets or by name."""
        check_coverage(coverage)
        self._check_held_out()
        compared = self.compare(coverage, nonconformity)
        name = nonconformity or compared.smallest
        if name not in self._conformal:
            model, data = self.predictor.model, self.predictor.data
            queries = data.index(self.validation.conformal)
            self._conformal[name] = fit_conformal(
                model, compared.scores[name], queries, data.known, seed=self.seed
            )
        found = self._conformal[name]
        if not by_relation:
            return found
        clusters = relation_clusters(compared, found, coverage)
        return replace(found, by_relation=True, clusters=clusters)

    def compare(
        self, coverage: float, name: str | None = None, progress: Progress = no_progress
    ) -> Comparison:
        """Compare nonconformity scores, or one, by the sizes of sets on validation triples."""
        if (coverage, None) in self._compared:
            name = None  # it has all scores
        if (coverage, name) not in self._compared:
            predictor, facts = self.predictor, self.validation.selection
            temperature = predictor.calibration.temperature
            data = FitData(predictor.model, predictor.data, facts, temperature, self.seed)
            names = () if name is None else (name,)
            self._compared[coverage, name] = compare_sizes(data, coverage, names, progress)
        return self._compared[coverage, name]

    def _check_held_out(self) -> None:
        if len(self.validation.conformal):
            return
        if self.ensemble:
            raise KgflowError(
                f"{self.source} is an ensemble of runs that held out different validation"
                " triples: for prediction sets, use runs with the same seed and conformal_fraction"
            )
        raise KgflowError(
            f"{self.source} held out no validation triples for prediction sets: train with"
            " training.conformal_fraction=0.3 on a graph with 20 validation triples or more"
        )


def prediction_set(
    predictor: Predictor, conformal: Conformal, query: TripleQuery, coverage: float
) -> PredictionSet:
    """Compute the prediction set of a query.

    Its random numbers depend on the query only, so the same query has the same set.
    """
    if query.relation is None:
        raise KgflowError(
            "prediction sets contain entities: ask with a relation, or leave out the coverage"
        )
    ids = id_array([query.ids(predictor.data)])
    h, r = predictor.tail_queries(ids)
    relation = int(r[0])
    score = predictor.scorer.filtered_scores(h, r).double().cpu()
    value = scores_of(conformal.nonconformity, h, r, score)[0].numpy()
    rng = np.random.default_rng([int(h[0]), relation])
    u, round_up = rng.random(2)
    order = np.lexsort((rng.random(len(value)), -value))
    limit = torch.tensor([conformal.threshold(relation, coverage, round_up)])
    ordered = torch.from_numpy(value[order])[None]
    inside = conformal.nonconformity.within(ordered, limit, torch.tensor([u]))
    chosen = order[inside[0].numpy()]
    answers = predictor.answer_table(ids, [(chosen, score[0].numpy()[chosen])])
    (group,) = conformal.group(r, coverage).tolist()
    held_out, name = len(conformal.groups(coverage)[group]), conformal.nonconformity.name
    own, fitted = group == relation, predictor.fitted(query)
    return PredictionSet(query, answers, coverage, held_out, own, name, fitted)
