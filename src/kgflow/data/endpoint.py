"""SPARQL endpoints: queries and updates over HTTP, repeated when the server is busy."""

from __future__ import annotations

import base64
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

from kgflow.errors import KgflowError, require

TRIES = 5
"""Times that a request is sent at most."""
BUSY = (408, 425, 429, 500, 502, 503, 504)
"""HTTP status codes of requests that are sent again."""
MAX_PAUSE = 60.0


@dataclass(frozen=True)
class Endpoint:
    """A SPARQL endpoint by its address, which may contain user:password@ and parameters.

    Parameters of the address, such as ``?default-graph-uri=http://e.org/g``, are sent with each
    request. A request without an answer after `timeout` seconds, or with one of the codes in
    `BUSY`, is sent `TRIES` times in all, with growing pauses, or those that the server asks for.
    """

    address: str
    timeout: float = 60.0
    pause: float = field(default=1.0, repr=False)

    @property
    def shown(self) -> str:
        """The address without a password."""
        parts = urlsplit(self.address)
        return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))

    def select(self, query: str) -> list[Any]:
        """Return the solutions of a SELECT query."""
        ox = require("pyoxigraph", f"{self.shown}: reading from a SPARQL endpoint", "rdf")

        def parse(body: bytes) -> list[Any]:
            return list(ox.parse_query_results(body, format=ox.QueryResultsFormat.JSON))

        return list(self._send({"query": query}, "application/sparql-results+json", parse))

    def update(self, text: str) -> None:
        """Run a SPARQL update."""
        self._send({"update": text}, "*/*", len)

    def _send(self, fields: dict[str, str], accept: str, parse: Any) -> Any:  # noqa: ANN401
        request, error = self._request(fields, accept), ""
        for attempt in range(TRIES):
            pause = self.pause * 2**attempt
            try:
                with urllib.request.urlopen(request, timeout=self.timeout) as response:
                    return parse(response.read())
            except urllib.error.HTTPError as found:
                error = f"{found.code} {found.reason}"
                if found.code not in BUSY:
                    raise self._refusal(found) from None
                pause = _asked_pause(found.headers.get("Retry-After"), pause)
            except (OSError, HTTPException, SyntaxError) as found:
                error = str(found) or type(found).__name__
            if attempt < TRIES - 1:
                time.sleep(pause)
        raise KgflowError(
            f"{self.shown}: no answer in {TRIES} tries of {self.timeout:g} seconds "
            f"({error.splitlines()[0]}): try again later, or allow more time with --timeout"
        )

    def _request(self, fields: dict[str, str], accept: str) -> urllib.request.Request:
        parts = urlsplit(self.address)
        netloc = parts.netloc.rpartition("@")[2]
        body = urlencode([*parse_qsl(parts.query), *fields.items()]).encode()
        bare = urlunsplit(parts._replace(netloc=netloc, query="", fragment=""))
        request = urllib.request.Request(bare, body, {"Accept": accept, "User-Agent": "kgflow"})
        if parts.username is not None:
            secret = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
            request.add_header("Authorization", f"Basic {base64.b64encode(secret).decode()}")
        return request

    def _refusal(self, error: urllib.error.HTTPError) -> KgflowError:
        text = error.read(2000).decode(errors="replace").strip()
        said = f", {text.splitlines()[0][:200]}" if text else ""
        return KgflowError(
            f"{self.shown}: refused with {error.code} {error.reason}{said}: "
            "check the address and the rights of the user"
        )


def _asked_pause(header: str | None, pause: float) -> float:
    return min(float(header), MAX_PAUSE) if header and header.isdecimal() else pause
