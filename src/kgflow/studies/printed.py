"""The numbers that the paper prints, and the best that others have."""

from typing import NamedTuple

Numbers = tuple[float, float, float]
"""MRR, Hits@1 and Hits@10."""

GRAPHS = ("wn18rr", "fb15k-237", "yago3-10")

TABLE_1: dict[str, tuple[Numbers, Numbers, Numbers]] = {
    "nfe-1": ((0.483, 0.438, 0.576), (0.355, 0.261, 0.543), (0.570, 0.498, 0.697)),
    "nfe-2-paper": ((0.476, 0.431, 0.569), (0.352, 0.256, 0.542), (0.563, 0.489, 0.699)),
    "nfe-point": ((0.475, 0.430, 0.568), (0.352, 0.257, 0.542), (0.563, 0.490, 0.693)),
    "nfe-1-mu": ((0.218, 0.036, 0.506), (0.335, 0.240, 0.526), (0.539, 0.455, 0.691)),
    "nfe-1-sigma": ((0.286, 0.126, 0.522), (0.342, 0.247, 0.531), (0.519, 0.429, 0.676)),
    "distmult": ((0.396, 0.379, 0.427), (0.289, 0.206, 0.452), (0.536, 0.471, 0.652)),
}
"""By model, on `GRAPHS`. TransE's row is that of NFE-1-μ, which is the same model."""

TABLE_2: dict[str, Numbers] = {
    "0": (0.475, 0.430, 0.568),
    "1-16": (0.478, 0.433, 0.572),
    "1-8": (0.478, 0.433, 0.573),
    "1-4": (0.478, 0.433, 0.571),
    "1-2": (0.479, 0.434, 0.573),
    "1": (0.483, 0.438, 0.576),
    "2": (0.483, 0.438, 0.575),
    "4": (0.483, 0.436, 0.575),
    "8": (0.482, 0.436, 0.572),
    "16": (0.482, 0.436, 0.572),
}
"""By 1/k²: with x0/k in the place of x0 the scales count 1/k² in the squared distance."""

TABLE_5: tuple[Numbers, Numbers, Numbers] = (
    (0.440, 0.400, 0.521),
    (0.340, 0.246, 0.530),
    (0.550, 0.470, 0.695),
)
"""NFE-3 with softplus scales, on `GRAPHS`."""


class Published(NamedTuple):
    """An MRR on test, and whose it is."""

    mrr: float
    whose: str


BEST: dict[str, Published] = {
    "wn18rr": Published(0.511, "HousE, Li et al. 2022"),
    "fb15k-237": Published(
        0.388, "ComplEx-N3 with relation prediction, rank 1000, Chen et al. 2021"
    ),
    "codex-s": Published(0.473, "ComplEx-N3 with relation prediction, rank 1000, Chen et al. 2021"),
}
"""The best that embeddings without text or rules have reached, by graph.

Li et al., HousE: Knowledge Graph Embedding with Householder Parameterization, 2022. Chen et al.,
Relation Prediction as an Auxiliary Training Objective for Improving Multi-Relational Graph
Representations, 2021; of CoDEx-S as their published code tells, where Safavi and Koutra, CoDEx: A
Comprehensive Knowledge Graph Completion Benchmark, 2020, have 0.465 by ComplEx.
"""


def printed(model: str, graph: str) -> Numbers | None:
    """What the paper has of a model on a graph, in Table 1 or 5.

    Example:
        >>> printed("nfe-1", "wn18rr")
        (0.483, 0.438, 0.576)
        >>> printed("nfe-1", "umls")
    """
    rows = TABLE_1 | {"nfe-3-softplus": TABLE_5}
    return dict(zip(GRAPHS, rows[model], strict=True)).get(graph) if model in rows else None
