"""IRIs: prefixes that everybody knows, short names for people, and patterns of predicates."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from urllib.parse import unquote

from kgflow.errors import KgflowError

PREFIXES = {
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "prov": "http://www.w3.org/ns/prov#",
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcterms": "http://purl.org/dc/terms/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "schema": "http://schema.org/",
    "schemas": "https://schema.org/",
    "wd": "http://www.wikidata.org/entity/",
    "wdt": "http://www.wikidata.org/prop/direct/",
    "dbr": "http://dbpedia.org/resource/",
    "dbo": "http://dbpedia.org/ontology/",
    "dbp": "http://dbpedia.org/property/",
}
"""Namespaces by prefix, which need not be declared."""

TYPE, LABEL = f"{PREFIXES['rdf']}type", f"{PREFIXES['rdfs']}label"
IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s<>\"{}|\\^`]+")


def is_address(source: object) -> bool:
    """Return whether a source is the address of an endpoint and not a path."""
    return str(source).startswith(("http://", "https://"))


def short_name(name: str) -> str:
    """Return an IRI as a prefixed name or its last part, and any other name as it is.

    Example:
        >>> short_name("http://www.wikidata.org/entity/Q42"), short_name("http://e.org/a#born%20in")
        ('wd:Q42', 'born in')
        >>> short_name("New York"), short_name("http://e.org/")
        ('New York', 'http://e.org/')
    """
    if "://" not in name or not IRI.fullmatch(name):
        return name
    for prefix, namespace in PREFIXES.items():
        local = name.removeprefix(namespace)
        if local and local != name and not set("/#") & set(local):
            return f"{prefix}:{local}"
    last = re.split(r"[/#]", name)[-1]
    return unquote(last) or name


def expand(text: str) -> str | None:
    """Return the IRI of an IRI or a prefixed name with a known prefix, else None.

    Example:
        >>> expand("rdf:type")
        'http://www.w3.org/1999/02/22-rdf-syntax-ns#type'
        >>> expand("borders"), expand("http://e.org/*")
        (None, None)
    """
    if "*" in text:
        return None
    if IRI.fullmatch(text):
        return text
    prefix, _, local = text.partition(":")
    found = PREFIXES.get(prefix, "") + local
    return found if IRI.fullmatch(found) else None


def short_names(names: Iterable[str]) -> dict[str, str]:
    """Return the short name of each name, or the name itself if its short name is not unique.

    Example:
        >>> short_names(["http://a.org/x", "http://b.org/x", "http://b.org/y"])
        {'http://a.org/x': 'http://a.org/x', 'http://b.org/x': 'http://b.org/x',
        'http://b.org/y': 'y'}
    """
    short = {name: short_name(name) for name in names}
    count = Counter(short.values())
    return {name: s if count[s] == 1 else name for name, s in short.items()}


@dataclass(frozen=True)
class RdfOptions:
    """Statements of an RDF graph that become facts, and the language of labels.

    A pattern is an IRI, a prefixed name, or the last part of an IRI; * stands for any characters.

    Example:
        >>> options = RdfOptions(include=("schema:*", "borders"), exclude=("*Place",))
        >>> [options.keeps(f"http://schema.org/{name}") for name in ("spouse", "birthPlace")]
        [True, False]
        >>> options.keeps("http://e.org/borders"), options.keeps("http://e.org/name")
        (True, False)
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    language: str = "en"

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z]+(-[A-Za-z0-9]+)*", self.language):
            raise KgflowError(f"{self.language!r} is no language: give a tag such as en or pt-BR")

    def keeps(self, predicate: str) -> bool:
        """Return whether statements of a predicate become facts."""
        wanted = not self.include or any(matches(p, predicate) for p in self.include)
        return wanted and not any(matches(p, predicate) for p in self.exclude)

    def unmatched(self, predicates: Iterable[str]) -> list[str]:
        """Return the patterns that match none of some predicates."""
        known = list(predicates)
        patterns = (*self.include, *self.exclude)
        return [p for p in patterns if not any(matches(p, one) for one in known)]


def matches(pattern: str, predicate: str) -> bool:
    """Return whether a pattern matches the IRI or the short name of a predicate."""
    return fnmatchcase(predicate, expand(pattern) or pattern) or fnmatchcase(
        short_name(predicate), pattern
    )
