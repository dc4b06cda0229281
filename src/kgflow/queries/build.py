"""From a parsed query to a tree: names become ids, and patterns branches of the answer."""

from collections.abc import Sequence

from kgflow.data import Dataset
from kgflow.errors import KgflowError
from kgflow.queries.language import (
    Group,
    NegationPattern,
    ParsedQuery,
    Pattern,
    Term,
    TriplePattern,
    UnionPattern,
    parse_query,
    query_error,
)
from kgflow.queries.tree import Anchor, Anything, Intersection, Negation, Node, Projection, Union


def read_query(text: str, data: Dataset) -> Node:
    """Parse a query and look up its names.

    Raises:
        KgflowError: The query is no tree, or has an unknown name; the message begins with line and
            column.

    Example:
        >>> import kgflow
        >>> world = kgflow.load("world")
        >>> type(read_query("France borders ?x . ?x has_currency ?c", world)).__name__
        'Projection'
        >>> read_query("France borders ?x . ?x borders France . ?x bordres ?y", world)
        Traceback (most recent call last):
        kgflow.errors.KgflowError: query:1:44: unknown relation 'bordres'; did you mean borders?
    """
    return _Builder(parse_query(text), data).tree()


class _Builder:
    def __init__(self, query: ParsedQuery, data: Dataset) -> None:
        self.query, self.data, self.R = query, data, len(data.relations)

    def tree(self) -> Node:
        target, group = self.query.target, self.query.group
        if target.text not in group.variables():
            raise self._error(target.position, f"{target} is in no pattern outside of negations")
        return self._group(group, target.text)

    def _group(self, group: Group, variable: str) -> Node:
        """Return the set of values of a variable for which the patterns of a group hold."""
        places = {id(p): self._ends(p, group, variable) for p in group.patterns}
        branch = _Branch(self, group.patterns, places)
        found = branch.node(variable, None)
        for pattern in group.patterns:
            if id(pattern) not in branch.visited:
                raise self._error(
                    pattern.position,
                    f"this pattern is not connected with ?{variable}: share a variable, or ask it"
                    " as a query of its own",
                )
        return found

    def _ends(self, pattern: Pattern, group: Group, variable: str) -> set[str]:
        """Return the variables at which a pattern is connected with others."""
        if isinstance(pattern, TriplePattern):
            return self._triple_ends(pattern)
        positive = (p for p in group.patterns if not isinstance(p, NegationPattern))
        others = [p.variables() for p in positive if p is not pattern]
        shared = pattern.variables() & {variable}.union(*others)
        if len(shared) != 1:
            word = "UNION" if isinstance(pattern, UnionPattern) else "negation"
            names = " and ".join(f"?{name}" for name in sorted(shared)) or "no variable"
            raise self._error(
                pattern.position,
                f"this {word} shares {names} with the rest of the query: only one variable may"
                " connect them",
            )
        return shared

    def _triple_ends(self, pattern: TriplePattern) -> set[str]:
        ends = pattern.variables()
        if not ends:
            raise self._error(
                pattern.position,
                "this pattern has no variable: leave it out, or use kgflow predict for one fact",
            )
        if pattern.head.is_variable and pattern.head == pattern.tail:
            raise self._error(
                pattern.position, f"{pattern.head} is head and tail: queries must be trees"
            )
        return ends

    def union(self, pattern: UnionPattern, variable: str) -> Node:
        for part in pattern.parts:
            if variable not in part.variables():
                raise self._error(part.position, f"this part of the UNION lacks ?{variable}")
        return Union(tuple(self._group(part, variable) for part in pattern.parts))

    def negation(self, pattern: NegationPattern, variable: str) -> Node:
        return Negation(self._group(pattern.group, variable))

    def entity(self, term: Term) -> Anchor:
        try:
            return Anchor(self.data.entity_id(term.text))
        except KgflowError as error:
            raise self._error(term.position, str(error)) from None

    def relation(self, term: Term) -> int:
        try:
            return self.data.relations.id(term.text)
        except KgflowError as error:
            raise self._error(term.position, str(error)) from None

    def _error(self, position: int, message: str) -> KgflowError:
        return query_error(self.query.text, position, message)

    def cycle(self, position: int, variable: str) -> KgflowError:
        return self._error(
            position,
            f"?{variable} is reached in two ways: queries must be trees, so leave this pattern out",
        )


class _Branch:
    """The tree of a group, from its root variable to its leaves."""

    def __init__(
        self, builder: _Builder, patterns: Sequence[Pattern], places: dict[int, set[str]]
    ) -> None:
        self.builder, self.patterns, self.places = builder, patterns, places
        self.visited: set[int] = set()
        self.reached: set[str] = set()

    def node(self, variable: str, origin: Pattern | None) -> Node:
        if variable in self.reached and origin is not None:
            raise self.builder.cycle(origin.position, variable)
        self.reached.add(variable)
        parts: list[Node] = []
        for pattern in self.patterns:
            if variable in self.places[id(pattern)] and id(pattern) not in self.visited:
                self.visited.add(id(pattern))
                parts.append(self._part(pattern, variable))
        if all(isinstance(part, Negation) for part in parts):
            parts.insert(0, Anything())
        return parts[0] if len(parts) == 1 else Intersection(tuple(parts))

    def _part(self, pattern: Pattern, variable: str) -> Node:
        builder = self.builder
        if isinstance(pattern, UnionPattern):
            return builder.union(pattern, variable)
        if isinstance(pattern, NegationPattern):
            return builder.negation(pattern, variable)
        forward = pattern.tail.is_variable and pattern.tail.text == variable
        other = pattern.head if forward else pattern.tail
        relation = builder.relation(pattern.relation) + (0 if forward else builder.R)
        if not other.is_variable:
            return Projection(builder.entity(other), relation)
        return Projection(self.node(other.text, pattern), relation, other.text)
