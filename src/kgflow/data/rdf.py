"""RDF graphs as triples of names: N-Triples and Turtle, by pyoxigraph."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgflow.data import files
from kgflow.errors import KgflowError

if TYPE_CHECKING:
    import polars as pl

FORMATS = {".nt": "N_TRIPLES", ".ttl": "TURTLE"}
GENERATED = re.compile(r"[0-9a-f]{24,32}")


def read(path: Path) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """The triples between IRIs and blank nodes, and a notice of those with literals, left out."""
    import polars as pl

    columns: dict[str, list[str]] = {"head": [], "relation": [], "tail": []}
    left_out, named = 0, Names(path.name.split(".")[0])
    for quad in _parse(path):
        head, tail = named(quad.subject), named(quad.object)
        if head is None or tail is None:
            left_out += 1
            continue
        columns["head"].append(head)
        columns["relation"].append(quad.predicate.value)
        columns["tail"].append(tail)
    notice = f"{path}: triples with literals left out: {left_out:,}"
    frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
    return frame, (notice,) if left_out else ()


class Names:
    """Names for the nodes of one graph.

    Blank nodes that the file leaves without a label get a random one from the parser; they are
    numbered instead, after the file, so that it always gives the same names and no other file
    gives them.
    """

    def __init__(self, graph: str) -> None:
        self._graph = graph
        self._numbered: dict[str, str] = {}

    def __call__(self, node: Any) -> str | None:  # noqa: ANN401
        """An IRI as it is, a blank node as _:label, None for anything else."""
        kind = type(node).__name__
        if kind == "NamedNode":
            return str(node.value)
        if kind != "BlankNode":
            return None
        label = str(node.value)
        if GENERATED.fullmatch(label):
            number = f"{self._graph}.{len(self._numbered) + 1}"
            label = self._numbered.setdefault(label, number)
        return f"_:{label}"


def _parse(path: Path) -> Iterator[Any]:
    try:
        import pyoxigraph
    except ImportError:
        raise KgflowError(f"{path}: reading RDF needs pyoxigraph: install kgflow[rdf]") from None
    form = getattr(pyoxigraph.RdfFormat, FORMATS[files.kind(path)])
    try:
        yield from pyoxigraph.parse(files.content(path), format=form)
    except SyntaxError as error:
        reason = str(error.msg or error).rstrip(".")
        raise KgflowError(f"{path}:{error.lineno}: {reason}: correct the line") from None
