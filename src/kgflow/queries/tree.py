"""Tree-shaped queries: anchors, projections, intersections, unions and negations."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

from kgflow.data import Dataset
from kgflow.queries.language import is_bare, parse_query

ANY = -1
"""Entity or relation of a query shape, where any one may stand."""


@dataclass(frozen=True)
class Anchor:
    """The set of one entity."""

    entity: int = ANY


@dataclass(frozen=True)
class Anything:
    """The set of all entities: a variable that nothing constrains."""


@dataclass(frozen=True)
class Projection:
    r"""Entities t with a fact (h, r, t) for some h of a set; r ≥ R is an inverse relation.

    Args:
        child: The set.
        relation: Relation id.
        variable: Name of the variable h, empty for an anchor.
    """

    child: "Node"
    relation: int = ANY
    variable: str = field(default="", compare=False)


@dataclass(frozen=True)
class Intersection:
    """Entities of all sets."""

    children: tuple["Node", ...]


@dataclass(frozen=True)
class Union:
    """Entities of at least one set."""

    children: tuple["Node", ...]


@dataclass(frozen=True)
class Negation:
    """Entities that are not in a set."""

    child: "Node"


Node = Anchor | Anything | Projection | Intersection | Union | Negation


def children(node: Node) -> tuple[Node, ...]:
    """Return the children of a node."""
    if isinstance(node, Projection | Negation):
        return (node.child,)
    return node.children if isinstance(node, Intersection | Union) else ()


def _p(child: Node) -> Projection:
    return Projection(child)


_E = Anchor()
_P1, _P2 = _p(_E), _p(_p(_E))
_2I, _3I, _2U = Intersection((_P1, _P1)), Intersection((_P1, _P1, _P1)), Union((_P1, _P1))
_2IN = Intersection((_P1, Negation(_P1)))

SHAPES: dict[str, Node] = {
    "1p": _P1,
    "2p": _P2,
    "3p": _p(_P2),
    "2i": _2I,
    "3i": _3I,
    "pi": Intersection((_P2, _P1)),
    "ip": _p(_2I),
    "2u": _2U,
    "up": _p(_2U),
    "2in": _2IN,
    "3in": Intersection((_P1, _P1, Negation(_P1))),
    "inp": _p(_2IN),
    "pin": Intersection((_P2, Negation(_P1))),
    "pni": Intersection((_P1, Negation(_P2))),
}
"""The 14 usual query shapes (Ren, Leskovec: Beta embeddings for multi-hop logical reasoning in
knowledge graphs, NeurIPS 2020): p projection, i intersection, u union, n negation."""


def shape_of(node: Node) -> Node:
    """Return a query without its entities, relations and order of children.

    Example:
        >>> shape_of(Projection(Anchor(3), relation=1)) == SHAPES["1p"]
        True
    """
    if isinstance(node, Anchor):
        return Anchor()
    if isinstance(node, Projection):
        return Projection(shape_of(node.child))
    if isinstance(node, Negation):
        return Negation(shape_of(node.child))
    if isinstance(node, Anything):
        return node
    parts = sorted((shape_of(child) for child in node.children), key=repr)
    return type(node)(tuple(parts))


def shape_name(node: Node) -> str:
    """Return the name of the shape of a query, or else a formula of it.

    Example:
        >>> shape_name(Union((Projection(Anchor(3), 1), Projection(Anchor(4), 1))))
        '2u'
        >>> shape_name(Projection(SHAPES["3p"]))
        'p(p(p(p(e))))'
    """
    shape = shape_of(node)
    return next((name for name, one in SHAPES.items() if shape_of(one) == shape), _formula(shape))


def _formula(node: Node) -> str:
    letters = {Anchor: "e", Anything: "any", Projection: "p", Intersection: "i", Union: "u"}
    inner = ",".join(_formula(child) for child in children(node))
    return letters.get(type(node), "n") + (f"({inner})" if inner else "")


def chain(node: Node) -> tuple[int, tuple[int, ...]] | None:
    """Return anchor and relations of a chain of projections, None for other queries.

    Example:
        >>> chain(Projection(Projection(Anchor(7), 0), 1))
        (7, (0, 1))
    """
    relations: list[int] = []
    while isinstance(node, Projection):
        relations.append(node.relation)
        node = node.child
    return (node.entity, tuple(relations[::-1])) if isinstance(node, Anchor) and relations else None


def query_text(node: Node, data: Dataset) -> str:
    """Return a query in the query language; `parse_query` reads it.

    Example:
        >>> import kgflow
        >>> world = kgflow.load("world")
        >>> france, borders = world.entity_id("France"), world.relations.id("borders")
        >>> query_text(Projection(Projection(Anchor(france), borders), borders), world)
        'France borders ?x1 . ?x1 borders ?x'
    """
    names = (f"x{i}" for i in count(1))
    text = " . ".join(_patterns(node, "x", names, data)).replace("} . ", "} ")
    return text if parse_query(text).target.text == "x" else f"SELECT ?x {{ {text} }}"


def _patterns(node: Node, variable: str, names: Iterator[str], data: Dataset) -> Iterator[str]:
    if isinstance(node, Projection):
        yield from _projection(node, variable, names, data)
    elif isinstance(node, Intersection):
        for child in sorted(node.children, key=lambda child: isinstance(child, Negation)):
            yield from _patterns(child, variable, names, data)
    elif isinstance(node, Union):
        parts = (" . ".join(_patterns(c, variable, names, data)) for c in node.children)
        yield " UNION ".join(f"{{ {part} }}" for part in parts)
    elif isinstance(node, Negation):
        inner = " . ".join(_patterns(node.child, variable, names, data))
        yield f"FILTER NOT EXISTS {{ {inner} }}"


def _projection(
    node: Projection, variable: str, names: Iterator[str], data: Dataset
) -> Iterator[str]:
    R = len(data.relations)
    if isinstance(node.child, Anchor):
        other = quoted(_readable(node.child.entity, data))
    else:
        name = next(names)
        yield from _patterns(node.child, name, names, data)
        other = f"?{name}"
    relation = quoted(data.relations[node.relation % R])
    ends = (other, f"?{variable}") if node.relation < R else (f"?{variable}", other)
    yield f"{ends[0]} {relation} {ends[1]}"


def _readable(entity: int, data: Dataset) -> str:
    """Return the label of an entity if no other one has it, or else its name."""
    name, label = data.entities[entity], data.label(entity)
    unique = label not in data.entities and [*data.labels.values()].count(label) == 1
    return label if unique else name


def quoted(name: str) -> str:
    """Return a name as queries have it, quoted where it is not one plain word.

    Example:
        >>> quoted("France"), quoted("Costa Rica"), quoted("minus")
        ('France', '"Costa Rica"', '"minus"')
    """
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return name if is_bare(name) else f'"{escaped}"'
