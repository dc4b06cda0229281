"""Queries of several hops: their language, trees, probabilities and answers."""

from kgflow.queries.build import read_query
from kgflow.queries.engine import (
    COLUMNS,
    METHODS,
    AskOptions,
    QueryAnswer,
    QueryAnswers,
    QueryEngine,
)
from kgflow.queries.execution import BEAM, EXISTENTIALS, Executor
from kgflow.queries.facts import FactProbabilities, KnownFacts
from kgflow.queries.language import parse_query
from kgflow.queries.tree import SHAPES, Node, query_text, shape_name
from kgflow.queries.witness import Witness, WitnessFact

__all__ = [
    "BEAM",
    "COLUMNS",
    "EXISTENTIALS",
    "METHODS",
    "SHAPES",
    "AskOptions",
    "Executor",
    "FactProbabilities",
    "KnownFacts",
    "Node",
    "QueryAnswer",
    "QueryAnswers",
    "QueryEngine",
    "Witness",
    "WitnessFact",
    "parse_query",
    "query_text",
    "read_query",
    "shape_name",
]
