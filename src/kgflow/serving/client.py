"""A served run, asked as if it were here."""

import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from kgflow.errors import KgflowError
from kgflow.runs.answers import COLUMNS, SCORE_COLUMNS

if TYPE_CHECKING:
    import polars as pl

SECONDS = 60.0
"""How long an answer may take."""


class _Stay(urllib.request.HTTPRedirectHandler):
    """Follows nowhere: a token is for one server only."""

    def redirect_request(self, *_: object) -> None:
        return None


class Client:
    """The other end of ``kgflow serve``.

    Args:
        url: where it listens.
        token: what it wants to be told, if anything.

    Example:
        >>> client = Client("http://127.0.0.1:8000")
        >>> client.predict(head="France", relation="borders", k=5)  # doctest: +SKIP
    """

    def __init__(self, url: str, token: str | None = None) -> None:
        if urlsplit(url).scheme not in ("http", "https"):
            raise KgflowError(f"'{url}' is no address: give one such as http://127.0.0.1:8000")
        if token is not None and not (token and token.isascii() and token.isprintable()):
            raise KgflowError("the token is empty or holds more than printable ASCII")
        self.url, self.token = url.rstrip("/"), token
        self._opener = urllib.request.build_opener(_Stay)

    def predict(
        self,
        head: str | None = None,
        relation: str | None = None,
        tail: str | None = None,
        k: int = 10,
        new: bool = False,
        types: Sequence[str] = (),
    ) -> "pl.DataFrame":
        """As `kgflow.Run.predict`."""
        asked = _given(head=head, relation=relation, tail=tail)
        return self._answers(asked, k, new, types)

    def predict_many(
        self,
        questions: Sequence[tuple[str | None, str | None, str | None]],
        k: int = 10,
        new: bool = False,
        types: Sequence[str] = (),
    ) -> "pl.DataFrame":
        """Answers to many (head, relation, tail), each with None for what is asked."""
        if not questions:
            return _frame([], COLUMNS)
        queries = [_given(head=h, relation=r, tail=t) for h, r, t in questions]
        return self._answers({"queries": queries}, k, new, types)

    def score(self, triples: Sequence[tuple[str, str, str]]) -> "pl.DataFrame":
        """As `kgflow.Run.score`."""
        if not triples:
            return _frame([], SCORE_COLUMNS)
        return _frame(
            self.post("score", {"triples": [list(t) for t in triples]})["scores"], SCORE_COLUMNS
        )

    def entity(self, name: str) -> dict[str, Any]:
        """All that is known of an entity, by name, label or number."""
        return self.get(f"entity/{quote(name, safe='')}")

    def get(self, path: str) -> dict[str, Any]:
        """What is at an address below /v1."""
        return self._call(urllib.request.Request(f"{self.url}/v1/{path}"))

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """What an address below /v1 answers to a JSON object."""
        headers = {"Content-Type": "application/json"}
        content = json.dumps(body).encode()
        return self._call(urllib.request.Request(f"{self.url}/v1/{path}", content, headers))

    def _answers(
        self, asked: dict[str, Any], k: int, new: bool, types: Sequence[str]
    ) -> "pl.DataFrame":
        kinds = [types] if isinstance(types, str) else list(types)
        body = asked | {"k": k, "new": new, "types": kinds}
        return _frame(self.post("predict", body)["answers"], COLUMNS)

    def _call(self, request: urllib.request.Request) -> dict[str, Any]:
        if self.token is not None:
            request.add_header("Authorization", f"Bearer {self.token}")
        try:
            with self._opener.open(request, timeout=SECONDS) as answer:
                found = json.load(answer)
        except urllib.error.HTTPError as error:
            raise KgflowError(_reason(error)) from None
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", None) or error
            raise KgflowError(f"{self.url} does not answer ({reason}): is it served?") from None
        except ValueError:
            raise KgflowError(f"{self.url} does not answer as kgflow does") from None
        if not isinstance(found, dict):
            raise KgflowError(f"{self.url} does not answer as kgflow does")
        return found


def _given(**parts: str | None) -> dict[str, Any]:
    return {name: part for name, part in parts.items() if part is not None}


def _reason(error: urllib.error.HTTPError) -> str:
    """The server's sentence, if it has one."""
    with error:
        try:
            return str(json.load(error)["detail"])
        except (ValueError, KeyError, TypeError):
            return f"{error.url} answers with {error.code} {error.reason}"


def _frame(rows: list[dict[str, Any]], columns: dict[str, type]) -> "pl.DataFrame":
    import polars as pl

    return pl.DataFrame(
        {name: [row[name] for row in rows] for name in columns}, schema=columns, strict=False
    )
