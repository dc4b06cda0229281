"""Download of a graph from a SPARQL endpoint, page by page, to be continued after interruptions."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from kgflow.data.endpoint import Endpoint
from kgflow.data.iri import LABEL, TYPE, RdfOptions, expand
from kgflow.errors import KgflowError, require, suggest
from kgflow.io import write_atomic

PAGE_SIZE = 10_000
"""Statements per request; many public endpoints return no more."""

COUNT = """SELECT ?p (COUNT(*) AS ?all) (SUM(IF(isIRI(?s) && isIRI(?o), 1, 0)) AS ?facts)
  (SUM(IF(isLiteral(?o), 1, 0)) AS ?literals)
WHERE {{ {values} ?s ?p ?o }} GROUP BY ?p ORDER BY ?p"""
PAGE = """SELECT ?s ?o WHERE {{ ?s <{predicate}> ?o FILTER({condition}) }}
ORDER BY ?s ?o LIMIT {limit} OFFSET {offset}"""
FACTS = "isIRI(?s) && isIRI(?o)"
LABELS = 'isIRI(?s) && (LANG(?o) = "" || LANGMATCHES(LANG(?o), "{language}"))'


class Part(NamedTuple):
    """Statements of one predicate to download, and their number, if it is known."""

    predicate: str
    condition: str
    size: int | None


@dataclass
class State:
    """What a download asks for, and how far it came: written after every page."""

    request: list[Any]
    parts: list[Part]
    left_out: dict[str, int]
    part: int = 0
    offset: int = 0
    bytes: int = 0
    notices: list[str] = field(default_factory=list)


def download_graph(
    endpoint: Endpoint,
    directory: Path,
    options: RdfOptions | None = None,
    page_size: int = PAGE_SIZE,
    progress: Callable[[float], None] = lambda _: None,
) -> tuple[Path, tuple[str, ...]]:
    """Download the facts, types and labels of a graph; return an N-Triples file, and notices.

    The statements of a predicate are ordered and read in pages. The directory holds the pages so
    far: the same call continues there after an interruption. Literals other than labels are only
    counted, and so are statements with blank nodes, which have no lasting names at an endpoint.

    Args:
        endpoint: where the graph is.
        directory: place of the pages; to be removed when they were read.
        options: predicates to read, and the language of labels.
        page_size: statements per request.
        progress: called with the fraction of the facts that are there.
    """
    chosen = options or RdfOptions()
    directory.mkdir(parents=True, exist_ok=True)
    state = _state(endpoint, directory / "state.json", chosen)
    path = directory / "graph.nt"
    with path.open("ab") as file:
        file.truncate(state.bytes)  # a page after the last state is not known to be complete
        for rows in _pages(endpoint, state, page_size):
            _append(rows, file)
            state.bytes = file.tell()
            write_atomic(directory / "state.json", json.dumps(asdict(state)).encode())
            progress(_fraction(state))
    counts = [f"{reason}: {n:,}" for reason, n in state.left_out.items() if n]
    return path, tuple(f"{endpoint.shown}: {notice}" for notice in (*counts, *state.notices))


def _pages(endpoint: Endpoint, state: State, page_size: int) -> Iterator[list[Any]]:
    """Yield the statements of the next pages, and move the state past each before that."""
    ox = require("pyoxigraph", "a SPARQL endpoint", "rdf")
    while state.part < len(state.parts):
        predicate, condition, count = state.parts[state.part]
        query = PAGE.format(
            predicate=predicate, condition=condition, limit=page_size, offset=state.offset
        )
        # A server may return fewer than were asked for: only an empty page is the last one.
        found = endpoint.select(query)
        state.offset += len(found)
        if count is not None and not found:
            state.notices.append(
                f"statements of {predicate}: {state.offset:,} instead of {count:,}"
            )
        if not found or state.offset == count:
            state.part, state.offset = state.part + 1, 0
        yield [ox.Triple(row["s"], ox.NamedNode(predicate), row["o"]) for row in found]


def _append(rows: list[Any], file: Any) -> None:  # noqa: ANN401
    ox = require("pyoxigraph", "a SPARQL endpoint", "rdf")
    file.write(ox.serialize(rows, format=ox.RdfFormat.N_TRIPLES))
    file.flush()
    os.fsync(file.fileno())


def _fraction(state: State) -> float:
    counts = [part.size or 0 for part in state.parts]
    return (sum(counts[: state.part]) + state.offset) / max(1, sum(counts))


def _state(endpoint: Endpoint, path: Path, options: RdfOptions) -> State:
    """Read the state of an earlier download, or ask the endpoint what there is."""
    request = [endpoint.shown, list(options.include), list(options.exclude), options.language]
    if not path.exists():
        return _new_state(endpoint, request, options)
    values = json.loads(path.read_text(encoding="utf-8"))
    if values["request"] != request:
        raise KgflowError(
            f"{path.parent} holds an interrupted import with other options: repeat that one, "
            "or remove the directory"
        )
    values["parts"] = [Part(*part) for part in values["parts"]]
    return State(**values)


def _new_state(endpoint: Endpoint, request: list[Any], options: RdfOptions) -> State:
    iris = [expand(pattern) for pattern in options.include]
    named = " ".join(f"<{iri}>" for iri in iris)
    values = f"VALUES ?p {{ {named} }}" if iris and None not in iris else ""
    found = endpoint.select(COUNT.format(values=values))
    count = {
        row["p"].value: [int(row[name].value) for name in ("all", "facts", "literals")]
        for row in found
        if row["p"] is not None  # the sums over nothing, if no predicate is there
    }
    _check_patterns(endpoint, options, count)
    kept = [p for p in count if options.keeps(p)]
    parts = [Part(p, FACTS, count[p][1]) for p in kept if count[p][1]]
    parts += [] if TYPE in [p.predicate for p in parts] else [Part(TYPE, FACTS, None)]
    parts.append(Part(LABEL, LABELS.format(language=options.language), None))
    literals = sum(count[p][2] for p in kept if p != LABEL)
    blank = sum(all_ - facts - literals for all_, facts, literals in map(count.__getitem__, kept))
    left_out = {"triples with literals left out": literals}
    left_out |= {"triples with blank nodes left out": blank}
    return State(request, parts, left_out)


def _check_patterns(endpoint: Endpoint, options: RdfOptions, known: dict[str, list[int]]) -> None:
    for pattern in options.unmatched(known):
        if pattern in options.include:
            raise KgflowError(
                f"{endpoint.shown}: no predicate matches '{pattern}'{suggest(pattern, known)}: "
                "correct --include"
            )
