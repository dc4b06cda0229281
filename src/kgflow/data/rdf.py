"""Readers of RDF: files of seven formats, and directories of Oxigraph stores."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from kgflow.data import files
from kgflow.data.iri import LABEL, TYPE, RdfOptions, short_name, short_names
from kgflow.data.tables import NAMES, TripleTable
from kgflow.errors import KgflowError, require, suggest

RDF_FORMATS = dict(
    zip(
        files.RDF,
        ("N_TRIPLES", "N_QUADS", "TURTLE", "TRIG", "RDF_XML", "RDF_XML", "JSON_LD"),
        strict=True,
    )
)
GENERATED_LABEL = re.compile(r"[0-9a-f]{24,32}")


def read_rdf(path: Path, options: RdfOptions | None = None) -> TripleTable:
    """Read the facts, labels and types of an RDF file, of all its named graphs together."""
    return _read(_parse(path), path, options or RdfOptions())


def read_store(path: Path, options: RdfOptions | None = None) -> TripleTable:
    """Read the facts, labels and types of the directory of an Oxigraph store."""
    pyoxigraph = require("pyoxigraph", f"{path}: reading an Oxigraph store", "rdf")
    try:
        store = pyoxigraph.Store.read_only(str(path))
        quads = store.quads_for_pattern(None, None, None, None)
        return _read(quads, path, options or RdfOptions())
    except OSError as error:
        reason = str(error).splitlines()[0]
        raise KgflowError(f"{path}: not an Oxigraph store ({reason}): copy it again") from None


def _read(quads: Iterable[Any], path: Path, options: RdfOptions) -> TripleTable:
    graph = RdfGraph(options, NodeNames(path.name.split(".")[0]))
    for quad in quads:
        graph.add(quad)
    notices = [f"{path}: {notice}" for notice in graph.notices()]
    unmatched = options.unmatched(graph.predicates)
    if unmatched:
        known = [*graph.predicates, *map(short_name, graph.predicates)]
        hints = (f"no predicate matches '{p}'{suggest(p, known)}" for p in unmatched)
        notices += [f"{path}: {hint}" for hint in hints]
        if not graph.columns["head"]:
            raise KgflowError(f"{notices[-1]}: correct --include or --exclude")
    frame = pl.DataFrame(graph.columns, schema=dict.fromkeys(NAMES, pl.String))
    return TripleTable(frame, tuple(notices), graph.labels.best, graph.type_names())


@dataclass
class RdfGraph:
    """Facts between IRIs and blank nodes, labels and types of the statements added so far.

    Statements of rdf:type give types, and are facts like all others as well.
    """

    options: RdfOptions
    names: NodeNames
    columns: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in NAMES})
    types: dict[str, list[str]] = field(default_factory=dict)
    predicates: dict[str, bool] = field(default_factory=dict)
    """Whether each predicate is kept."""
    left_out: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.labels = Labels(self.options.language)

    def add(self, quad: Any) -> None:  # noqa: ANN401
        """Add one statement."""
        predicate = quad.predicate.value
        head, tail = self.names(quad.subject), self.names(quad.object)
        if tail is None or head is None:
            if predicate == LABEL and head is not None:
                self.labels.add(head, quad.object)
            else:
                self.left_out["triples with literals left out"] += 1
            return
        if predicate == TYPE:
            self.types.setdefault(head, []).append(tail)
        if predicate not in self.predicates:
            self.predicates[predicate] = self.options.keeps(predicate)
        if not self.predicates[predicate]:
            self.left_out["triples of excluded predicates left out"] += 1
            return
        for name, value in zip(NAMES, (head, predicate, tail), strict=True):
            self.columns[name].append(value)

    def notices(self) -> list[str]:
        """Return how many statements were left out, and why."""
        left_out = self.left_out.copy()
        left_out["labels in other languages left out"] = self.labels.left_out
        return [f"{reason}: {count:,}" for reason, count in left_out.items() if count]

    def type_names(self) -> dict[str, tuple[str, ...]]:
        """Return the types of each entity, by short names as far as these are unique."""
        short = short_names({t for several in self.types.values() for t in several})
        return {e: tuple(dict.fromkeys(short[t] for t in ts)) for e, ts in self.types.items()}


class Labels:
    """The best label of each entity: in the chosen language, its variants, or without language.

    Example:
        >>> import pyoxigraph as ox
        >>> labels = Labels("en")
        >>> for text, language in (("Wien", "de"), ("Vienna", None), ("Vienna!", "en-GB")):
        ...     labels.add("Q1741", ox.Literal(text, language=language))
        >>> labels.best, labels.left_out
        ({'Q1741': 'Vienna!'}, 1)
    """

    def __init__(self, language: str) -> None:
        self.language = language.lower()
        self.best: dict[str, str] = {}
        self.left_out = 0
        self._rank: dict[str, int] = {}

    def add(self, name: str, literal: Any) -> None:  # noqa: ANN401
        """Add a label; a tab or line break in it becomes a space."""
        rank = self._order((getattr(literal, "language", None) or "").lower())
        text = " ".join(str(literal.value).split())
        if rank is None or not text:
            self.left_out += 1
        elif rank < self._rank.get(name, 3):
            self._rank[name], self.best[name] = rank, text

    def _order(self, language: str) -> int | None:
        if language == self.language:
            return 0
        if language.startswith(f"{self.language}-"):
            return 1
        return None if language else 2


class NodeNames:
    """Names of the nodes of one RDF graph.

    The parser gives random labels to blank nodes without a label. They are replaced by the name of
    the graph and a number, so that a file always has the same names, and other files have others.
    """

    def __init__(self, graph: str) -> None:
        self._graph = graph
        self._numbered: dict[str, str] = {}

    def __call__(self, node: Any) -> str | None:  # noqa: ANN401
        """Return an IRI as it is, a blank node as _:label, and None for anything else."""
        kind = type(node).__name__
        if kind == "NamedNode":
            return str(node.value)
        if kind != "BlankNode":
            return None
        label = str(node.value)
        if GENERATED_LABEL.fullmatch(label):
            number = f"{self._graph}.{len(self._numbered) + 1}"
            label = self._numbered.setdefault(label, number)
        return f"_:{label}"


def _parse(path: Path) -> Iterator[Any]:
    pyoxigraph = require("pyoxigraph", f"{path}: reading RDF", "rdf")
    rdf_format = getattr(pyoxigraph.RdfFormat, RDF_FORMATS[files.file_format(path)])
    try:
        yield from pyoxigraph.parse(files.read_text(path), format=rdf_format)
    except SyntaxError as error:
        reason = str(error.msg or error).splitlines()[0].rstrip(".")
        line = "" if error.lineno is None else f":{error.lineno}"
        raise KgflowError(f"{path}{line}: {reason}: correct the line") from None
