"""Errors as application/problem+json, in one sentence that gives nothing away (RFC 9457)."""

import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from kgflow.errors import KgflowError
from kgflow.serving.batcher import BusyError
from kgflow.serving.catalogue import UnknownNameError, shorten
from kgflow.serving.schema import Problem

MEDIA = "application/problem+json"
BODY = 2**20
"""Bytes of a request, at most."""
TOO_LARGE = f"the body is larger than {BODY:,} bytes"


def problem(status: int, detail: str, headers: Mapping[str, str] | None = None) -> Response:
    """The answer that tells of an error."""
    body = {"title": HTTPStatus(status).phrase, "status": status, "detail": detail}
    return Response(json.dumps(body), status, dict(headers or {}), MEDIA)


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """What OpenAPI says of errors."""
    content = {MEDIA: {"schema": Problem.model_json_schema()}}
    return {status: {"description": "A problem", "content": content} for status in statuses}


def install(app: FastAPI) -> None:
    """Make every error of an application a problem."""

    @app.exception_handler(RequestValidationError)
    async def _(_: Request, error: RequestValidationError) -> Response:
        return problem(422, _sentence(error.errors()[0]))

    @app.exception_handler(HTTPException)
    async def _(request: Request, error: HTTPException) -> Response:
        details = {
            404: "there is nothing at this address",
            405: f"{request.method} is not for this address",
            400: "the body cannot be read as JSON",
            413: TOO_LARGE,
        }
        detail = details.get(error.status_code, HTTPStatus(error.status_code).description)
        return problem(error.status_code, detail or "not possible", error.headers)

    @app.exception_handler(BusyError)
    async def _(_: Request, __: BusyError) -> Response:
        return problem(503, "too many questions wait already: try again", {"Retry-After": "1"})

    @app.exception_handler(UnknownNameError)
    async def _(_: Request, error: UnknownNameError) -> Response:
        return problem(404, str(error))

    @app.exception_handler(KgflowError)
    async def _(_: Request, error: KgflowError) -> Response:
        return problem(422, str(error))


def _sentence(error: Mapping[str, Any]) -> str:
    if error["type"] == "json_invalid":
        return "the body is not JSON"
    place = ".".join(str(part)[:40] for part in _place(error["loc"]))
    message = error["msg"][0].lower() + error["msg"][1:]
    given = error.get("input")
    value = f" ({shorten(given)})" if isinstance(given, str) and place else ""
    return f"{place}{value}: {message}" if place else message


def _place(loc: Sequence[str | int]) -> list[str | int]:
    """Where in the body or the address it is; the kinds of questions are no places in it."""
    kinds = {"head", "relation", "tail", "batch"}
    before = [None, *loc]
    return [
        part
        for last, part in zip(before, loc, strict=False)
        if part not in ("body", "query", "path", "header")
        and not (part in kinds and (last == "body" or isinstance(last, int)))
    ]
