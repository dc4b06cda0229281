"""What the batcher works on: questions and facts, those of a kind together."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

from kgflow.runs.answers import TripleQuery
from kgflow.runs.run import Run
from kgflow.serving.catalogue import Catalogue

Row = dict[str, Any]


class Job(ABC):
    """Something to compute; jobs of one kind are computed at once."""

    @property
    @abstractmethod
    def kind(self) -> Hashable:
        """What must be equal for that."""

    @classmethod
    @abstractmethod
    def run(cls, run: Run, jobs: Sequence[Self]) -> list[Any]:
        """The results of jobs of one kind, in their order."""


@dataclass(frozen=True)
class Ask(Job):
    """A question for its k best answers: rows as of `Run.predict`."""

    question: TripleQuery
    k: int
    new: bool
    types: tuple[str, ...]

    @property
    def kind(self) -> Hashable:
        """The same filters and length."""
        return Ask, self.k, self.new, self.types

    @classmethod
    def run(cls, run: Run, jobs: Sequence[Self]) -> list[list[Row]]:
        """One matrix product."""
        first, questions = jobs[0], [job.question for job in jobs]
        found = run.predictor.predict(questions, first.k, first.new, first.types)
        answers: list[list[Row]] = [[] for _ in jobs]
        for row in found.iter_rows(named=True):
            answers[row["query"] - 1].append(row)
        return answers


@dataclass(frozen=True)
class Weigh(Job):
    """A triple for its score: a row of `Run.score`."""

    triple: tuple[str, str, str]

    @property
    def kind(self) -> Hashable:
        """All alike."""
        return Weigh

    @classmethod
    def run(cls, run: Run, jobs: Sequence[Self]) -> list[Row]:
        """All in one call."""
        return run.score([job.triple for job in jobs]).to_dicts()


@dataclass(frozen=True)
class Look(Job):
    """An entity, for all that is known of it."""

    catalogue: Catalogue
    entity: int
    limit: int

    @property
    def kind(self) -> Hashable:
        """All alike."""
        return Look

    @classmethod
    def run(cls, run: Run, jobs: Sequence[Self]) -> list[Row]:
        """One after the other."""
        return [job.catalogue.about_entity(job.entity, job.limit) for job in jobs]


def worker(run: Run) -> Callable[[Sequence[Job]], list[Any]]:
    """The batcher's work: jobs of any kinds to their results, or exceptions in their place."""
    return partial(_work, run)


def _work(run: Run, jobs: Sequence[Job]) -> list[Any]:
    kinds: dict[Hashable, list[int]] = {}
    for place, job in enumerate(jobs):
        kinds.setdefault(job.kind, []).append(place)
    results: list[Any] = [None] * len(jobs)
    for places in kinds.values():
        alike = [jobs[i] for i in places]
        try:
            found: list[Any] = type(alike[0]).run(run, alike)
        except Exception as error:
            found = [error] * len(alike)
        for place, result in zip(places, found, strict=True):
            results[place] = result
    return results
