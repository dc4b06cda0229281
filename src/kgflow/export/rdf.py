"""Export of predicted triples as RDF."""

from abc import abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

from pydantic import Field

from kgflow.errors import require
from kgflow.export.base import FileFormat
from kgflow.runs.run import Run

NAMESPACE = "urn:kgflow:"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"


class PredictedTriples(FileFormat):
    """The most probable triples that the graph does not contain, with their probabilities.

    They are described, not asserted: each is the subject of ``urn:kgflow:confidence``.
    """

    k: Annotated[int, Field(ge=1, description="Number of triples.")] = 1_000

    def fill(self, run: Run, path: Path) -> None:
        ox = require("pyoxigraph", "RDF export", "rdf")
        found = run.discover(self.k)
        with path.open("wb") as file:
            ox.serialize(self._statements(ox, found), file, format=ox.RdfFormat.N_TRIPLES)

    def _statements(self, ox: Any, found: Any) -> Iterator[Any]:  # noqa: ANN401
        confidence = ox.NamedNode(f"{NAMESPACE}confidence")
        for row in found.iter_rows(named=True):
            fact = ox.NamedNode(f"{NAMESPACE}fact:{row['rank']}")
            head, tail = (node(ox, "entity", row[side]) for side in ("head", "tail"))
            triple = ox.Triple(head, iri(ox, "relation", row["relation"]), tail)
            yield from self.describe(ox, fact, triple)
            if row["probability"] is not None:
                yield ox.Triple(fact, confidence, ox.Literal(float(row["probability"])))

    @abstractmethod
    def describe(self, ox: Any, fact: Any, triple: Any) -> list[Any]:  # noqa: ANN401
        """Return the RDF statements that make the node `fact` denote a triple."""


class NTriples(PredictedTriples):
    """Triple terms of RDF 1.2 (RDF-star): ``fact rdf:reifies <<( head relation tail )>>``."""

    name = "ntriples"
    summary = "predicted triples with their probabilities, as RDF 1.2 triple terms"

    def describe(self, ox: Any, fact: Any, triple: Any) -> list[Any]:  # noqa: ANN401
        return [ox.Triple(fact, ox.NamedNode(f"{RDF}reifies"), triple)]


class ReifiedNTriples(PredictedTriples):
    """Reification of RDF 1.0 (rdf:Statement), which every RDF program can read."""

    name = "ntriples-reified"
    summary = "predicted triples with their probabilities, as rdf:Statement"

    def describe(self, ox: Any, fact: Any, triple: Any) -> list[Any]:  # noqa: ANN401
        parts = {part: getattr(triple, part) for part in ("subject", "predicate", "object")}
        properties = {"type": ox.NamedNode(f"{RDF}Statement"), **parts}
        return [ox.Triple(fact, ox.NamedNode(RDF + k), value) for k, value in properties.items()]


def iri(ox: Any, kind: str, name: str) -> Any:  # noqa: ANN401
    """Return a name as an IRI: itself if it is one, else urn:kgflow:kind:name, percent-encoded."""
    if "://" in name or name.startswith("urn:"):
        try:
            return ox.NamedNode(name)
        except ValueError:
            pass
    return ox.NamedNode(f"{NAMESPACE}{kind}:{quote(name, safe='')}")


def node(ox: Any, kind: str, name: str) -> Any:  # noqa: ANN401
    """Return a name as an RDF node: a blank node for names such as _:b1, else as `iri`."""
    if name.startswith("_:"):
        try:
            return ox.BlankNode(name[2:])
        except ValueError:
            pass
    return iri(ox, kind, name)
