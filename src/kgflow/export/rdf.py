"""Export of predicted triples as RDF, to a file or a SPARQL endpoint."""

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

from pydantic import Field

from kgflow.data.endpoint import Endpoint
from kgflow.data.iri import LABEL, PREFIXES, is_address
from kgflow.errors import KgflowError, require
from kgflow.export.base import ExportFormat, FileFormat
from kgflow.runs.run import Run
from kgflow.runs.store import MODEL, model_digest

NAMESPACE = "urn:kgflow:"
RDF = PREFIXES["rdf"]
FACTS_PER_UPDATE = 1_000
"""Triples of one request, which a store inserts completely or not at all."""


class PredictedTriples(ExportFormat):
    """The most probable triples that the graph does not contain, with probability and provenance.

    They are described, not asserted: each is the subject of ``urn:kgflow:probability`` and of
    ``prov:wasGeneratedBy``, the node of the run. Triple terms of RDF 1.2 (RDF-star) describe a
    triple as ``fact rdf:reifies <<( head relation tail )>>``; with `reified`, rdf:Statement of
    RDF 1.0 does, which every RDF program can read.
    """

    k: Annotated[int, Field(ge=1, description="Number of triples.")] = 1_000
    reified: Annotated[bool, Field(description="Use rdf:Statement, not triple terms.")] = False

    def statements(self, run: Run, purpose: str) -> Iterator[list[Any]]:
        """Yield the statements about the run, then those about each triple."""
        ox = require("pyoxigraph", purpose, "rdf")
        digest = model_digest(run.directory)[:16]
        activity = ox.NamedNode(f"{NAMESPACE}run:{digest}")
        yield list(_provenance(ox, run, activity))
        for row in run.discover(self.k).iter_rows(named=True):
            fact = ox.NamedNode(f"{NAMESPACE}fact:{digest}:{row['rank']}")
            head, tail = (node(ox, "entity", row[side]) for side in ("head", "tail"))
            triple = ox.Triple(head, iri(ox, "relation", row["relation"]), tail)
            yield [
                *self._describe(ox, fact, triple),
                *_probability(ox, fact, row["probability"]),
                ox.Triple(fact, ox.NamedNode(f"{PREFIXES['prov']}wasGeneratedBy"), activity),
            ]

    def _describe(self, ox: Any, fact: Any, triple: Any) -> list[Any]:  # noqa: ANN401
        """Return the statements that make the node `fact` denote a triple."""
        if not self.reified:
            return [ox.Triple(fact, ox.NamedNode(f"{RDF}reifies"), triple)]
        parts = {part: getattr(triple, part) for part in ("subject", "predicate", "object")}
        properties = {"type": ox.NamedNode(f"{RDF}Statement"), **parts}
        return [ox.Triple(fact, ox.NamedNode(RDF + k), value) for k, value in properties.items()]


class NTriples(PredictedTriples, FileFormat):
    """N-Triples with triple terms of RDF 1.2."""

    name = "ntriples"
    summary = "predicted triples with probability and provenance, as RDF"

    def fill(self, run: Run, path: Path) -> None:
        ox = require("pyoxigraph", "RDF export", "rdf")
        with path.open("wb") as file:
            statements = chain.from_iterable(self.statements(run, "RDF export"))
            ox.serialize(statements, file, format=ox.RdfFormat.N_TRIPLES)


class ReifiedNTriples(NTriples):
    """N-Triples with rdf:Statement."""

    name = "ntriples-reified"
    summary = "predicted triples with probability and provenance, as rdf:Statement"
    reified: bool = True


class SparqlUpdate(PredictedTriples):
    """INSERT DATA requests of a thousand triples each; the same triples twice change nothing."""

    name = "sparql"
    summary = "predicted triples as RDF, inserted at the address of a SPARQL endpoint"
    graph: Annotated[
        str | None, Field(pattern=r"^[^\s<>\"{}|\\^`]+$", description="Named graph to insert into.")
    ] = None
    timeout: Annotated[float, Field(gt=0, description="Seconds to wait for an answer.")] = 60.0

    def write(self, run: Run, out: Path | str) -> str:
        if not is_address(out):
            raise KgflowError(f"{out} is not the address of a SPARQL endpoint: give http://…")
        endpoint = Endpoint(str(out), self.timeout)
        start, end = ("", "") if self.graph is None else (f"GRAPH <{self.graph}> {{\n", "}")
        groups = self.statements(run, "RDF export")
        while group := list(islice(groups, FACTS_PER_UPDATE)):
            body = "".join(f"{triple} .\n" for several in group for triple in several)
            endpoint.update(f"INSERT DATA {{\n{start}{body}{end}}}")
        return endpoint.shown


def _probability(ox: Any, fact: Any, value: float | None) -> list[Any]:  # noqa: ANN401
    """Return the statement about a probability, none if it is not known."""
    if value is None:
        return []
    return [ox.Triple(fact, ox.NamedNode(f"{NAMESPACE}probability"), ox.Literal(value))]


def _provenance(ox: Any, run: Run, activity: Any) -> Iterator[Any]:  # noqa: ANN401
    """Yield statements about a run: model, data, program, and when it was trained."""
    ended = datetime.fromtimestamp((run.directory / MODEL).stat().st_mtime, UTC)
    values = {
        f"{RDF}type": ox.NamedNode(f"{PREFIXES['prov']}Activity"),
        LABEL: ox.Literal(f"{run.config.model.name} on {run.data.name}"),
        f"{PREFIXES['prov']}endedAtTime": ox.Literal(
            f"{ended:%Y-%m-%dT%H:%M:%SZ}",
            datatype=ox.NamedNode(f"{PREFIXES['xsd']}dateTime"),
        ),
        f"{NAMESPACE}model": ox.Literal(run.config.model.name),
        f"{NAMESPACE}modelDigest": ox.Literal(model_digest(run.directory)),
        f"{NAMESPACE}dataDigest": ox.Literal(run.config.run.data_digest),
        f"{NAMESPACE}version": ox.Literal(run.config.run.kgflow),
    }
    for predicate, value in values.items():
        yield ox.Triple(activity, ox.NamedNode(predicate), value)


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
