"""The explorer's files."""

from importlib.resources import files

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.responses import Response

router = APIRouter(include_in_schema=False)

ADDRESSES = ("/", "/entity", "/relation", "/relations", "/ask", "/map")
"""What the page shows; which of them it is, its script finds out."""

KINDS = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:;"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

FILES = {
    path.name: (path.read_bytes(), KINDS[path.name.rpartition(".")[2]])
    for path in (files("kgflow.serving") / "page").iterdir()
}
"""Read once: no address can lead to another file."""


@router.get("/page/{name}")
async def file(name: str) -> Response:
    """One of them."""
    if name not in FILES:
        raise HTTPException(404)
    content, kind = FILES[name]
    headers = {"Content-Security-Policy": POLICY, "Cache-Control": "no-cache"}
    return Response(content, headers=headers, media_type=kind)


async def _page() -> Response:
    return await file("index.html")


for _address in ADDRESSES:
    router.add_api_route(_address, _page, methods=["GET"])
