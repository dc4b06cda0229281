"""Answers as bytes."""

from typing import Any

from pydantic_core import to_json
from starlette.responses import Response

SEALED = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'"
"""A picture brings its own styles, and nothing else."""


def json(value: Any) -> Response:  # noqa: ANN401
    """JSON, in which numbers that are not finite are null."""
    # Checked against the schema by the tests, not at every answer.
    return Response(to_json(value, inf_nan_mode="null"), media_type="application/json")


def svg(text: str) -> Response:
    """A picture, which the browser may keep for a while."""
    headers = {"Content-Security-Policy": SEALED, "Cache-Control": "private, max-age=300"}
    return Response(text.encode(), headers=headers, media_type="image/svg+xml")
