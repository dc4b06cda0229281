"""Request bodies of the HTTP interface."""

from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    model_validator,
)

from kgflow.queries.engine import AskOptions
from kgflow.queries.language import MAX_TEXT
from kgflow.runs.answers import TripleQuery

MAX_NAME = 10_000
"""Largest number of characters of a name."""

MAX_ITEMS = 1_000
"""Largest number of queries in a request, and of answers to each."""

MAX_ANSWERS = 20_000
"""Largest number of answers to a request: more would fill the memory and delay other requests."""

PARTS = ("head", "relation", "tail")

Name = Annotated[str, Field(max_length=MAX_NAME)]
Triple = Annotated[list[Name], Field(min_length=3, max_length=3)]


def _to_integer(value: Any) -> Any:  # noqa: ANN401
    # In JSON, 10.0 is an integer.
    return int(value) if isinstance(value, float) and value.is_integer() else value


_INTEGER = BeforeValidator(_to_integer)


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class TailQuery(_Request):
    """The query (head, relation, ?)."""

    head: Name
    relation: Name


class HeadQuery(_Request):
    """The query (?, relation, tail)."""

    relation: Name
    tail: Name


class RelationQuery(_Request):
    """The query (head, ?, tail)."""

    head: Name
    tail: Name


class _Options(_Request):
    k: Annotated[
        int, Field(ge=1, le=MAX_ITEMS, description="Number of answers per query."), _INTEGER
    ] = 10
    new: Annotated[bool, Field(description="Whether to leave out known triples.")] = False
    types: Annotated[
        list[Name], Field(max_length=100, description="Entity types to which answers are limited.")
    ] = []


class PredictTails(TailQuery, _Options):
    """Predict the tails of one query."""


class PredictHeads(HeadQuery, _Options):
    """Predict the heads of one query."""


class PredictRelations(RelationQuery, _Options):
    """Predict the relations of one query."""


def _kind(value: Any) -> str | None:  # noqa: ANN401
    """Return the part to predict, or "batch" for many queries, or None if that is unclear."""
    if isinstance(value, BaseModel):
        value = value.model_dump()
    if not isinstance(value, dict):
        return None
    if "queries" in value:
        return "batch"
    missing = [part for part in PARTS if part not in value]
    return missing[0] if len(missing) == 1 else None


_KIND = Discriminator(
    _kind,
    custom_error_type="query_kind",
    custom_error_message="give two of head, relation and tail; the third is predicted",
)

AnyQuery = Annotated[
    Annotated[TailQuery, Tag("tail")]
    | Annotated[HeadQuery, Tag("head")]
    | Annotated[RelationQuery, Tag("relation")],
    _KIND,
]


class PredictBatch(_Options):
    """Answer many queries."""

    queries: Annotated[list[AnyQuery], Field(min_length=1, max_length=MAX_ITEMS)]

    @model_validator(mode="after")
    def _limit_answers(self) -> Self:
        if len(self.queries) * self.k > MAX_ANSWERS:
            raise ValueError(f"queries times k is over {MAX_ANSWERS:,}: send several requests")
        return self


PredictRequest = Annotated[
    Annotated[PredictTails, Tag("tail")]
    | Annotated[PredictHeads, Tag("head")]
    | Annotated[PredictRelations, Tag("relation")]
    | Annotated[PredictBatch, Tag("batch")],
    _KIND,
]


def to_queries(request: _Options) -> list[TripleQuery]:
    """Return the queries of a request."""
    bodies = request.queries if isinstance(request, PredictBatch) else [request]
    parts = ([getattr(body, part, None) for part in PARTS] for body in bodies)
    return [TripleQuery(head, relation, tail) for head, relation, tail in parts]


class ScoreRequest(_Request):
    """Score triples."""

    triples: Annotated[
        list[Triple],
        Field(min_length=1, max_length=MAX_ITEMS, description="Triples [head, relation, tail]."),
    ]


class AskRequest(_Request):
    """Answer a query of several hops."""

    query: Annotated[
        str,
        Field(
            max_length=MAX_TEXT,
            description="Patterns as in SPARQL, such as France borders ?x . ?x has_currency ?c",
        ),
    ]
    k: Annotated[int, Field(ge=1, le=MAX_ITEMS, description="Number of answers."), _INTEGER] = 10
    new: Annotated[
        bool, Field(description="Whether to leave out answers that follow from known facts.")
    ] = False
    model_only: Annotated[bool, Field(description="Whether the model judges known facts too.")] = (
        False
    )
    existential: Annotated[
        Literal["max", "noisy-or"], Field(description="Combination of intermediate entities.")
    ] = "max"
    method: Annotated[
        Literal["beam", "compose"],
        Field(description="From entity to entity, or a chain of relations as one function."),
    ] = "beam"

    @property
    def options(self) -> AskOptions:
        """Options of the engine."""
        return AskOptions(self.k, self.new, self.model_only, self.existential, self.method)


class ExplainRequest(_Request):
    """Explain a triple."""

    head: Name
    relation: Name
    tail: Name
    n: Annotated[
        int,
        Field(ge=1, le=20, description="Largest number of rules, and of similar triples."),
        _INTEGER,
    ] = 3
