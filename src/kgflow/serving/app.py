"""The ASGI application of the HTTP interface, version 1."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Annotated, Any

from fastapi import APIRouter, FastAPI, Path, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import PlainTextResponse, Response

from kgflow.runs.run import Run
from kgflow.search.saved_index import SelectedSearch
from kgflow.serving import explorer, responses
from kgflow.serving.batching import MAX_BATCH, MAX_QUEUE, Batcher, Job, compute_jobs
from kgflow.serving.middleware import RequestMetrics, RequestMiddleware, add_exception_handlers
from kgflow.serving.reload import Load, Reloader, install
from kgflow.serving.reload import router as reload_router
from kgflow.serving.requests import MAX_ITEMS, MAX_NAME, PredictRequest, ScoreRequest, to_queries
from kgflow.serving.responses import json_response, problem_schemas
from kgflow.serving.service import RunService

router = APIRouter(prefix="/v1")

Entropy = Annotated[bool, Query(description="Whether to return the entropy change in nats.")]
Limit = Annotated[int, Query(ge=1, le=MAX_ITEMS, description="Largest number of items.")]
Offset = Annotated[int, Query(ge=0, le=2**31, description="Number of items to skip.")]
Name = Annotated[str, Path(max_length=MAX_NAME, description="Name, label or id.")]


def create_app(
    run: Run,
    *,
    search: SelectedSearch | None = None,
    token: str | None = None,
    cors_origins: Sequence[str] = (),
    hosts: Sequence[str] = (),
    max_queue: int = MAX_QUEUE,
    max_batch: int = MAX_BATCH,
    load: Load | None = None,
) -> FastAPI:
    """Return the ASGI application that serves a run.

    Args:
        run: opened run.
        search: selected search of the run, for its description.
        token: bearer token that requests must have, or None for no authentication.
        cors_origins: origins whose pages may send requests.
        hosts: accepted host names, or none for any.
        max_queue: largest number of waiting queries; more get status 503.
        max_batch: largest number of queries in one matrix product.
        load: function that opens the run again, for SIGHUP and POST /v1/reload.
    """
    batcher: Batcher[Job, Any] = Batcher(compute_jobs, max_batch, max_queue=max_queue)
    metrics = RequestMetrics(batcher)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        await run_in_threadpool(app.state.service.warm_up)
        with app.state.reloader.on_signal():
            yield
        await batcher.close()
        await app.state.analysis.batcher.close()

    app = FastAPI(
        title="kgflow",
        version="1",
        description=f"Link prediction on the knowledge graph {run.data.name}.",
        openapi_url="/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
        responses=problem_schemas(401, 413, 422, 500),
    )
    install(app, RunService(run), search)
    app.state.batcher, app.state.reloader = batcher, Reloader(app, load)
    app.state.has_token = token is not None
    add_exception_handlers(app)
    for part in (router, reload_router, explorer.router, explorer.page_router):
        app.include_router(part)
    app.add_api_route(
        "/metrics", lambda: PlainTextResponse(metrics.text()), response_class=PlainTextResponse,
        summary="Prometheus metrics of the server",
    )  # fmt: skip
    app.add_middleware(RequestMiddleware, token=token, hosts=hosts, metrics=metrics)
    if cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(cors_origins),
            allow_methods=["GET", "POST"],
            allow_headers=["Authorization", "Content-Type"],
        )
    return app


def _service(request: Request) -> RunService:
    service: RunService = request.app.state.service
    return service


async def _compute(request: Request, jobs: Sequence[Job]) -> list[Any]:
    batcher: Batcher[Job, Any] = request.app.state.batcher
    return await batcher.submit(jobs)


@router.post(
    "/predict", response_model=responses.Answers, responses=problem_schemas(400, 404, 503),
    summary="Predict the best answers to queries",
)  # fmt: skip
async def predict(body: PredictRequest, request: Request) -> Response:
    """Predict tails of (head, relation), heads of (relation, tail) or relations of (head, tail).

    With `queries`, many queries are answered at once.
    """
    service, queries = _service(request), to_queries(body)
    types = tuple(sorted(set(body.types)))
    for query in queries:
        for name in (query.head, query.tail):
            if name is not None:
                service.entity_id(name)
        if query.relation is not None:
            service.relation_id(query.relation)
    service.check_types(body.types)
    options = (body.k, body.new, types)
    found = await _compute(request, [Job(service.answer, query, options) for query in queries])
    answers = [answer | {"query": i} for i, best in enumerate(found, start=1) for answer in best]
    return json_response({"answers": answers})


@router.post(
    "/score", response_model=responses.Scores, responses=problem_schemas(400, 404, 503),
    summary="Score triples",
)  # fmt: skip
async def score(body: ScoreRequest, request: Request) -> Response:
    """Return the score and probability of each triple, and whether it is known."""
    service = _service(request)
    for head, relation, tail in body.triples:
        service.entity_id(head)
        service.relation_id(relation)
        service.entity_id(tail)
    found = await _compute(request, [Job(service.score, triple) for triple in body.triples])
    return json_response({"scores": found})


@router.get("/entities", response_model=responses.Entities, summary="Search entities by name")
def entities(
    request: Request,
    q: Annotated[str, Query(max_length=MAX_NAME, description="Prefix or similar name.")] = "",
    limit: Limit = 20,
    offset: Offset = 0,
) -> Response:
    """Return entities whose name or label begins with q, then similar ones; without q, all."""
    service = _service(request)
    total, ids = service.search_entities(q, limit, offset)
    page = [service.entity_summary(i) for i in ids]
    return json_response({"total": total, "offset": offset, "entities": page})


@router.get(
    "/entities/{name:path}", response_model=responses.EntityDescription,
    responses=problem_schemas(404, 503), summary="Describe an entity",
)  # fmt: skip
async def entity(
    request: Request, name: Name, limit: Limit = 100, entropy: Entropy = False
) -> Response:
    """Return the label, types, known triples, certainty and nearest neighbours of an entity."""
    service = _service(request)
    job = Job(service.describe_entities, service.resolve_entity(name), (limit, entropy))
    (found,) = await _compute(request, [job])
    return json_response(found)


@router.get("/relations", response_model=responses.Relations, summary="List relations")
def relations(request: Request, limit: Limit = 100, offset: Offset = 0) -> Response:
    """Return the relations with their statistics in the training split."""
    found = _service(request).relation_statistics
    page = found[offset : offset + limit]
    return json_response({"total": len(found), "offset": offset, "relations": page})


@router.get(
    "/relations/{name:path}", response_model=responses.Relation, responses=problem_schemas(404),
    summary="Describe a relation",
)  # fmt: skip
def relation(request: Request, name: Name) -> Response:
    """Return the statistics of a relation in the training split."""
    service = _service(request)
    return json_response(service.relation_statistics[service.resolve_relation(name)])


@router.get("/run", response_model=responses.RunDescription, summary="Describe the run")
def describe_run(request: Request) -> Response:
    """Return model, settings, sizes, metrics and search method of the run."""
    found = _service(request).describe_run()
    return json_response(found | {"search": request.app.state.search})


@router.get("/metrics", response_model=dict[str, Any], summary="Ranking metrics of the run")
def ranking_metrics(request: Request) -> Response:
    """Return the filtered ranking metrics of each split."""
    return json_response(_service(request).run.metrics)


@router.get("/health", response_model=responses.Health, summary="Check the server")
async def health() -> Response:
    """Return the status of the server; no token is required."""
    return json_response({"status": "ok"})
