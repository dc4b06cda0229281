"""Routes of the explorer: the page, queries, explanations, rules, suggestions and plots."""

from importlib.resources import files
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response

from kgflow.serving import responses
from kgflow.serving.analysis import AnalysisService
from kgflow.serving.requests import MAX_NAME, AskRequest, ExplainRequest
from kgflow.serving.responses import json_response, problem_schemas, svg_response

router = APIRouter(prefix="/v1")
page_router = APIRouter(include_in_schema=False)

PAGE_PATHS = ("/", "/entity", "/relation", "/relations", "/query", "/ask", "/map")
"""Paths of the page, whose script shows the view of the path."""

MEDIA_TYPES = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:;"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

PAGE_FILES = {
    path.name: (path.read_bytes(), MEDIA_TYPES[path.name.rpartition(".")[2]])
    for path in (files("kgflow.serving") / "page").iterdir()
}
"""Content and media type by file name; read once, so that no request can reach other files."""

Name = Annotated[str, Query(max_length=MAX_NAME, description="Name, label or id.")]


def _analysis(request: Request) -> AnalysisService:
    analysis: AnalysisService = request.app.state.analysis
    return analysis


@page_router.get("/page/{name}")
async def page_file(name: str) -> Response:
    """Return a file of the page."""
    if name not in PAGE_FILES:
        raise HTTPException(404)
    content, media_type = PAGE_FILES[name]
    headers = {"Content-Security-Policy": PAGE_POLICY, "Cache-Control": "no-cache"}
    return Response(content, headers=headers, media_type=media_type)


async def _index() -> Response:
    return await page_file("index.html")


for _path in PAGE_PATHS:
    page_router.add_api_route(_path, _index, methods=["GET"])


@router.post(
    "/explain", response_model=responses.Explanation, responses=problem_schemas(400, 404, 503),
    summary="Explain a triple",
)  # fmt: skip
async def explain(body: ExplainRequest, request: Request) -> Response:
    """Return the rules that predict a triple, and the training triples most similar to it."""
    analysis, triple = _analysis(request), (body.head, body.relation, body.tail)
    return json_response({"reasons": await analysis.submit(analysis.explain, triple, body.n)})


@router.post(
    "/ask", response_model=responses.QueryAnswers, responses=problem_schemas(400, 503),
    summary="Answer a query of several hops",
)  # fmt: skip
async def ask(body: AskRequest, request: Request) -> Response:
    """Return the most probable answers with the facts that lead to each, and the query's graph."""
    analysis = _analysis(request)
    return json_response(await analysis.submit(analysis.ask, body.query, body.options))


@router.get(
    "/ask/examples", response_model=responses.QueryExamples, responses=problem_schemas(503),
    summary="Examples of queries of several hops",
)  # fmt: skip
async def examples(request: Request) -> Response:
    """Return queries of several hops that have answers in the graph."""
    analysis = _analysis(request)
    return json_response({"queries": await analysis.submit(lambda: analysis.examples)})


@router.get(
    "/rules", response_model=responses.Rules, responses=problem_schemas(404, 503),
    summary="Rules of a relation",
)  # fmt: skip
async def rules(request: Request, relation: Name) -> Response:
    """Return the rules of a relation that the model or the graph supports."""
    analysis = _analysis(request)
    i = analysis.service.resolve_relation(relation)
    return json_response({"rules": await analysis.submit(analysis.rules, i)})


@router.get(
    "/suggestions", response_model=responses.Suggestions, responses=problem_schemas(404, 503),
    summary="Predicted triples about an entity",
)  # fmt: skip
async def suggestions(
    request: Request,
    entity: Name,
    k: Annotated[int, Query(ge=1, le=100, description="Largest number of triples.")] = 15,
) -> Response:
    """Return the most probable unknown triples about an entity."""
    analysis = _analysis(request)
    i = analysis.service.resolve_entity(entity)
    return json_response({"answers": await analysis.submit(analysis.suggest, i, k)})


PLOT: dict[str, Any] = {
    "response_class": Response,
    "responses": {
        200: {"description": "SVG", "content": {"image/svg+xml": {"schema": {"type": "string"}}}},
        **problem_schemas(404, 503),
    },
}


@router.get("/plots/densities", summary="Densities of entities", **PLOT)
async def densities(
    request: Request, entity: Annotated[list[Name], Query(min_length=1, max_length=6)]
) -> Response:
    """Plot the densities of entities in the coordinate in which they differ most."""
    analysis = _analysis(request)
    ids = dict.fromkeys(analysis.service.resolve_entity(text) for text in entity)
    names = tuple(analysis.service.data.entities[i] for i in ids)
    return svg_response(await analysis.submit(analysis.densities, names))


@router.get("/plots/rules", summary="Histograms of the rules of a relation", **PLOT)
async def histograms(request: Request, relation: Name) -> Response:
    """Plot the statistics of the paper for the first rule of each kind."""
    analysis = _analysis(request)
    i = analysis.service.resolve_relation(relation)
    return svg_response(await analysis.submit(analysis.histograms, i))


@router.get("/plots/map", summary="Map of the entities", **PLOT)
async def entity_map(request: Request) -> Response:
    """Plot all entities in two dimensions."""
    analysis = _analysis(request)
    return svg_response(await analysis.submit(analysis.entity_map))
