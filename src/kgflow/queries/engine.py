"""Answers to queries of several hops: probabilities, known answers and witnesses."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kgflow.data import Dataset
from kgflow.errors import KgflowError
from kgflow.evaluation import Scorer
from kgflow.evaluation.scoring import Ids
from kgflow.queries.build import read_query
from kgflow.queries.execution import BEAM, Evaluation, Executor
from kgflow.queries.facts import FactProbabilities, KnownFacts
from kgflow.queries.tree import Node, query_text, shape_name
from kgflow.queries.witness import Witness, witnesses
from kgflow.uncertainty import Calibration

if TYPE_CHECKING:
    import polars as pl

METHODS = ("beam",)
"""Ways to answer a query."""
TOLERANCE = 1e-9
"""Width of bounds up to which a probability counts as exact."""
MAX_ANSWERS = 100_000
"""Largest number of answers to a query."""

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
class AskOptions:
    """How a query is answered.

    Args:
        k: Number of answers.
        new: Whether answers that follow from known facts alone are left out.
        model_only: Whether known facts count no more than the model's probability of them.
        existential: "max" or "noisy-or", see `Executor`.
        method: "beam", or "compose" for chains of relations as one function.
        beam: Number of intermediate entities whose facts are scored in large graphs.
    """

    k: int = 10
    new: bool = False
    model_only: bool = False
    existential: str = "max"
    method: str = "beam"
    beam: int = BEAM

    def __post_init__(self) -> None:
        if not 1 <= self.k <= MAX_ANSWERS:
            raise KgflowError(f"k is {self.k}: ask for 1 to {MAX_ANSWERS:,} answers")
        if self.method not in METHODS:
            raise KgflowError(f"method is '{self.method}': give {' or '.join(METHODS)}")


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
    witness: Witness

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


class QueryEngine:
    """Answers queries of several hops from a graph and a model.

    Args:
        scorer: Scorer of the model, with the known facts.
        data: Data set, whose triples are the known facts.
        calibration: Calibration of scores to probabilities.

    Example:
        >>> import kgflow, tempfile
        >>> run = kgflow.train("world", dim=8, epochs=1, out=tempfile.mkdtemp() + "/run")
        >>> found = run.ask("France borders ?x . ?x has_currency ?c", k=2)
        >>> sorted(found["answer"]), found["known"].to_list()
        (['Swiss franc', 'euro'], [True, True])
    """

    def __init__(self, scorer: Scorer, data: Dataset, calibration: Calibration) -> None:
        self.scorer, self.data, self.calibration = scorer, data, calibration

    @cached_property
    def known(self) -> KnownFacts:
        """Known facts by relation."""
        return KnownFacts(self.data.known)

    def facts(self, model_only: bool = False) -> FactProbabilities:
        """Return the probabilities of facts."""
        return FactProbabilities(self.scorer, self.data, self.calibration, model_only)

    def executor(self, options: AskOptions) -> Executor:
        """Return the executor of queries."""
        facts = self.facts(options.model_only)
        return Executor(self.known, facts, options.existential, options.beam)

    def known_answers(self, node: Node) -> Ids:
        """Return the entities that follow from known facts alone, ``(N,)``."""
        return np.flatnonzero(Executor(self.known)(node).value > 0)

    def ask(self, query: str | Node, options: AskOptions | None = None) -> QueryAnswers:
        """Answer a query given as text, or as a tree."""
        options = options or AskOptions()
        node = read_query(query, self.data) if isinstance(query, str) else query
        text = query if isinstance(query, str) else query_text(query, self.data)
        found = self.executor(options)(node)
        known = np.zeros(len(self.data.entities), dtype=bool)
        known[self.known_answers(node)] = True
        return self._answers(text, node, found, known, options)

    def _answers(
        self,
        text: str,
        node: Node,
        found: Evaluation,
        known: NDArray[np.bool_],
        options: AskOptions,
    ) -> QueryAnswers:
        allowed = ~known if options.new else np.ones(len(known), dtype=bool)
        value = np.where(allowed, found.value, 0.0)
        best = np.argsort(-value, kind="stable")[: options.k]
        best = best[value[best] > 0]
        others = allowed.copy()
        others[best] = False
        facts = self.facts(options.model_only)
        why = witnesses(node, found, best.tolist(), facts, self.data)
        answers = [
            QueryAnswer(
                rank,
                self.data.label(i),
                self.data.entities[i],
                float(value[i]),
                bool(known[i]),
                bool(found.high[i] - found.low[i] <= TOLERANCE),
                witness,
            )
            for rank, (i, witness) in enumerate(zip(best.tolist(), why, strict=True), start=1)
        ]
        bound = float(found.high[others].max(initial=0.0))
        return QueryAnswers(text, node, tuple(answers), bound)
