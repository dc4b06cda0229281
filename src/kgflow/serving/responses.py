"""Responses of the HTTP interface: their schemas, and JSON, SVG and errors as bytes."""

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic_core import to_json
from starlette.responses import Response

from kgflow.runs.answers import COLUMNS

PROBLEM_JSON = "application/problem+json"

SVG_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'"
"""Content security policy of a plot: only its own styles."""


class _Response(BaseModel):
    model_config = ConfigDict(frozen=True)


def _column(name: str, kind: type) -> Any:  # noqa: ANN401
    # Null are numbers that are not finite, certainties of models without, and no notes.
    return (kind | None, ...) if kind is float or name in ("trust", "note") else (kind, ...)


Answer: Any = create_model(
    "Answer", __base__=_Response, **{name: _column(name, kind) for name, kind in COLUMNS.items()}
)
"""An answer with the columns of `Run.predict`."""


class Answers(_Response):
    """Answers in the order of the queries, best first."""

    answers: list[Answer]


class TripleScore(_Response):
    """A triple with its score."""

    head: str
    relation: str
    tail: str
    score: float | None
    probability: Annotated[
        float | None, Field(description="Probability that it is true; null if known.")
    ]
    conditional_probability: Annotated[
        float | None, Field(description="Probability as a tail, if one is missing.")
    ]
    known: bool
    trust: Annotated[str | None, Field(description="The probability in words.")]
    note: Annotated[str | None, Field(description="What makes the probability doubtful.")]


class Scores(_Response):
    """Scores in the order of the triples."""

    scores: list[TripleScore]


class Entity(_Response):
    """Id, name, label and types of an entity."""

    id: int
    name: str
    label: str
    types: list[str]


class Suggestion(Answer):  # type: ignore[misc]
    """A predicted triple about an entity."""

    target: Annotated[Literal["head", "tail"], Field(description="Part that was predicted.")]
    head_label: str
    tail_label: str


class Suggestions(_Response):
    """Predicted triples about an entity that are not known, most probable first."""

    answers: list[Suggestion]


class Reason(_Response):
    """A rule with the known triples of its body, or a similar known triple."""

    text: str
    triples: list[list[str]]
    rule: str | None
    model_confidence: float | None
    confidence: float | None
    distance: float | None


class Explanation(_Response):
    """Reasons for a triple: the best rules, then the most similar known triples."""

    reasons: list[Reason]


class WitnessFact(_Response):
    """A fact that makes an answer probable, or whose absence does."""

    head: str
    relation: str
    tail: str
    probability: float
    known: bool
    negated: bool


class Witness(_Response):
    """Facts that lead to an answer, and the entities they give to variables."""

    text: str
    facts: list[WitnessFact]
    entities: dict[str, str]


class QueryAnswer(_Response):
    """An answer to a query of several hops."""

    rank: int
    answer: str
    name: str
    probability: float
    known: Annotated[bool, Field(description="Whether it follows from known facts alone.")]
    exact: Annotated[bool, Field(description="Whether the probability is exact.")]
    witness: Witness


class QueryVertex(_Response):
    """A variable or a name of a query."""

    id: int
    label: str
    kind: Literal["answer", "variable", "name"]


class QueryEdge(_Response):
    """A relation from source to target, or back if inverse."""

    source: int
    target: int
    relation: str
    inverse: bool
    negated: bool
    alternative: Annotated[bool, Field(description="Whether it is a part of a UNION.")]


class QueryDrawing(_Response):
    """A query as a graph."""

    nodes: list[QueryVertex]
    edges: list[QueryEdge]


class QueryAnswers(_Response):
    """Answers to a query of several hops, best first."""

    query: str
    shape: str
    exact: Annotated[bool, Field(description="Whether no other entity is more probable.")]
    bound: Annotated[float, Field(description="Upper bound of the probabilities of all others.")]
    answers: list[QueryAnswer]
    graph: QueryDrawing


class QueryExamples(_Response):
    """Queries that have answers."""

    queries: list[str]


class Rule(_Response):
    """A rule with the evidence of the model and of the graph."""

    kind: str
    rule: str
    model_confidence: float | None
    distance: float | None
    support: int
    confidence: float | None
    agreement: str


class Rules(_Response):
    """Rules of a relation, best first."""

    rules: list[Rule]


class Entities(_Response):
    """One page of a list of entities."""

    total: int
    offset: int
    entities: list[Entity]


class KnownTriple(_Response):
    """A known triple with labels."""

    head: str
    relation: str
    tail: str
    head_label: str
    tail_label: str


class Neighbour(_Response):
    """A near entity, and its distance or cosine."""

    name: str
    label: str
    value: float


class EntityDescription(Entity):
    """An entity with its known triples, certainty and nearest neighbours."""

    trained: bool
    certainty: Annotated[float | None, Field(description="Percentile, 0 to 100.")]
    certainty_among: Annotated[str, Field(description="Entities of which it is a percentile.")]
    entropy_change: Annotated[float | None, Field(description="In nats; null unless entropy=true.")]
    triple_count: int
    triples: list[KnownTriple]
    measure: Literal["distance", "cosine"]
    neighbours: list[Neighbour]


class Relation(_Response):
    """A relation with its statistics in the training split."""

    id: int
    name: str
    count: int
    category: str
    tails_per_head: float
    heads_per_tail: float
    symmetry: float
    inverse: str | None
    inverse_share: float
    certainty: Annotated[float | None, Field(description="Percentile among relations, 0 to 100.")]


class Relations(_Response):
    """One page of the list of relations."""

    total: int
    offset: int
    relations: list[Relation]


class RunDescription(_Response):
    """Model, settings, sizes and metrics of the run, and its search method."""

    data: str
    entities: int
    relations: int
    triples: Annotated[dict[str, int], Field(description="Number of triples in each split.")]
    types: list[str]
    model: dict[str, Any]
    training: dict[str, Any]
    best_epoch: int | None
    metrics: dict[str, Any]
    kgflow: str
    search: str


class Health(_Response):
    """Status of the server."""

    status: Literal["ok"]


class Reloaded(_Response):
    """Sizes of a run that was loaded again."""

    status: Literal["reloaded"]
    entities: int
    relations: int
    updates: int


class Problem(_Response):
    """An error (RFC 9457)."""

    title: str
    status: int
    detail: str


def json_response(value: Any) -> Response:  # noqa: ANN401
    """Return a value as JSON, in which numbers that are not finite are null."""
    # The tests validate responses against the schemas; doing so for each request costs time.
    return Response(to_json(value, inf_nan_mode="null"), media_type="application/json")


def svg_response(text: str) -> Response:
    """Return a plot, which the browser may cache for five minutes."""
    headers = {"Content-Security-Policy": SVG_POLICY, "Cache-Control": "private, max-age=300"}
    return Response(text.encode(), headers=headers, media_type="image/svg+xml")


def problem_response(
    status: int, detail: str, headers: Mapping[str, str] | None = None
) -> Response:
    """Return an error as application/problem+json with one sentence as its detail."""
    body = {"title": HTTPStatus(status).phrase, "status": status, "detail": detail}
    return Response(json.dumps(body), status, dict(headers or {}), PROBLEM_JSON)


def problem_schemas(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI descriptions of error responses."""
    content = {PROBLEM_JSON: {"schema": Problem.model_json_schema()}}
    return {
        status: {"description": HTTPStatus(status).phrase, "content": content}
        for status in statuses
    }
