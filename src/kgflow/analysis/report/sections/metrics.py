"""How well the answers are ranked."""

from collections.abc import Iterator
from typing import Any

from kgflow.analysis.report.pieces import Note, Piece, Table
from kgflow.analysis.report.section import Section
from kgflow.analysis.report.subject import Subject
from kgflow.evaluation import POLICIES, Ranking

NAMES = {
    "mrr": "MRR",
    "mr": "mean rank",
    "hits@1": "Hits@1",
    "hits@3": "Hits@3",
    "hits@10": "Hits@10",
    "amr": "AMR",
    "amri": "AMRI",
}


def values(ranking: Ranking, policy: str = "realistic") -> list[float]:
    """The metrics of a ranking, in the order of `NAMES`."""
    found = ranking.metrics()[policy].to_dict()
    return [found[name] for name in NAMES]


class MetricsTables(Section):
    """Filtered ranking metrics."""

    id, title = "metrics", "Ranking metrics"

    def pieces(self, subject: Subject) -> Iterator[Piece]:
        """Under each tie policy, by side, and by the category of relations."""
        untrained = subject.evaluations[0].untrained
        yield Note(
            f"Every {subject.split} fact is asked twice, for its tail and for its head; all "
            "entities are ranked, other known answers left out. "
            f"{untrained:,} of {len(subject.evaluations[0].ranking):,} answers are about an "
            "entity that training never saw; they count."
        )
        yield Table(
            "Metrics with ties won (optimistic), shared (realistic) and lost (pessimistic). Where "
            "the three agree, scores have no ties. AMR compares the mean rank with guessing (1); "
            "AMRI is 0 for guessing and 1 at best.",
            (*run_column(subject), "ties", *NAMES.values()),
            _rows(subject, _policies),
        )
        yield Table(
            "By the side that was asked for (realistic ties).",
            (*run_column(subject), "side", "answers", *NAMES.values()),
            _rows(subject, _sides),
        )
        yield Table(
            "By the category of the relation: whether a head has one or many tails (second place) "
            "and a tail one or many heads (first place), in training.",
            (*run_column(subject), "category", "answers", *NAMES.values()),
            _rows(subject, _categories),
        )


def run_column(subject: Subject) -> tuple[str, ...]:
    """The head of a column for names of runs, where there are several."""
    return ("run",) if len(subject.runs) > 1 else ()


def _rows(subject: Subject, of: Any) -> list[list[Any]]:  # noqa: ANN401
    return [
        [name, *row] if len(subject.runs) > 1 else row
        for place, name in enumerate(subject.names)
        for row in of(subject, place)
    ]


def _policies(subject: Subject, place: int) -> list[list[Any]]:
    ranking = subject.evaluations[place].ranking
    return [[policy, *values(ranking, policy)] for policy in POLICIES]


def _sides(subject: Subject, place: int) -> list[list[Any]]:
    ranking = subject.evaluations[place].ranking
    return [[side, len(part), *values(part)] for side, part in ranking.by(ranking.side).items()]


def _categories(subject: Subject, place: int) -> list[list[Any]]:
    import numpy as np

    evaluation = subject.evaluations[place]
    category = {r.name: r.category for r in subject.statistics.by_relation}
    of = np.array([category[name] for name in subject.relations_of(evaluation)])
    return [[name, len(part), *values(part)] for name, part in evaluation.ranking.by(of).items()]
