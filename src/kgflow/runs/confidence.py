"""Confidences of triples by name, with intervals."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from kgflow.data import ValidationSplit
from kgflow.errors import KgflowError
from kgflow.evaluation.metrics import Floats
from kgflow.runs.answers import Ids, frame, id_array, triple_ids, triple_names
from kgflow.runs.predictor import Predictor
from kgflow.uncertainty import ConfidenceRegression, ConfidenceStatistics, IntervalCoverage
from kgflow.uncertainty.confidence_intervals import MIN_TRIPLES

if TYPE_CHECKING:
    import polars as pl

COLUMNS: dict[str, type] = {
    **dict.fromkeys(("head", "relation", "tail"), str),
    **dict.fromkeys(("confidence", "low", "high"), float),
}
"""Columns and types of the table of intervals."""


@dataclass(eq=False)
class Confidences:
    """Regression of confidences on the validation triples of a run.

    Args:
        predictor: Predictor that scores triples.
        validation: Triples that the regression is fitted to, and held-out ones.
        seed: Random seed.
        source: Directory of the run, for messages.
    """

    predictor: Predictor
    validation: ValidationSplit
    seed: int
    source: Path

    @property
    def available(self) -> bool:
        """Whether there are enough triples with confidences."""
        train, selection = self.predictor.data.train, self.validation.selection
        both = train.weight is not None and selection.weight is not None
        return both and len(selection) >= MIN_TRIPLES

    @cached_property
    def regression(self) -> ConfidenceRegression:
        """Regression of confidences."""
        if not self.available:
            raise KgflowError(
                f"{self.source} has no {MIN_TRIPLES} validation facts with confidences: train on"
                " facts with a confidence column"
            )
        statistics = ConfidenceStatistics(self.predictor.data)
        return ConfidenceRegression(self._score, statistics, *self.validation, self.seed)

    def intervals(self, triples: Sequence[tuple[str, str, str]], coverage: float) -> "pl.DataFrame":
        """Predict confidences and intervals of triples of names or labels, as a table."""
        data = self.predictor.data
        ids = id_array([triple_ids(data, *triple) for triple in triples])
        h, r, t = ids.T
        found = self.regression.intervals(h, r, t, coverage)
        return frame(triple_names(data, ids) | found._asdict(), COLUMNS)

    def coverage(self, coverage: float) -> IntervalCoverage:
        """Measure how often intervals contain the confidences of the test triples."""
        data = self.predictor.data
        if data.test.weight is None or not len(data.test):
            raise KgflowError(f"{data.name} has no test facts with confidences")
        return IntervalCoverage.measure(self.regression, data.test, coverage)

    def _score(self, h: Ids, r: Ids, t: Ids) -> Floats:
        return self.predictor.score(h, r, t).double().numpy()
