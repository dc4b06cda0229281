"""Answers to queries of several hops: probabilities, known answers and witnesses."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kgflow.data import Dataset, Triples, ValidationSplit
from kgflow.errors import KgflowError
from kgflow.evaluation import Progress, Scorer, no_progress
from kgflow.evaluation.metrics import Floats
from kgflow.queries.answers import TOLERANCE, QueryAnswer, QueryAnswers
from kgflow.queries.build import read_query
from kgflow.queries.composition import ComposedRelations
from kgflow.queries.execution import EXISTENTIALS, Evaluation, Executor
from kgflow.queries.facts import FactProbabilities, KnownFacts
from kgflow.queries.prediction_sets import (
    QUERIES,
    QueryPredictionSet,
    check_queries,
    nonconformities,
    set_size,
)
from kgflow.queries.sampling import QuerySampler
from kgflow.queries.tree import Node, query_text, shape_name, shape_of
from kgflow.queries.witness import witnesses
from kgflow.uncertainty import Calibration, check_coverage

BEAM = 512
"""Intermediate entities whose facts are scored in large graphs."""
SMALL = 4096
"""Number of entities up to which the facts of all intermediate entities are scored."""
SET_BEAM = 64
"""The same for prediction sets."""
METHODS = ("beam", "compose")
"""Ways to answer a query."""
MAX_ANSWERS = 100_000
"""Largest number of answers to a query."""


@dataclass(frozen=True)
class AskOptions:
    """How a query is answered.

    Args:
        k: Number of answers.
        new: Whether answers that follow from known facts alone are left out.
        model_only: Whether known facts count no more than the model's probability of them.
        existential: "max" or "noisy-or", see `Executor`.
        method: "beam", or "compose" for chains of relations as one function.
        beam: Number of intermediate entities whose facts are scored; by default all in graphs of
            up to `SMALL` entities, else `BEAM`.
    """

    k: int = 10
    new: bool = False
    model_only: bool = False
    existential: str = "max"
    method: str = "beam"
    beam: int | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.k <= MAX_ANSWERS:
            raise KgflowError(f"k is {self.k}: ask for 1 to {MAX_ANSWERS:,} answers")
        if self.method not in METHODS:
            raise KgflowError(f"method is '{self.method}': give {' or '.join(METHODS)}")
        if self.existential not in EXISTENTIALS:
            raise KgflowError(
                f"existential is '{self.existential}': give {', '.join(EXISTENTIALS)}"
            )
        if self.beam is not None and self.beam < 1:
            raise KgflowError(f"beam is {self.beam}: give 1 or more")
        if self.method == "compose" and (self.existential, self.beam) != ("max", None):
            raise KgflowError(
                "the method compose has no intermediate entities: leave existential and beam out"
            )


class QueryEngine:
    """Answers queries of several hops from a graph and a model.

    Args:
        scorer: Scorer of the model, with the known facts.
        data: Data set, whose triples are the known facts.
        calibration: Calibration of scores to probabilities.
        validation: Validation triples to fit to, and held-out ones.
        seed: Random seed of sampled queries.

    Example:
        >>> import kgflow, tempfile
        >>> run = kgflow.train("world", dim=8, epochs=1, out=tempfile.mkdtemp() + "/run")
        >>> found = run.ask("France borders ?x . ?x has_currency ?c", k=2)
        >>> sorted(found["answer"]), found["known"].to_list()
        (['Swiss franc', 'euro'], [True, True])
    """

    def __init__(
        self,
        scorer: Scorer,
        data: Dataset,
        calibration: Calibration,
        validation: ValidationSplit,
        seed: int = 0,
    ) -> None:
        self.scorer, self.data, self.calibration = scorer, data, calibration
        self.validation, self.seed = validation, seed
        self._nonconformity: dict[object, Floats] = {}

    @cached_property
    def known(self) -> KnownFacts:
        """Known facts by relation."""
        return KnownFacts(self.data.known)

    def facts(self, model_only: bool = False) -> FactProbabilities:
        """Return the probabilities of facts."""
        return FactProbabilities(self.scorer, self.calibration, model_only)

    def executor(self, options: AskOptions) -> Executor:
        """Return the executor of queries."""
        large = len(self.data.entities) > SMALL
        beam = BEAM if options.beam is None and large else options.beam
        return Executor(self.known, self.facts(options.model_only), options.existential, beam)

    @cached_property
    def composed(self) -> ComposedRelations:
        """Chains of relations as one function."""
        return ComposedRelations(self.scorer, self.data, self.validation.selection, self.seed)

    def ask(self, query: str | Node, options: AskOptions | None = None) -> QueryAnswers:
        """Answer a query given as text, or as a tree."""
        options = options or AskOptions()
        node = read_query(query, self.data) if isinstance(query, str) else query
        text = query if isinstance(query, str) else query_text(query, self.data)
        join = Executor(self.known)(node)
        found = self.evaluate(node, options, join)
        # A composed function has no intermediate entities: known facts alone are a witness.
        way = found if options.method == "beam" else join
        return self._answers(text, node, found, way, join.value > 0, options)

    def evaluate(
        self, node: Node, options: AskOptions, join: Evaluation | None = None
    ) -> Evaluation:
        """Return the values of all entities; `join` is the evaluation of known facts alone."""
        if options.method == "beam":
            return self.executor(options)(node)
        P = self.composed(node)
        if options.model_only:
            return Evaluation(P[None])
        join = join or Executor(self.known)(node)
        return Evaluation(np.maximum(P, join.value)[None])

    def prediction_set(
        self,
        query: str,
        coverage: float = 0.9,
        options: AskOptions | None = None,
        progress: Progress = no_progress,
    ) -> QueryPredictionSet:
        """Return a set of new answers that contains the missing one with a probability.

        The threshold comes from random queries of the same shape that need a held-out validation
        triple; for a query without missing answers the set says nothing.
        """
        check_coverage(coverage)
        options = options or AskOptions()
        if options.method == "beam" and options.beam is None:
            options = replace(options, beam=SET_BEAM)  # a hundred queries are evaluated
        node = read_query(query, self.data)
        scores = self._held_out_scores(node, options, progress)
        check_queries(node, len(scores), coverage)
        rng = np.random.default_rng([self.seed, *query.encode()])
        size = set_size(scores, coverage, len(self.data.entities), rng)
        found = self.ask(query, replace(options, new=True, k=max(size, 1)))
        found = replace(found, answers=found.answers[:size])
        return QueryPredictionSet(found, coverage, shape_name(node), len(scores))

    def _held_out_scores(self, node: Node, options: AskOptions, progress: Progress) -> Floats:
        """Return nonconformity scores of held-out queries with the shape of a query."""
        key = shape_of(node), replace(options, k=1, new=False)
        if key not in self._nonconformity:
            data, valid = self.data, self.validation
            both = Triples.concatenate([valid.selection, valid.conformal])
            complete = replace(data, valid=both, test=Triples.empty())
            engine = self.knowing(replace(complete, valid=valid.selection))
            known = Triples.concatenate([data.train, valid.selection])
            queries = QuerySampler(complete, known, self.seed).draw(shape_of(node), QUERIES)
            values = []
            for done, one in enumerate(queries, start=1):
                values.append(engine.evaluate(one.node, options).value)
                progress(done / len(queries))
            self._nonconformity[key] = nonconformities(queries, values, self.seed)
        return self._nonconformity[key]

    def knowing(self, data: Dataset) -> "QueryEngine":
        """Return an engine of the same model that knows other triples."""
        scorer = Scorer(self.scorer.model, data.known)
        return QueryEngine(scorer, data, self.calibration, self.validation, self.seed)

    def _answers(
        self,
        text: str,
        node: Node,
        found: Evaluation,
        way: Evaluation,
        known: NDArray[np.bool_],
        options: AskOptions,
    ) -> QueryAnswers:
        allowed = ~known if options.new else np.ones(len(known), dtype=bool)
        value = np.where(allowed, found.value, 0.0)
        best = np.lexsort((~known, -value))[: options.k]  # of equal values, known answers first
        best = best[value[best] > 0]
        others = allowed.copy()
        others[best] = False
        facts = self.facts(options.model_only)
        why = witnesses(node, way, best.tolist(), facts, self.data)
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
