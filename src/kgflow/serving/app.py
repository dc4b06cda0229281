"""The HTTP interface, version 1."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, FastAPI, Path, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import PlainTextResponse, Response

from kgflow.runs.run import Run
from kgflow.search.saved import Choice
from kgflow.serving import explorer, problem, response, schema, static
from kgflow.serving.batcher import BOUND, SIZE, Batcher
from kgflow.serving.catalogue import Catalogue
from kgflow.serving.counts import Counts
from kgflow.serving.guard import Guard
from kgflow.serving.jobs import Ask, Job, Look, Weigh, worker
from kgflow.serving.study import Study

router = APIRouter(prefix="/v1")

Limit = Annotated[int, Query(ge=1, le=schema.MANY, description="how many, at most")]
Offset = Annotated[int, Query(ge=0, le=2**31, description="how many to pass over")]
Key = Annotated[str, Path(max_length=schema.NAME, description="a name, a label or a number")]


@dataclass(frozen=True)
class Desk:
    """What requests are answered from."""

    run: Run
    catalogue: Catalogue
    batcher: Batcher[Job, Any]
    search: str


def create_app(
    run: Run,
    *,
    choice: Choice | None = None,
    token: str | None = None,
    cors: Sequence[str] = (),
    hosts: Sequence[str] = (),
    queue: int = BOUND,
    batch: int = SIZE,
) -> FastAPI:
    """An ASGI application that answers from a run.

    Args:
        run: an opened run.
        choice: how it searches, for its description.
        token: what callers must send as ``Authorization: Bearer …``; None lets everyone in.
        cors: the origins whose pages may call.
        hosts: the names under which it may be asked; any if none is given.
        queue: questions that may wait; more get a 503.
        batch: questions answered in one matrix product, at most.
    """
    batcher: Batcher[Job, Any] = Batcher(worker(run), size=batch, bound=queue)
    desk = Desk(run, Catalogue(run), batcher, choice.sentence if choice else "exact search")
    study, counts = Study(desk.catalogue), Counts(batcher)

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        await run_in_threadpool(_warm, desk)
        yield
        await batcher.close()
        await study.close()

    app = FastAPI(
        title="kgflow",
        version="1",
        description=f"Ranked answers from a model of {run.data.name}.",
        openapi_url="/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=life,
        responses=problem.problems(401, 413, 422, 500),
    )
    app.state.desk, app.state.study = desk, study
    problem.install(app)
    for part in (router, explorer.router, static.router):
        app.include_router(part)
    app.add_api_route(
        "/metrics", lambda: PlainTextResponse(counts.text()), response_class=PlainTextResponse,
        summary="Counts for Prometheus",
    )  # fmt: skip
    app.add_middleware(Guard, token=token, hosts=hosts, observe=counts.observe)
    if cors:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(cors),
            allow_methods=["GET", "POST"],
            allow_headers=["Authorization", "Content-Type"],
        )
    return app


def _warm(desk: Desk) -> None:
    """Make what the first question would have to wait for."""
    _ = desk.catalogue.names
    _ = desk.run.predictor.known
    _ = desk.run.predictor.entropy
    data = desk.run.data
    if len(data.relations):
        desk.run.predict(head=data.entities[0], relation=data.relations[0], k=1)


def _desk(request: Request) -> Desk:
    desk: Desk = request.app.state.desk
    return desk


@router.post(
    "/predict", response_model=schema.Answers, responses=problem.problems(400, 404, 503),
    summary="The best answers to questions",
)  # fmt: skip
async def predict(body: schema.PredictRequest, request: Request) -> Response:
    """Tails of (head, relation), heads of (relation, tail), relations of (head, tail); or many."""
    desk = _desk(request)
    asked, types = schema.questions(body), tuple(sorted(set(body.types)))
    for question in asked:
        for side in (question.head, question.tail):
            if side is not None:
                desk.catalogue.entity_id(side)
        if question.relation is not None:
            desk.catalogue.relation_id(question.relation)
    desk.catalogue.check_types(body.types)
    found = await desk.batcher.ask([Ask(q, body.k, body.new, types) for q in asked])
    rows = [row | {"query": i} for i, rows in enumerate(found, start=1) for row in rows]
    return response.json({"answers": rows})


@router.post(
    "/score", response_model=schema.Scores, responses=problem.problems(400, 404, 503),
    summary="The scores of facts",
)  # fmt: skip
async def score(body: schema.ScoreRequest, request: Request) -> Response:
    """Score and probability of each triple, and whether it is a known fact."""
    desk = _desk(request)
    for head, relation, tail in body.triples:
        desk.catalogue.entity_id(head)
        desk.catalogue.relation_id(relation)
        desk.catalogue.entity_id(tail)
    found = await desk.batcher.ask([Weigh((h, r, t)) for h, r, t in body.triples])
    return response.json({"scores": found})


@router.get("/entities", response_model=schema.Entities, summary="Entities by name")
def entities(
    request: Request,
    q: Annotated[str, Query(max_length=schema.NAME, description="a beginning, or nearly so")] = "",
    limit: Limit = 20,
    offset: Offset = 0,
) -> Response:
    """Those whose name or label begins with q, then those like it; all without q."""
    catalogue = _desk(request).catalogue
    total, ids = catalogue.find_entities(q, limit, offset)
    page = [catalogue.entity(i) for i in ids]
    return response.json({"total": total, "offset": offset, "entities": page})


@router.get(
    "/entity/{key:path}", response_model=schema.AboutEntity, responses=problem.problems(404, 503),
    summary="An entity",
)  # fmt: skip
async def entity(request: Request, key: Key, limit: Limit = 100) -> Response:
    """Its label, types, known facts, uncertainty, and neighbours in the embedding."""
    desk = _desk(request)
    number = desk.catalogue.entity_key(key)
    (found,) = await desk.batcher.ask([Look(desk.catalogue, number, limit)])
    return response.json(found)


@router.get("/relations", response_model=schema.Relations, summary="Relations")
def relations(request: Request, limit: Limit = 100, offset: Offset = 0) -> Response:
    """All relations with their statistics in training."""
    found = _desk(request).catalogue.relations
    page = found[offset : offset + limit]
    return response.json({"total": len(found), "offset": offset, "relations": page})


@router.get(
    "/relations/{key:path}", response_model=schema.Relation, responses=problem.problems(404),
    summary="A relation",
)  # fmt: skip
def relation(request: Request, key: Key) -> Response:
    """Its statistics in training."""
    catalogue = _desk(request).catalogue
    return response.json(catalogue.relations[catalogue.relation_key(key)])


@router.get("/run", response_model=schema.About, summary="The run")
def about(request: Request) -> Response:
    """Model, settings, sizes and metrics."""
    desk = _desk(request)
    return response.json(desk.catalogue.about_run() | {"search": desk.search})


@router.get("/metrics", response_model=dict[str, Any], summary="The run's metrics")
def metrics(request: Request) -> Response:
    """Filtered ranking metrics of its splits, with ties won, shared and lost."""
    return response.json(_desk(request).run.metrics)


@router.get("/health", response_model=schema.Health, summary="Whether it lives")
async def health() -> Response:
    """Needs no token."""
    return response.json({"status": "ok"})
