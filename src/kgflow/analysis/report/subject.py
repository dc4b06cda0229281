"""What a report is about."""

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kgflow.analysis.comparison import Comparison
from kgflow.analysis.plots.style import COLOURS
from kgflow.data import Statistics, describe
from kgflow.errors import KgflowError
from kgflow.evaluation import Evaluation
from kgflow.runs.run import Run

DEFAULT = 5
"""Entities shown where none were chosen."""


class Subject:
    """Runs of one data set, ranked on one split.

    Args:
        runs: one or more; the first is what others are compared with.
        split: train, valid or test.
        entities: names or labels to show; those of the highest degree if none are given.

    Raises:
        KgflowError: the runs are of different data, or an entity is unknown.
    """

    def __init__(
        self, runs: Sequence[Run], split: str = "test", entities: Sequence[str] = ()
    ) -> None:
        if not runs:
            raise KgflowError("a report is about one run or more: name a run directory")
        if len(runs) > len(COLOURS) or len(entities) > len(COLOURS):
            raise KgflowError(f"a report can tell at most {len(COLOURS)} runs or entities apart")
        self.runs, self.split, self.data = tuple(runs), split, runs[0].data
        for run in runs[1:]:
            if run.config.run.data_digest != runs[0].config.run.data_digest:
                raise KgflowError(
                    f"{run.directory} is of other data than {runs[0].directory}: "
                    "only runs of the same facts and splits compare"
                )
        if not len(self.data.split(split)):
            raise KgflowError(f"{self.data.name} has no {split} facts to report on")
        self.entities = [self.data.entity_id(name) for name in entities] or self._frequent(DEFAULT)
        self.evaluations: tuple[Evaluation, ...] = ()

    def rank(self, progress: Callable[[float], None] = lambda share: None) -> None:
        """Rank the split with every run: what takes time."""
        found = []
        for place, run in enumerate(self.runs):
            part = _part(progress, place, len(self.runs))
            found.append(run.evaluate(self.split, progress=part))
        self.evaluations = tuple(found)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What to call each run: its directory, with a number where two are called alike."""
        plain = [run.directory.resolve().name for run in self.runs]
        return tuple(
            name if plain.count(name) == 1 else f"{name} ({plain[: i + 1].count(name)})"
            for i, name in enumerate(plain)
        )

    @cached_property
    def statistics(self) -> Statistics:
        """Of the data."""
        return describe(self.data)

    @cached_property
    def degree(self) -> NDArray[np.int64]:
        """The training facts each entity stands in, ``(E,)``."""
        return self.data.train.degrees(len(self.data.entities))

    @cached_property
    def comparisons(self) -> tuple[Comparison, ...]:
        """Every further run against the first."""
        first, *others = self.evaluations
        return tuple(Comparison(first.ranking, other.ranking) for other in others)

    def relations_of(self, evaluation: Evaluation) -> NDArray[np.str_]:
        """The relation's name of every answer."""
        ranking = evaluation.ranking
        return np.array(self.data.relations.names)[ranking.r % ranking.relations]

    def _frequent(self, count: int) -> list[int]:
        return np.argsort(-self.degree, kind="stable")[:count].tolist()


def _part(progress: Callable[[float], None], place: int, of: int) -> Callable[[float], None]:
    return lambda share: progress((place + share) / of)
