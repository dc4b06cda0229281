"""Export of predicted triples as a property graph: CSV for Neo4j's bulk import, APOC's JSON."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import Field

from kgflow.data import SPLITS
from kgflow.export.base import DirectoryFormat, ExportFormat, FileFormat
from kgflow.runs.run import Run
from kgflow.runs.store import model_digest


class Relationship(NamedTuple):
    """A relationship; a predicted one has the digest of the model, and its probability if known."""

    start: str
    type: str
    end: str
    model: str | None = None
    probability: float | None = None


class PredictedRelationships(ExportFormat):
    """The most probable triples that the graph does not contain, and their nodes.

    A relationship that is predicted has its probability and the digest of the model as properties.
    """

    k: Annotated[int, Field(ge=1, description="Number of predicted relationships.")] = 1_000
    known: Annotated[bool, Field(description="Write the known facts as well.")] = False

    def relationships(self, run: Run) -> Iterator[Relationship]:
        """Yield the known facts, if they are wanted, then the predicted ones."""
        data = run.data
        for split in SPLITS if self.known else ():
            for h, r, t in data.split(split).array().tolist():
                yield Relationship(data.entities[h], data.relations[r], data.entities[t])
        digest = model_digest(run.directory)
        for row in run.discover(self.k).iter_rows(named=True):
            triple = row["head"], row["relation"], row["tail"]
            yield Relationship(*triple, digest, row["probability"])


class Neo4jCsv(PredictedRelationships, DirectoryFormat):
    """nodes.csv and relationships.csv for ``neo4j-admin database import`` or ``LOAD CSV``."""

    name = "neo4j-csv"
    summary = "predicted relationships with probabilities, and their nodes, as CSV for Neo4j"

    def fill(self, run: Run, path: Path) -> None:
        found, data = list(self.relationships(run)), run.data
        with (path / "relationships.csv").open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file)
            rows.writerow([":START_ID", ":TYPE", ":END_ID", "model", "probability:double"])
            rows.writerows(found)  # None is an empty cell
        with (path / "nodes.csv").open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["id:ID", "name", ":LABEL"])
            for name in _nodes(found):
                types = (t.replace(";", ",") for t in data.types.get(name, ()))
                rows.writerow([name, data.labels.get(name, ""), ";".join(types)])


class ApocJson(PredictedRelationships, FileFormat):
    """JSON lines as those of ``apoc.export.json``, for ``apoc.import.json``."""

    name = "apoc"
    summary = "predicted relationships with probabilities, and their nodes, as APOC's JSON lines"

    def fill(self, run: Run, path: Path) -> None:
        found, data = list(self.relationships(run)), run.data
        nodes = {n: {"id": n, "labels": list(data.types.get(n, ()))} for n in _nodes(found)}
        with path.open("w", encoding="utf-8", newline="\n") as file:
            for name, node in nodes.items():
                label = {"name": data.labels[name]} if name in data.labels else {}
                record = {"type": "node", **node, "properties": {"id": name, **label}}
                _write_line(file, record)
            for i, one in enumerate(found):
                values = {"model": one.model, "probability": one.probability}
                record = {
                    "id": str(i),
                    "type": "relationship",
                    "label": one.type,
                    "properties": {k: v for k, v in values.items() if v is not None},
                    "start": nodes[one.start],
                    "end": nodes[one.end],
                }
                _write_line(file, record)


def _nodes(found: list[Relationship]) -> dict[str, None]:
    """Return the names of all nodes, each once."""
    return dict.fromkeys(name for one in found for name in (one.start, one.end))


def _write_line(file: Any, record: dict[str, Any]) -> None:  # noqa: ANN401
    file.write(json.dumps(record, ensure_ascii=False) + "\n")
