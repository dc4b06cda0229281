"""Conformal prediction sets of queries of several hops, by query shape."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kgflow.errors import KgflowError
from kgflow.evaluation.metrics import Floats
from kgflow.evaluation.scoring import Ids
from kgflow.queries.sampling import SampledQuery
from kgflow.queries.tree import Node, shape_name
from kgflow.uncertainty.conformal import min_answers, order_statistic

if TYPE_CHECKING:
    from kgflow.queries.answers import QueryAnswers

QUERIES = 100
"""Queries of a shape from which the threshold of prediction sets is computed."""


@dataclass(frozen=True, eq=False)
class QueryPredictionSet:
    """Answers that do not follow from known facts, and the coverage of such sets.

    Among random queries of this shape that have a missing answer, the share `coverage` of
    prediction sets contains it (one of them at random, where there are several).

    Args:
        answers: The answers, best first.
        coverage: Nominal coverage.
        shape: Name of the query shape.
        held_out: Number of queries that the threshold was computed from.
    """

    answers: "QueryAnswers"
    coverage: float
    shape: str
    held_out: int

    def __len__(self) -> int:
        return len(self.answers.answers)

    def __str__(self) -> str:
        return (
            f"{len(self):,} answers that do not follow from known facts; such sets contain the"
            f" missing answer in {self.coverage:.4g} of queries of the shape {self.shape} (from"
            f" {self.held_out:,} held-out queries)"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the set as a dictionary."""
        return self.answers.to_dict() | {
            "coverage": self.coverage,
            "size": len(self),
            "held_out": self.held_out,
        }


def nonconformity(value: Floats, known: Ids, answer: int, u: float) -> float:
    """Return the rank of an answer among entities that are no known answers, made continuous.

    Args:
        value: Values of all entities, ``(E,)``.
        known: Entities that follow from known facts.
        answer: The missing answer.
        u: Uniform random number, which breaks ties.

    Example:
        >>> nonconformity(np.array([0.9, 0.5, 0.5, 0.1]), np.array([0]), answer=2, u=0.5)
        1.0
    """
    others = value.copy()
    others[known] = -1.0
    others[answer] = value[answer]
    return float((others > value[answer]).sum() + u * (others == value[answer]).sum())


def nonconformities(
    queries: Sequence[SampledQuery], values: Sequence[Floats], seed: int = 0
) -> Floats:
    """Return the nonconformity score of one missing answer of each query, drawn at random."""
    rng = np.random.default_rng(seed)
    scores = [
        nonconformity(value, query.known, int(rng.choice(query.hard)), rng.random())
        for query, value in zip(queries, values, strict=True)
    ]
    return np.array(scores)


def set_size(scores: Floats, coverage: float, most: int, rng: np.random.Generator) -> int:
    """Return the size of a prediction set, from nonconformity scores of held-out queries.

    Example:
        >>> set_size(np.arange(1.0, 10.0), 0.8, most=100, rng=np.random.default_rng(0))
        8
    """
    limit = order_statistic(np.sort(scores), coverage, rng.random())
    bounded = min(max(limit, 0.0), float(most))
    return int(bounded) + bool(rng.random() < bounded - int(bounded))


def check_queries(node: Node, count: int, coverage: float) -> None:
    """Raise an error if there are too few held-out queries of a shape for a coverage."""
    if count < min_answers(coverage):
        raise KgflowError(
            f"there are {count:,} held-out queries of the shape {shape_name(node)}, and a coverage"
            f" of {coverage:.4g} needs {min_answers(coverage):,}: ask for a smaller coverage, or"
            " train with more held-out triples (training.conformal_fraction)"
        )
