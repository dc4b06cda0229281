"""Queries as small graphs to draw, and examples of queries."""

from typing import Any

import numpy as np

from kgflow.data import Dataset, Triples
from kgflow.queries.sampling import QuerySampler
from kgflow.queries.tree import (
    SHAPES,
    Anchor,
    Intersection,
    Negation,
    Node,
    Projection,
    Union,
    query_text,
)

EXAMPLE_SHAPES = ("2p", "2i", "up", "2in", "ip", "3p")
"""Shapes of examples."""
TRIALS = 20
"""Queries of a shape among which an example is chosen."""


class QueryGraph:
    """Variables and names of a query, and the relations between them.

    Args:
        node: Query as a tree.
        data: Data set with the names.
        target: Name of the variable that is asked for.

    Example:
        >>> import kgflow
        >>> from kgflow.queries.build import read_query
        >>> world = kgflow.load("world")
        >>> graph = QueryGraph(read_query("France borders ?c", world), world, "c")
        >>> [node["label"] for node in graph.nodes], graph.edges[0]["relation"]
        (['?c', 'France'], 'borders')
    """

    def __init__(self, node: Node, data: Dataset, target: str) -> None:
        self.data, self.nodes, self.edges = data, list[dict[str, Any]](), list[dict[str, Any]]()
        self._add(node, self._vertex(f"?{target}", "answer"))

    def to_dict(self) -> dict[str, Any]:
        """Return nodes and edges; an edge leads from source to target, or back if inverse."""
        return {"nodes": self.nodes, "edges": self.edges}

    def _vertex(self, label: str, kind: str) -> int:
        self.nodes.append({"id": len(self.nodes), "label": label, "kind": kind})
        return len(self.nodes) - 1

    def _add(self, node: Node, at: int, negated: bool = False, optional: bool = False) -> None:
        if isinstance(node, Projection):
            self._edge(node, at, negated, optional)
        elif isinstance(node, Intersection):
            for child in node.children:
                self._add(child, at, negated, optional)
        elif isinstance(node, Union):
            for child in node.children:
                self._add(child, at, negated, optional=True)
        elif isinstance(node, Negation):
            self._add(node.child, at, negated=True)

    def _edge(self, node: Projection, at: int, negated: bool, optional: bool) -> None:
        R, child = len(self.data.relations), node.child
        if isinstance(child, Anchor):
            source = self._vertex(self.data.label(child.entity), "name")
        else:
            source = self._vertex(f"?{node.variable}" if node.variable else "?", "variable")
        edge = {"source": source, "target": at, "relation": self.data.relations[node.relation % R]}
        flags = {"inverse": node.relation >= R, "negated": negated, "alternative": optional}
        self.edges.append(edge | flags)
        self._add(child, source, negated)


def example_queries(data: Dataset, seed: int = 0) -> list[str]:
    """Return queries with known answers, one of each shape in `EXAMPLE_SHAPES` that the graph has.

    Of several random ones, the query with the shortest text is chosen.
    """
    known = Triples.concatenate([data.train, data.valid, data.test])
    sampler, found = QuerySampler(data, known, seed), []
    for name in EXAMPLE_SHAPES:
        texts = [query_text(q.node, data) for q in sampler.draw(SHAPES[name], TRIALS, hard=False)]
        if texts:
            found.append(texts[int(np.argmin([len(text) for text in texts]))])
    return found
