"""What the explorer asks for over HTTP: why, which rules, what is missing, pictures."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from kgflow.serving import response, schema
from kgflow.serving.problem import problems
from kgflow.serving.study import Study

router = APIRouter(prefix="/v1")

Name = Annotated[str, Query(max_length=schema.NAME, description="a name, a label or a number")]


def _study(request: Request) -> Study:
    study: Study = request.app.state.study
    return study


@router.post(
    "/explain", response_model=schema.Explanation, responses=problems(400, 404, 503),
    summary="Why a fact may be true",
)  # fmt: skip
async def explain(body: schema.ExplainRequest, request: Request) -> Response:
    """Rules that the model believes and the graph holds, and the training facts most like it."""
    triple = (body.head, body.relation, body.tail)
    return response.json({"reasons": await _study(request).explain(triple, body.n)})


@router.get(
    "/rules", response_model=schema.Rules, responses=problems(404, 503),
    summary="The rules of a relation",
)  # fmt: skip
async def rules(request: Request, relation: Name) -> Response:
    """What the model believes, beside what the graph holds."""
    study = _study(request)
    return response.json({"rules": await study.rules(study.catalogue.relation_key(relation))})


@router.get(
    "/suggestions", response_model=schema.Suggestions, responses=problems(404, 503),
    summary="What may be missing about an entity",
)  # fmt: skip
async def suggestions(
    request: Request,
    entity: Name,
    k: Annotated[int, Query(ge=1, le=100, description="how many, at most")] = 15,
) -> Response:
    """The most probable facts that are not known, over the relations that fit it."""
    study = _study(request)
    return response.json({"answers": await study.suggest(study.catalogue.entity_key(entity), k)})


PICTURE: dict[str, Any] = {
    "response_class": Response,
    "responses": {
        200: {"description": "SVG", "content": {"image/svg+xml": {"schema": {"type": "string"}}}},
        **problems(404, 503),
    },
}


@router.get("/pictures/densities", summary="Densities of entities", **PICTURE)
async def densities(
    request: Request, entity: Annotated[list[Name], Query(min_length=1, max_length=6)]
) -> Response:
    """In the coordinate that tells these entities apart best."""
    study = _study(request)
    ids = dict.fromkeys(study.catalogue.entity_key(text) for text in entity)
    return response.svg(await study.densities(tuple(study.catalogue.data.entities[i] for i in ids)))


@router.get("/pictures/rules", summary="Histograms of a relation's rules", **PICTURE)
async def histograms(request: Request, relation: Name) -> Response:
    """The paper's statistics of the first rule of each kind."""
    study = _study(request)
    return response.svg(await study.histograms(study.catalogue.relation_key(relation)))


@router.get("/pictures/map", summary="Map of the entities", **PICTURE)
async def map_(request: Request) -> Response:
    """All entities in two dimensions."""
    return response.svg(await _study(request).map())
