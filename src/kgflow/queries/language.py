"""The query language: graph patterns with UNION, FILTER NOT EXISTS and MINUS, as in SPARQL."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from kgflow.errors import KgflowError

MAX_TEXT = 20_000
"""Largest number of characters of a query."""
MAX_PATTERNS = 64
"""Largest number of triple patterns and of nested groups of a query."""

KEYWORDS = {"SELECT", "DISTINCT", "WHERE", "PREFIX", "UNION", "FILTER", "NOT", "EXISTS", "MINUS"}
UNSUPPORTED = {"OPTIONAL", "BIND", "VALUES", "GRAPH", "SERVICE", "ORDER", "LIMIT", "GROUP", "ASK",
               "CONSTRUCT", "DESCRIBE", "OFFSET", "HAVING"}  # fmt: skip

_TOKEN = re.compile(
    r"""(?P<space>\s+)
    | (?P<quoted>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    | (?P<iri><[^<>\s]*>)
    | (?P<symbol>[{}])
    | (?P<word>[^\s{}"'<][^\s{}]*)""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class Term:
    """Variable, name or symbol, and where it begins in the text.

    Args:
        kind: "variable", "name", "keyword", "symbol" or "end".
        text: Name without quotes, variable without question mark, keyword in capitals.
        position: Index of its first character.
        bare: Whether it is a name without quotes, which may have a prefix.
    """

    kind: str
    text: str
    position: int = field(default=0, compare=False)
    bare: bool = field(default=False, compare=False)

    @property
    def is_variable(self) -> bool:
        """Whether it is a variable."""
        return self.kind == "variable"

    def __str__(self) -> str:
        return f"?{self.text}" if self.is_variable else self.text


@dataclass(frozen=True)
class TriplePattern:
    """Head, relation and tail, of which head and tail may be variables."""

    head: Term
    relation: Term
    tail: Term

    @property
    def position(self) -> int:
        """Index of the first character."""
        return self.head.position

    def variables(self) -> set[str]:
        """Return the variables."""
        return {end.text for end in (self.head, self.tail) if end.is_variable}


@dataclass(frozen=True)
class UnionPattern:
    """Groups of which at least one holds."""

    parts: tuple["Group", ...]
    position: int

    def variables(self) -> set[str]:
        """Return the variables of all parts."""
        return set().union(*(part.variables() for part in self.parts))


@dataclass(frozen=True)
class NegationPattern:
    """A group that does not hold: FILTER NOT EXISTS or MINUS."""

    group: "Group"
    position: int

    def variables(self) -> set[str]:
        """Return the variables of the group."""
        return self.group.variables()


Pattern = TriplePattern | UnionPattern | NegationPattern


@dataclass
class Group:
    """Patterns that hold together."""

    position: int
    patterns: list[Pattern] = field(default_factory=list)

    def variables(self) -> set[str]:
        """Return the variables outside of negations, which alone may connect patterns."""
        positive = (p for p in self.patterns if not isinstance(p, NegationPattern))
        return set().union(*(pattern.variables() for pattern in positive))


@dataclass(frozen=True)
class ParsedQuery:
    """Parsed query: its text, its patterns, and the variable that is asked for."""

    text: str
    group: Group
    target: Term


def query_error(text: str, position: int, message: str) -> KgflowError:
    """Return an error that names line and column of a place in the text of a query."""
    line = text.count("\n", 0, position) + 1
    column = position - text.rfind("\n", 0, position)
    return KgflowError(f"query:{line}:{column}: {message}")


def parse_query(text: str) -> ParsedQuery:
    """Parse a query.

    Patterns are head, relation and tail, separated by dots; ``;`` repeats the head and ``,`` the
    head and the relation. Names with spaces are quoted. The variable asked for is that of SELECT,
    or else the last one outside of negations.

    Example:
        >>> query = parse_query("France borders ?x . ?x has_currency ?c")
        >>> query.target.text, len(query.group.patterns)
        ('c', 2)
        >>> parse_query("France borders")
        Traceback (most recent call last):
        kgflow.errors.KgflowError: query:1:15: the pattern ends before its tail: write head,
        relation and tail
    """
    return _Parser(text).query()


class _Parser:
    """Recursive descent over the terms of a text."""

    def __init__(self, text: str) -> None:
        if len(text) > MAX_TEXT:
            raise KgflowError(f"the query has {len(text):,} characters: shorten it to {MAX_TEXT:,}")
        self.text, self.terms, self.at = text, [*_terms(text)], 0
        self.prefixes: dict[str, str] = {}
        self.last: Term | None = None
        self.count = self.depth = 0

    def query(self) -> ParsedQuery:
        while self._take("PREFIX"):
            self._prefix()
        selected = self._select() if self._take("SELECT") else None
        if selected and self._take("WHERE") and self._ahead().text != "{":
            raise self._error("write { after WHERE")
        group = Group(self._ahead().position)
        self._patterns(group, negated=False)
        if self._ahead().kind != "end":
            raise self._error("there is no { that this } closes")
        target = selected or self.last
        if target is None:
            sentence = "the query has no variable: write ?x where the answer belongs"
            raise query_error(self.text, 0, sentence)
        return ParsedQuery(self.text, group, target)

    def _ahead(self) -> Term:
        return self.terms[self.at]

    def _next(self) -> Term:
        self.at += 1
        return self.terms[self.at - 1]

    def _take(self, *words: str) -> bool:
        """Skip keywords or symbols if they come next."""
        ahead = [t.text if t.kind in ("keyword", "symbol") else "" for t in self.terms[self.at :]]
        found = ahead[: len(words)] == list(words)
        self.at += len(words) * found
        return found

    def _error(self, message: str, term: Term | None = None) -> KgflowError:
        return query_error(self.text, (term or self._ahead()).position, message)

    def _prefix(self) -> None:
        name, iri = self._next(), self._ahead()
        if not name.text.endswith(":") or iri.kind != "name" or iri.bare:
            raise self._error("write a prefix as PREFIX ex: <http://example.org/>", name)
        self.prefixes[name.text] = self._next().text

    def _select(self) -> Term:
        self._take("DISTINCT")
        if not self._ahead().is_variable:
            raise self._error("SELECT takes one variable, such as SELECT ?x")
        chosen = self._next()
        if self._ahead().is_variable:
            raise self._error("SELECT takes one variable: ask for the others by other queries")
        return chosen

    def _patterns(self, group: Group, negated: bool) -> None:
        """Read patterns up to the end of the group."""
        while self._ahead().kind != "end" and self._ahead().text != "}":
            start = self._ahead()
            if self._ahead().text == "{" and self._ahead().kind == "symbol":
                self._union(group, negated)
            elif self._take("FILTER", "NOT", "EXISTS") or self._take("MINUS"):
                inner = self._braces(negated=True)
                group.patterns.append(NegationPattern(inner, start.position))
            elif start.kind == "keyword":
                raise self._error(f"{start.text} is not expected here: quote it if it is a name")
            else:
                self._triples(group, negated)
            self._take(".")

    def _braces(self, negated: bool) -> Group:
        opening = self._ahead()
        if not self._take("{"):
            raise self._error("write the patterns of this group in { }")
        self.depth += 1
        if self.depth > MAX_PATTERNS:
            raise self._error(
                f"groups are nested more than {MAX_PATTERNS} deep: simplify the query"
            )
        group = Group(opening.position)
        self._patterns(group, negated)
        if not self._take("}"):
            raise self._error("this { is not closed by }", opening)
        self.depth -= 1
        if not group.patterns:
            raise self._error("this group is empty: write a pattern in it", opening)
        return group

    def _union(self, group: Group, negated: bool) -> None:
        start, parts = self._ahead().position, [self._braces(negated)]
        while self._take("UNION"):
            parts.append(self._braces(negated))
        if len(parts) == 1:
            group.patterns += parts[0].patterns
        else:
            group.patterns.append(UnionPattern(tuple(parts), start))

    def _triples(self, group: Group, negated: bool) -> None:
        head = self._term("head", negated)
        relation = self._term("relation", negated)
        while True:
            self.count += 1
            if self.count > MAX_PATTERNS:
                raise self._error(f"the query has more than {MAX_PATTERNS} patterns: shorten it")
            tail = self._term("tail", negated)
            group.patterns.append(TriplePattern(head, relation, tail))
            if self._take(","):
                continue
            if not self._take(";"):
                break
            relation = self._term("relation", negated)
        if self._ahead().kind in ("name", "variable"):
            raise self._error("write a dot before this pattern")

    def _term(self, part: str, negated: bool) -> Term:
        term = self._ahead()
        if term.kind not in ("name", "variable"):
            if term.kind == "keyword":
                raise self._error(f"{term.text} is not expected here: quote it if it is a name")
            missing = f"the pattern ends before its {part}: write head, relation and tail"
            raise self._error(missing)
        self.at += 1
        if term.is_variable and part == "relation":
            raise self._error(
                f"the relation ?{term.text} is a variable: name a relation, or use kgflow predict"
                " --head --tail",
                term,
            )
        if term.is_variable and not negated:
            self.last = term
        return _expand(term, self.prefixes)


def _expand(term: Term, prefixes: Mapping[str, str]) -> Term:
    prefix, colon, local = term.text.partition(":")
    if term.kind != "name" or not term.bare or prefix + colon not in prefixes:
        return term
    return Term("name", prefixes[prefix + colon] + local, term.position)


def _terms(text: str) -> Iterator[Term]:
    """Split a text into terms, with one of kind "end" after them."""
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            quote = "<" if text[at] == "<" else "quotation mark"
            raise query_error(text, at, f"this {quote} is not closed")
        at = found.end()
        kind, word = str(found.lastgroup), found.group()
        if kind == "word":
            yield from _word(text, word, found.start())
        elif kind == "quoted":
            yield Term("name", re.sub(r"\\(.)", r"\1", word[1:-1], flags=re.DOTALL), found.start())
        elif kind == "iri":
            yield Term("name", word[1:-1], found.start())
        elif kind == "symbol":
            yield Term("symbol", word, found.start())
    yield Term("end", "", len(text))


def _word(text: str, word: str, start: int) -> Iterator[Term]:
    name = word.rstrip(".;,")
    if name:
        yield _name(text, name, start)
    for place, symbol in enumerate(word[len(name) :], start + len(name)):
        yield Term("symbol", symbol, place)


def _name(text: str, name: str, start: int) -> Term:
    if name[0] in "?$":
        if len(name) == 1:
            raise query_error(text, start, "this variable has no name: write one such as ?x")
        return Term("variable", name[1:], start)
    if name.upper() in KEYWORDS:
        return Term("keyword", name.upper(), start)
    if name in UNSUPPORTED:
        raise query_error(
            text, start, f"{name} is not supported: use patterns, UNION, FILTER NOT EXISTS, MINUS"
        )
    return Term("name", name, start, bare=True)


def is_bare(name: str) -> bool:
    """Return whether a name may stand in a query without quotes."""
    try:
        found = [*_terms(name)]
    except KgflowError:
        return False
    return len(found) == 2 and found[0].bare and ":" not in name
