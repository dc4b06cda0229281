"""What goes in and out over HTTP."""

from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    create_model,
    model_validator,
)

from kgflow.runs.predictor import COLUMNS, Question

NAME, MANY = 10_000, 1_000
"""Letters of a name, and answers or questions at once, at most."""

ANSWERS = 20_000
"""Answers in all, at most: one request must not fill the memory, nor keep others waiting."""

PARTS = ("head", "relation", "tail")

Name = Annotated[str, Field(max_length=NAME)]
Triple = Annotated[list[Name], Field(min_length=3, max_length=3)]


def _integral(value: Any) -> Any:  # noqa: ANN401
    # To JSON, 10.0 is an integer.
    return int(value) if isinstance(value, float) and value.is_integer() else value


K = Annotated[
    int,
    Field(ge=1, le=MANY, description="answers to each question"),
    BeforeValidator(_integral),
]


class _In(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class TailQuestion(_In):
    """(head, relation, ?)."""

    head: Name
    relation: Name


class HeadQuestion(_In):
    """(?, relation, tail)."""

    relation: Name
    tail: Name


class RelationQuestion(_In):
    """(head, ?, tail)."""

    head: Name
    tail: Name


class _Options(_In):
    k: K = 10
    new: Annotated[bool, Field(description="leave out known facts")] = False
    types: Annotated[
        list[Name], Field(max_length=100, description="only entities of these types")
    ] = []


class PredictTails(TailQuestion, _Options):
    """Ask for tails."""


class PredictHeads(HeadQuestion, _Options):
    """Ask for heads."""


class PredictRelations(RelationQuestion, _Options):
    """Ask for relations."""


def _kind(value: Any) -> str | None:  # noqa: ANN401
    """The part that is asked for, or "batch"; None where that is unclear."""
    if isinstance(value, BaseModel):
        value = value.model_dump()
    if not isinstance(value, dict):
        return None
    if "queries" in value:
        return "batch"
    missing = [part for part in PARTS if part not in value]
    return missing[0] if len(missing) == 1 else None


_WHICH = Discriminator(
    _kind,
    custom_error_type="which_question",
    custom_error_message="ask with two of head, relation and tail; the third is the answer",
)

AnyQuestion = Annotated[
    Annotated[TailQuestion, Tag("tail")]
    | Annotated[HeadQuestion, Tag("head")]
    | Annotated[RelationQuestion, Tag("relation")],
    _WHICH,
]


class PredictBatch(_Options):
    """Ask many questions."""

    queries: Annotated[list[AnyQuestion], Field(min_length=1, max_length=MANY)]

    @model_validator(mode="after")
    def _not_too_much(self) -> Self:
        if len(self.queries) * self.k > ANSWERS:
            raise ValueError(f"queries times k is more than {ANSWERS:,}: ask in several requests")
        return self


PredictRequest = Annotated[
    Annotated[PredictTails, Tag("tail")]
    | Annotated[PredictHeads, Tag("head")]
    | Annotated[PredictRelations, Tag("relation")]
    | Annotated[PredictBatch, Tag("batch")],
    _WHICH,
]


def questions(request: _Options) -> list[Question]:
    """What a request asks."""
    asked = request.queries if isinstance(request, PredictBatch) else [request]
    parts = ([getattr(q, part, None) for part in PARTS] for q in asked)
    return [Question(head, relation, tail) for head, relation, tail in parts]


class ScoreRequest(_In):
    """Score facts."""

    triples: Annotated[
        list[Triple], Field(min_length=1, max_length=MANY, description="head, relation, tail")
    ]


class _Out(BaseModel):
    model_config = ConfigDict(frozen=True)


def _column(name: str, kind: type) -> Any:  # noqa: ANN401
    # Any number may be none that JSON has; an uncertainty, one the model does not know.
    return (kind | None, ...) if kind is float else (kind, ...)


Answer: Any = create_model(
    "Answer", __base__=_Out, **{name: _column(name, kind) for name, kind in COLUMNS.items()}
)
"""A row of `Run.predict`."""


class Answers(_Out):
    """Answers, question by question, best first."""

    answers: list[Answer]


class Scored(_Out):
    """A triple with its score."""

    head: str
    relation: str
    tail: str
    score: float | None
    probability: float | None
    known: bool


class Scores(_Out):
    """Scores, in the order of the triples."""

    scores: list[Scored]


class Entity(_Out):
    """An entity in a line."""

    id: int
    name: str
    label: str
    types: list[str]


class Suggestion(Answer):  # type: ignore[misc]
    """An answer with what was asked, and labels."""

    asked: Literal["head", "tail"]
    head_label: str
    tail_label: str


class Suggestions(_Out):
    """Facts about an entity that may be missing, most probable first."""

    answers: list[Suggestion]


class ExplainRequest(_In):
    """Ask why."""

    head: Name
    relation: Name
    tail: Name
    n: Annotated[
        int,
        Field(ge=1, le=20, description="rules and facts, each at most"),
        BeforeValidator(_integral),
    ] = 3


class Reason(_Out):
    """A rule with the facts it starts from, or a fact that is like the one explained."""

    text: str
    triples: list[list[str]]
    rule: str | None
    model_confidence: float | None
    confidence: float | None
    distance: float | None


class Explanation(_Out):
    """Reasons, the best rules first, then the nearest facts."""

    reasons: list[Reason]


class Rule(_Out):
    """A rule with what speaks for it."""

    kind: str
    rule: str
    model_confidence: float | None
    distance: float | None
    support: int
    confidence: float | None
    agreement: str


class Rules(_Out):
    """Rules, most believed first."""

    rules: list[Rule]


class Entities(_Out):
    """A page of entities."""

    total: int
    offset: int
    entities: list[Entity]


class Fact(_Out):
    """A known fact."""

    head: str
    relation: str
    tail: str
    head_label: str
    tail_label: str


class Neighbour(_Out):
    """An entity nearby, and how near."""

    name: str
    label: str
    value: float


class AboutEntity(Entity):
    """An entity with its facts, uncertainty and neighbours."""

    trained: bool
    uncertainty: float | None
    surer: Annotated[float | None, Field(description="the share of entities more uncertain")]
    fact_count: int
    facts: list[Fact]
    measure: Literal["distance", "cosine"]
    neighbours: list[Neighbour]


class Relation(_Out):
    """A relation in training, with its statistics."""

    id: int
    name: str
    count: int
    category: str
    tails_per_head: float
    heads_per_tail: float
    symmetry: float
    inverse: str | None
    inverse_share: float
    uncertainty: float | None


class Relations(_Out):
    """A page of relations."""

    total: int
    offset: int
    relations: list[Relation]


class About(_Out):
    """A run: model, settings, sizes, metrics, and how it is searched."""

    data: str
    entities: int
    relations: int
    facts: dict[str, int]
    types: list[str]
    uncertainty: Annotated[
        list[float | None] | None,
        Field(description="of entities: the value below which 0, 1, … 100 % of them are"),
    ]
    model: dict[str, Any]
    training: dict[str, Any]
    best_epoch: int | None
    metrics: dict[str, Any]
    kgflow: str
    search: str


class Health(_Out):
    """Alive."""

    status: Literal["ok"]


class Problem(_Out):
    """What went wrong (RFC 9457)."""

    title: str
    status: int
    detail: str
