"""Readers of property graphs: CSV files of Neo4j's bulk import, and JSON lines of APOC."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl

from kgflow.data import files
from kgflow.data.tables import NAMES, TripleTable
from kgflow.errors import KgflowError

FIELD = re.compile(r"[^:]*:(ID|START_ID|END_ID|LABEL|TYPE)(?:\(([^)]*)\))?(?:\{.*\})?")
DISPLAYED = ("name", "title", "label")
"""Properties that give a node its label, the first of them that it has."""


def is_neo4j_header(cells: Sequence[str]) -> bool:
    """Return whether a row is the header of a file for Neo4j's bulk import.

    Example:
        >>> is_neo4j_header(["personId:ID(Person)", "name", ":LABEL"])
        True
        >>> is_neo4j_header(["subject", "predicate", "object"])
        False
    """
    kinds = {match[1] for match in map(FIELD.fullmatch, cells) if match}
    return "ID" in kinds or "START_ID" in kinds


def read_neo4j(paths: Sequence[Path]) -> TripleTable:
    """Read the nodes or relationships of files with one header, the first row of the first file."""
    rows = chain.from_iterable(_rows(path) for path in paths)
    where, cells = next(rows, (str(paths[0]), []))
    header, graph = Header.parse(cells, where), PropertyGraph()
    for where, row in rows:
        cells = row + [""] * (len(header.names) - len(row))
        if len(cells) > len(header.names):
            raise KgflowError(
                f"{where}: {len(cells)} columns where the header has {len(header.names)}: "
                "correct the row"
            )
        if header.of_nodes:
            properties = dict(zip(header.names, cells, strict=True))
            labels = [one for i in header.of("LABEL") for one in cells[i].split(";")]
            graph.add_node(header.node("ID", cells, where), labels, properties)
        else:
            start, end = (header.node(end, cells, where) for end in ("START_ID", "END_ID"))
            graph.add_relationship(start, end, cells[header.of("TYPE")[0]], where)
    return graph.table(paths[0], len(header.properties))


def read_apoc(path: Path) -> TripleTable:
    """Read the nodes and relationships of a file of ``apoc.export.json``."""
    graph, properties = PropertyGraph(), set[str]()
    for number, line in enumerate(files.read_text(path).splitlines(), start=1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        record = _record(line, where)
        if record["type"] == "node":
            graph.add_node(*_apoc_node(record, where), record.get("properties") or {})
        else:
            start, end = (_apoc_node(record.get(end), where) for end in ("start", "end"))
            for name, labels in (start, end):
                graph.types.setdefault(name, tuple(labels))
            graph.add_relationship(start[0], end[0], record.get("label"), where)
        properties |= set(record.get("properties") or {})
    return graph.table(path, len(properties - set(DISPLAYED)))


def _rows(path: Path) -> Iterator[tuple[str, list[str]]]:
    files.require_readable(path)
    for line, cells in files.text_rows(path, files.read_text(path)):
        yield f"{path}:{line}", cells


@dataclass(frozen=True)
class Header:
    """Columns of a CSV file for Neo4j: their kinds, id groups and property names."""

    kinds: tuple[str | None, ...]
    groups: tuple[str, ...]
    names: tuple[str, ...]

    @classmethod
    def parse(cls, cells: Sequence[str], where: str) -> Header:
        """Parse a header such as ``id:ID(Person), name, age:int, :LABEL``."""
        found = [FIELD.fullmatch(cell) for cell in cells]
        kinds = tuple(match[1] if match else None for match in found)
        groups = tuple((match[2] if match else None) or "" for match in found)
        header = cls(kinds, groups, tuple(cell.split(":")[0].strip() for cell in cells))
        needed = ("ID",) if "ID" in kinds else ("START_ID", "TYPE", "END_ID")
        wrong = [kind for kind in needed if len(header.of(kind)) != 1]
        if wrong:
            raise KgflowError(
                f"{where}: {len(header.of(wrong[0]))} columns :{wrong[0]} in the header "
                f"{','.join(cells)!r}: give one"
            )
        return header

    @property
    def of_nodes(self) -> bool:
        """Whether the rows are nodes."""
        return "ID" in self.kinds

    @property
    def properties(self) -> list[str]:
        """Names of the properties that are not read."""
        pairs = zip(self.names, self.kinds, strict=True)
        return [n for n, kind in pairs if kind is None and n.lower() not in DISPLAYED]

    def of(self, kind: str) -> list[int]:
        """Return the positions of the columns of a kind."""
        return [i for i, found in enumerate(self.kinds) if found == kind]

    def node(self, kind: str, cells: Sequence[str], where: str) -> str:
        """Return the name of a node: its id, after its id group if it has one."""
        place = self.of(kind)[0]
        if not cells[place]:
            raise KgflowError(f"{where}: the :{kind} is empty: give an id")
        group = self.groups[place]
        return f"{group}:{cells[place]}" if group else cells[place]


@dataclass
class PropertyGraph:
    """Nodes and relationships added so far."""

    columns: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in NAMES})
    labels: dict[str, str] = field(default_factory=dict)
    types: dict[str, tuple[str, ...]] = field(default_factory=dict)
    nodes: set[str] = field(default_factory=set)

    def add_node(self, name: str, labels: Sequence[str], properties: Mapping[str, Any]) -> None:
        """Add a node with its Neo4j labels, which are its types, and its properties."""
        self.nodes.add(name)
        self.types[name] = tuple(dict.fromkeys(one for one in labels if one))
        values = {key.lower(): value for key, value in properties.items()}
        shown = next((values[key] for key in DISPLAYED if values.get(key) not in (None, "")), "")
        if text := " ".join(str(shown).split()):
            self.labels[name] = text

    def add_relationship(self, start: str, end: str, relation: Any, where: str) -> None:  # noqa: ANN401
        """Add a relationship."""
        if not relation or not isinstance(relation, str):
            raise KgflowError(f"{where}: the relationship has no type: give one")
        for name, value in zip(NAMES, (start, relation, end), strict=True):
            self.columns[name].append(value)

    def table(self, path: Path, properties: int) -> TripleTable:
        """Return the graph as a table; `properties` is the number of properties left out."""
        frame = pl.DataFrame(self.columns, schema=dict.fromkeys(NAMES, pl.String))
        notices = (f"{path}: properties left out: {properties:,}",) if properties else ()
        types = {name: found for name, found in self.types.items() if found}
        return TripleTable(frame, notices, self.labels, types, frozenset(self.nodes))


def _record(line: bytes, where: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict) or record.get("type") not in ("node", "relationship"):
        raise KgflowError(
            f"{where}: not a node or relationship of apoc.export.json: export again with "
            "jsonFormat JSON_LINES"
        )
    return record


def _apoc_node(node: Any, where: str) -> tuple[str, list[str]]:  # noqa: ANN401
    if not isinstance(node, dict) or not isinstance(node.get("id"), str | int) or node["id"] == "":
        raise KgflowError(f"{where}: a node has no id: export the graph again")
    return str(node["id"]), [str(one) for one in node.get("labels") or ()]
