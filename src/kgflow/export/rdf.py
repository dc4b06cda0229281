"""Predicted facts as RDF."""

from abc import abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from kgflow.errors import KgflowError
from kgflow.export.format import FileFormat
from kgflow.runs.run import Run

SPACE = "urn:kgflow:"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
K = 1_000
"""How many facts, unless told."""


class FactFormat(FileFormat):
    """The most likely facts that the graph does not hold, with how likely they are.

    They are described, not stated: each is the subject of ``urn:kgflow:confidence``.

    Args:
        k: how many.
    """

    def __init__(self, k: int = K) -> None:
        self.k = k

    def fill(self, run: Run, file: Path) -> None:
        """As `Run.discover` finds them."""
        ox = _pyoxigraph()
        found = run.discover(self.k)
        with file.open("wb") as out:
            ox.serialize(self._statements(ox, found), out, format=ox.RdfFormat.N_TRIPLES)

    def _statements(self, ox: Any, found: Any) -> Iterator[Any]:  # noqa: ANN401
        confidence = ox.NamedNode(f"{SPACE}confidence")
        for row in found.iter_rows(named=True):
            fact = ox.NamedNode(f"{SPACE}fact:{row['rank']}")
            head, tail = (node(ox, "entity", row[side]) for side in ("head", "tail"))
            triple = ox.Triple(head, iri(ox, "relation", row["relation"]), tail)
            yield from self.describe(ox, fact, triple)
            yield ox.Triple(fact, confidence, ox.Literal(float(row["probability"])))

    @abstractmethod
    def describe(self, ox: Any, fact: Any, triple: Any) -> list[Any]:  # noqa: ANN401
        """The triples that make a node stand for a triple."""


class NTriples(FactFormat):
    """By triple terms of RDF 1.2 (RDF-star): ``fact rdf:reifies <<( head relation tail )>>``."""

    name = "ntriples"
    about = "predicted facts with confidence, RDF 1.2 triple terms"

    def describe(self, ox: Any, fact: Any, triple: Any) -> list[Any]:  # noqa: ANN401
        """One."""
        return [ox.Triple(fact, ox.NamedNode(f"{RDF}reifies"), triple)]


class ReifiedNTriples(FactFormat):
    """By the reification of RDF 1.0, which every RDF program reads."""

    name = "ntriples-reified"
    about = "the same by rdf:Statement, for older programs"

    def describe(self, ox: Any, fact: Any, triple: Any) -> list[Any]:  # noqa: ANN401
        """Four."""
        said = {
            "type": ox.NamedNode(f"{RDF}Statement"),
            "subject": triple.subject,
            "predicate": triple.predicate,
            "object": triple.object,
        }
        return [ox.Triple(fact, ox.NamedNode(RDF + key), value) for key, value in said.items()]


def iri(ox: Any, kind: str, name: str) -> Any:  # noqa: ANN401
    """A name that is an address as it is; any other as urn:kgflow:kind:name, percent-encoded."""
    if "://" in name or name.startswith("urn:"):
        try:
            return ox.NamedNode(name)
        except ValueError:
            pass
    return ox.NamedNode(f"{SPACE}{kind}:{quote(name, safe='')}")


def node(ox: Any, kind: str, name: str) -> Any:  # noqa: ANN401
    """As `iri`, and names such as _:b1 as blank nodes."""
    if name.startswith("_:"):
        try:
            return ox.BlankNode(name[2:])
        except ValueError:
            pass
    return iri(ox, kind, name)


def _pyoxigraph() -> Any:  # noqa: ANN401
    try:
        import pyoxigraph
    except ImportError:
        raise KgflowError("writing RDF needs pyoxigraph: install kgflow[rdf]") from None
    return pyoxigraph
