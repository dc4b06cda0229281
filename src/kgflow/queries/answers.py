"""Answers to queries of several hops, as a table and as JSON values."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kgflow.queries.tree import Node, shape_name

if TYPE_CHECKING:
    import polars as pl

    from kgflow.queries.witness import Witness

TOLERANCE = 1e-9
"""Width of bounds up to which a probability counts as exact."""

COLUMNS: dict[str, type] = {
    "rank": int,
    "answer": str,
    "name": str,
    "probability": float,
    "known": bool,
    "exact": bool,
    "witness": str,
}
"""Columns and types of the table of answers."""


@dataclass(frozen=True)
class QueryAnswer:
    """An answer to a query.

    Args:
        rank: Rank, from 1.
        answer: Label of the entity.
        name: Name of the entity.
        probability: Probability that it is an answer.
        known: Whether it follows from known facts alone.
        exact: Whether the probability is exact: no intermediate entity was left out that matters.
        witness: What makes it probable.
    """

    rank: int
    answer: str
    name: str
    probability: float
    known: bool
    exact: bool
    witness: "Witness"

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as a dictionary."""
        return vars(self) | {"witness": self.witness.to_dict()}


@dataclass(frozen=True, eq=False)
class QueryAnswers:
    """Answers to a query, best first.

    Args:
        text: Text of the query.
        node: Query as a tree.
        answers: The k most probable answers.
        bound: What the probability of no other entity exceeds.
    """

    text: str
    node: Node
    answers: tuple[QueryAnswer, ...]
    bound: float

    @property
    def exact(self) -> bool:
        """Whether these are provably the most probable answers, with exact probabilities."""
        least = min((one.probability for one in self.answers), default=0.0)
        return all(one.exact for one in self.answers) and self.bound <= least + TOLERANCE

    @property
    def frame(self) -> "pl.DataFrame":
        """Table of the answers, with the columns `COLUMNS`."""
        import polars as pl

        rows = [vars(one) | {"witness": str(one.witness)} for one in self.answers]
        columns = {name: [row[name] for row in rows] for name in COLUMNS}
        return pl.DataFrame(columns, schema=COLUMNS)

    def __str__(self) -> str:
        if self.exact:
            return "exact: no other entity is more probable"
        return f"other entities have probabilities of at most {self.bound:.2g}, by an upper bound"

    def to_dict(self) -> dict[str, Any]:
        """Return query, answers and bound as a dictionary."""
        return {
            "query": self.text,
            "shape": shape_name(self.node),
            "exact": self.exact,
            "bound": self.bound,
            "answers": [one.to_dict() for one in self.answers],
        }
