"""Python client of the HTTP interface."""

import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from kgflow.errors import KgflowError
from kgflow.queries.answers import COLUMNS as QUERY_COLUMNS
from kgflow.runs.answers import COLUMNS, SCORE_COLUMNS

if TYPE_CHECKING:
    import polars as pl

TIMEOUT = 60.0
"""Seconds to wait for a response."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follow no redirect: the token is for one server only."""

    def redirect_request(self, *_: object) -> None:
        return None


class Client:
    """Client of ``kgflow serve``, with the methods and data frames of a run.

    Args:
        url: URL of the server.
        token: bearer token of the server, if it requires one.

    Example:
        >>> client = Client("http://127.0.0.1:8000")
        >>> client.predict(head="France", relation="borders", k=5)  # doctest: +SKIP
    """

    def __init__(self, url: str, token: str | None = None) -> None:
        if urlsplit(url).scheme not in ("http", "https"):
            raise KgflowError(f"'{url}' is not a URL: give one such as http://127.0.0.1:8000")
        if token is not None and not (token and token.isascii() and token.isprintable()):
            raise KgflowError("the token is empty or not printable ASCII")
        self.url, self.token = url.rstrip("/"), token
        self._opener = urllib.request.build_opener(_NoRedirects)

    def predict(
        self,
        head: str | None = None,
        relation: str | None = None,
        tail: str | None = None,
        k: int = 10,
        new: bool = False,
        types: Sequence[str] = (),
    ) -> "pl.DataFrame":
        """Return the k best answers to a query, as `kgflow.Run.predict` does."""
        query = _given(head=head, relation=relation, tail=tail)
        return self._answers(query, k, new, types)

    def predict_many(
        self,
        queries: Sequence[tuple[str | None, str | None, str | None]],
        k: int = 10,
        new: bool = False,
        types: Sequence[str] = (),
    ) -> "pl.DataFrame":
        """Return the answers to many queries (head, relation, tail), one part of each None."""
        if not queries:
            return _frame([], COLUMNS)
        bodies = [_given(head=h, relation=r, tail=t) for h, r, t in queries]
        return self._answers({"queries": bodies}, k, new, types)

    def score(self, triples: Sequence[tuple[str, str, str]]) -> "pl.DataFrame":
        """Return the scores of triples, as `kgflow.Run.score` does."""
        if not triples:
            return _frame([], SCORE_COLUMNS)
        body = {"triples": [list(triple) for triple in triples]}
        return _frame(self.post("score", body)["scores"], SCORE_COLUMNS)

    def ask(
        self,
        query: str,
        k: int = 10,
        new: bool = False,
        model_only: bool = False,
        existential: str = "max",
        method: str = "beam",
    ) -> "pl.DataFrame":
        """Return the answers to a query of several hops, as `kgflow.Run.ask` does."""
        body = {
            "query": query,
            "k": k,
            "new": new,
            "model_only": model_only,
            "existential": existential,
            "method": method,
        }
        rows = self.post("ask", body)["answers"]
        return _frame([row | {"witness": row["witness"]["text"]} for row in rows], QUERY_COLUMNS)

    def entity(self, name: str) -> dict[str, Any]:
        """Return the description of an entity by name, label or id."""
        return self.get(f"entities/{quote(name, safe='')}")

    def reload(self) -> dict[str, Any]:
        """Let the server load its run again after an update; it needs the token."""
        return self.post("reload", {})

    def get(self, path: str) -> dict[str, Any]:
        """Return the JSON object of a GET request to a path below /v1."""
        return self._call(urllib.request.Request(f"{self.url}/v1/{path}"))

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Return the JSON object of a POST request to a path below /v1."""
        headers = {"Content-Type": "application/json"}
        content = json.dumps(body).encode()
        return self._call(urllib.request.Request(f"{self.url}/v1/{path}", content, headers))

    def _answers(
        self, query: dict[str, Any], k: int, new: bool, types: Sequence[str]
    ) -> "pl.DataFrame":
        names = [types] if isinstance(types, str) else list(types)
        body = query | {"k": k, "new": new, "types": names}
        return _frame(self.post("predict", body)["answers"], COLUMNS)

    def _call(self, request: urllib.request.Request) -> dict[str, Any]:
        if self.token is not None:
            request.add_header("Authorization", f"Bearer {self.token}")
        try:
            with self._opener.open(request, timeout=TIMEOUT) as response:
                found = json.load(response)
        except urllib.error.HTTPError as error:
            raise KgflowError(_detail(error)) from None
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", None) or error
            raise KgflowError(
                f"{self.url} does not respond ({reason}): start it with `kgflow serve`"
            ) from None
        except ValueError:
            raise KgflowError(f"{self.url} is not a kgflow server") from None
        if not isinstance(found, dict):
            raise KgflowError(f"{self.url} is not a kgflow server")
        return found


def _given(**parts: str | None) -> dict[str, Any]:
    return {name: part for name, part in parts.items() if part is not None}


def _detail(error: urllib.error.HTTPError) -> str:
    """Return the error message of the server, if it has one."""
    with error:
        try:
            return str(json.load(error)["detail"])
        except (ValueError, KeyError, TypeError):
            return f"{error.url} responds with {error.code} {error.reason}"


def _frame(rows: list[dict[str, Any]], columns: dict[str, type]) -> "pl.DataFrame":
    import polars as pl

    return pl.DataFrame(
        {name: [row[name] for row in rows] for name in columns}, schema=columns, strict=False
    )
