"""What stands before the application: limits, the token, headers and counts."""

import hmac
import logging
import time
from collections.abc import Callable, Sequence

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kgflow.serving.problem import BODY, TOO_LARGE, problem
from kgflow.serving.static import ADDRESSES, FILES

LOG = logging.getLogger("kgflow.serving")

OPEN = frozenset({"/v1/health", *ADDRESSES, *(f"/page/{name}" for name in FILES)})
"""What needs no token: the page itself holds nothing of the run, and asks for one."""

HEADERS = (
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
)
"""Of every answer that does not set them itself."""

Observe = Callable[[Scope, int, float], None]
"""Told of a request, its status and its seconds."""


class Guard:
    """Refuses bodies that are too large and callers without the token; sets security headers.

    Args:
        app: what is guarded.
        token: what callers must know, if anything.
        hosts: the names under which it may be asked, or none for any. A page elsewhere can give its
            own name this machine's address: then its requests come under that name.
        observe: told of every request.
    """

    def __init__(
        self, app: ASGIApp, token: str | None, hosts: Sequence[str], observe: Observe
    ) -> None:
        self.app, self.hosts, self.observe = app, frozenset(hosts), observe
        self.secret = None if token is None else f"bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, or the life of the application."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status = time.perf_counter(), 0

        async def sealed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                given = {name for name, _ in message["headers"]}
                message["headers"] += [pair for pair in HEADERS if pair[0] not in given]
            await send(message)

        try:
            await self._guarded(scope, receive, sealed)
        except Exception:
            LOG.exception("a request failed")
            if status:  # half an answer is out: the server must cut it off
                raise
            say = problem(500, "something went wrong here: the server's log says what")
            await say(scope, receive, sealed)
        finally:
            self.observe(scope, status, time.perf_counter() - began)

    async def _guarded(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        if self.hosts and _name(headers.get("host", "").lower()) not in self.hosts:
            say = problem(400, "this service is not asked under that name: use its address")
            await say(scope, receive, send)
            return
        if not self._trusted(scope["path"], headers.get("authorization", "")):
            say = problem(401, "a bearer token is needed", {"WWW-Authenticate": "Bearer"})
            await say(scope, receive, send)
            return
        length, taken = headers.get("content-length", "0"), 0
        if not (length.isdigit() and len(length) < 10 and int(length) <= BODY):
            await problem(413, TOO_LARGE, {"Connection": "close"})(scope, receive, send)
            return

        async def counted() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > BODY:
                raise HTTPException(413)
            return message

        await self.app(scope, counted, send)

    def _trusted(self, path: str, given: str) -> bool:
        if self.secret is None or path in OPEN:
            return True
        scheme, _, token = given.partition(" ")
        claim = f"{scheme.lower()} {token}".encode()
        return hmac.compare_digest(claim, self.secret)


def _name(host: str) -> str:
    """A host without its port.

    Example:
        >>> _name("localhost:8000"), _name("[::1]:8000"), _name("evil.example")
        ('localhost', '[::1]', 'evil.example')
    """
    return host if host.endswith("]") else host.rpartition(":")[0] or host
