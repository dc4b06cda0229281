"""Middleware and exception handlers: limits, token, security headers, Prometheus metrics."""

import hmac
import logging
import time
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kgflow.errors import KgflowError
from kgflow.serving.batching import Batcher, QueueFullError
from kgflow.serving.explorer import PAGE_FILES, PAGE_PATHS
from kgflow.serving.responses import problem_response
from kgflow.serving.service import UnknownNameError, shorten

LOG = logging.getLogger("kgflow.serving")

MAX_BODY = 2**20
"""Largest number of bytes of a request body."""
BODY_TOO_LARGE = f"the request body is larger than {MAX_BODY:,} bytes"

PUBLIC_PATHS = frozenset({"/v1/health", *PAGE_PATHS, *(f"/page/{name}" for name in PAGE_FILES)})
"""Paths without authentication; the page contains nothing of the run and asks for the token."""

DEFAULT_HEADERS = (
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
)
"""Headers of every response that does not set them itself."""

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
BATCH_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class RequestMetrics:
    """Prometheus metrics of requests and of the batches that answer them."""

    def __init__(self, batcher: Batcher[Any, Any]) -> None:
        registry = self.registry = CollectorRegistry()
        self.requests = Counter(
            "kgflow_requests", "Number of requests.", ["route", "status"], registry=registry
        )
        self.seconds = Histogram(
            "kgflow_request_seconds", "Duration of requests.", ["route"], buckets=SECONDS,
            registry=registry,
        )  # fmt: skip
        sizes = Histogram(
            "kgflow_batch_size", "Size of batches.", buckets=BATCH_SIZES, registry=registry
        )
        queue = Gauge("kgflow_queue_length", "Number of waiting jobs.", registry=registry)
        batcher.on_batch.append(sizes.observe)
        queue.set_function(lambda: len(batcher.queue))

    def observe(self, scope: Scope, status: int, seconds: float) -> None:
        """Count a request under its route: labels from names would be unlimited."""
        route = getattr(scope.get("route"), "path", "other")
        self.requests.labels(route, status).inc()
        self.seconds.labels(route).observe(seconds)

    def text(self) -> bytes:
        """Return all metrics in the Prometheus text format."""
        return generate_latest(self.registry)


class RequestMiddleware:
    """Check size, host and token of requests, set security headers, record metrics.

    Args:
        app: ASGI application.
        token: bearer token that requests must have, or None.
        hosts: accepted host names, or none for any. This prevents DNS rebinding: a page elsewhere
            that gives its own name this machine's address sends requests under that name.
        metrics: metrics of requests.
    """

    def __init__(
        self, app: ASGIApp, token: str | None, hosts: Sequence[str], metrics: RequestMetrics
    ) -> None:
        self.app, self.hosts, self.metrics = app, frozenset(hosts), metrics
        self.credentials = None if token is None else f"bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request, or pass on the lifespan events of the application."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, status = time.perf_counter(), 0

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                present = {name for name, _ in message["headers"]}
                message["headers"] += [pair for pair in DEFAULT_HEADERS if pair[0] not in present]
            await send(message)

        try:
            await self._handle(scope, receive, send_with_headers)
        except Exception:
            LOG.exception("a request failed")
            if status:  # the response has begun: the server must close the connection
                raise
            response = problem_response(500, "internal error: see the server log")
            await response(scope, receive, send_with_headers)
        finally:
            self.metrics.observe(scope, status, time.perf_counter() - start)

    async def _handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._check(scope["path"], Headers(scope=scope))
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        size = 0

        async def receive_limited() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > MAX_BODY:
                raise HTTPException(413)
            return message

        await self.app(scope, receive_limited, send)

    def _check(self, path: str, headers: Headers) -> Response | None:
        """Return the error response of a request that is not accepted."""
        if self.hosts and _host_name(headers.get("host", "").lower()) not in self.hosts:
            return problem_response(400, "unknown host name: use the address of the server")
        if not self._authorized(path, headers.get("authorization", "")):
            challenge = {"WWW-Authenticate": "Bearer"}
            return problem_response(401, "a bearer token is required", challenge)
        length = headers.get("content-length", "0")
        if not (length.isdigit() and len(length) < 10 and int(length) <= MAX_BODY):
            return problem_response(413, BODY_TOO_LARGE, {"Connection": "close"})
        return None

    def _authorized(self, path: str, authorization: str) -> bool:
        if self.credentials is None or path in PUBLIC_PATHS:
            return True
        scheme, _, token = authorization.partition(" ")
        return hmac.compare_digest(f"{scheme.lower()} {token}".encode(), self.credentials)


def _host_name(host: str) -> str:
    """Return a host without its port.

    Example:
        >>> _host_name("localhost:8000"), _host_name("[::1]:8000"), _host_name("evil.example")
        ('localhost', '[::1]', 'evil.example')
    """
    return host if host.endswith("]") else host.rpartition(":")[0] or host


def add_exception_handlers(app: FastAPI) -> None:
    """Make every error of an application an application/problem+json response."""

    @app.exception_handler(RequestValidationError)
    async def _(_: Request, error: RequestValidationError) -> Response:
        return problem_response(422, _sentence(error.errors()[0]))

    @app.exception_handler(HTTPException)
    async def _(request: Request, error: HTTPException) -> Response:
        details = {
            404: "this path does not exist",
            405: f"this path does not accept {request.method}",
            400: "the request body is not valid JSON",
            413: BODY_TOO_LARGE,
        }
        detail = details.get(error.status_code, HTTPStatus(error.status_code).description)
        return problem_response(error.status_code, detail or "bad request", error.headers)

    @app.exception_handler(QueueFullError)
    async def _(_: Request, __: QueueFullError) -> Response:
        retry = {"Retry-After": "1"}
        return problem_response(503, "too many requests are waiting: try again", retry)

    @app.exception_handler(UnknownNameError)
    async def _(_: Request, error: UnknownNameError) -> Response:
        return problem_response(404, str(error))

    @app.exception_handler(KgflowError)
    async def _(_: Request, error: KgflowError) -> Response:
        return problem_response(422, str(error))


def _sentence(error: Mapping[str, Any]) -> str:
    """Return a validation error as one sentence with its location."""
    if error["type"] == "json_invalid":
        return "the request body is not valid JSON"
    location = ".".join(str(part)[:40] for part in _location(error["loc"]))
    message = error["msg"][0].lower() + error["msg"][1:]
    given = error.get("input")
    value = f" ({shorten(given)})" if isinstance(given, str) and location else ""
    return f"{location}{value}: {message}" if location else message


def _location(loc: Sequence[str | int]) -> list[str | int]:
    """Return the location in the request without the tags of the kinds of queries."""
    kinds = {"head", "relation", "tail", "batch"}
    return [
        part
        for last, part in zip([None, *loc], loc, strict=False)
        if part not in ("body", "query", "path", "header")
        and not (part in kinds and (last == "body" or isinstance(last, int)))
    ]
