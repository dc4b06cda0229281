"""Two-dimensional layouts of entities, and groups of entities."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from kgflow.data import Dataset
from kgflow.data.triples import Ids
from kgflow.models.protocols import EntityFlow
from kgflow.runs.run import Run

MAX_TSNE = 2_000
"""Largest number of entities for t-SNE, which is slow for more."""

MAX_SHARE = 0.75
"""Largest share of the entities that a role may have to form a group."""

COMPONENTS = 50
"""Number of principal components that t-SNE starts from."""


@dataclass(frozen=True, eq=False)
class Layout:
    """Positions of all entities in the plane.

    Args:
        positions: coordinates of the entities, ``(E, 2)``.
        method: "t-SNE" or "PCA".
        explained_variance: share of the variance that two principal components have, for PCA.
        model_distance: whether the distances of the key vectors are distances of the model.
    """

    positions: NDArray[np.float64]
    method: str
    explained_variance: float | None
    model_distance: bool


@torch.no_grad()
def layout(run: Run, seed: int = 0) -> Layout:
    r"""Project the key vectors K of all entities to two dimensions.

    Under the squared Wasserstein distance, :math:`|K_s - K_t| = W_2(f_s(x_0), f_t(x_0))`. Up to
    `MAX_TSNE` entities are projected by t-SNE (van der Maaten, Hinton: Visualizing Data using
    t-SNE, 2008), which preserves neighbourhoods; more by the first two principal components.
    """
    from sklearn.decomposition import PCA

    model = run.model.trained
    K = model.encode_keys(model.entity.weight).K.double().cpu().flatten(1).numpy()
    model_distance = isinstance(model.base, EntityFlow) and model.is_squared_distance
    tsne = 3 < len(K) <= MAX_TSNE
    components = min(COMPONENTS if tsne else 2, *K.shape)
    pca = PCA(components, svd_solver="randomized", random_state=seed)
    projected = pca.fit_transform(K)
    if tsne:
        return Layout(_tsne(projected, seed), "t-SNE", None, model_distance)
    # A key vector of one dimension has no second component.
    projected = np.pad(projected, ((0, 0), (0, 2 - projected.shape[1])))
    explained = float(pca.explained_variance_ratio_.sum())
    return Layout(projected, "PCA", explained, model_distance)


def _tsne(points: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    from sklearn.manifold import TSNE

    # Initialization with two scaled principal components makes the result reproducible.
    start = points[:, :2] / max(points[:, 0].std(), 1e-12) * 1e-4
    tsne = TSNE(
        perplexity=min(30, (len(points) - 1) / 3),
        init=start if start.shape[1] == 2 else "random",
        angle=0.7,
        max_iter=500,
        random_state=seed,
    )
    return np.asarray(tsne.fit_transform(points), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of entities.

    Args:
        by: property that defines the groups.
        names: names of the groups, largest first.
        index: index of each entity's group in `names`, -1 for none, ``(E,)``.
    """

    by: str
    names: tuple[str, ...]
    index: Ids


def groups(data: Dataset, count: int = 6) -> Groups:
    """Group entities by type, or by role where the data has no types, in at most `count` groups.

    A role is being the head or the tail of a relation. Groups are chosen greedily, each to contain
    the most entities without a group.

    Example:
        >>> from kgflow.data import Triples, Vocabulary
        >>> cities = Dataset(
        ...     "cities",
        ...     Vocabulary(["Lima", "Peru", "Cusco"]),
        ...     Vocabulary(["in"], kind="relation"),
        ...     Triples.of([(0, 0, 1), (2, 0, 1)]),
        ... )
        >>> roles = groups(cities)
        >>> roles.names, roles.index.tolist()
        (('head of in', 'tail of in'), [0, 1, 0])
    """
    by = "type" if data.types else "role in training facts"
    entity, group, names = _types(data) if data.types else _roles(data)
    index, chosen = np.full(len(data.entities), -1), list[int]()
    while len(chosen) < count:
        free = index[entity] < 0
        sizes = np.bincount(group[free], minlength=len(names))
        if not sizes.any():
            break
        largest = int(sizes.argmax())
        index[entity[free & (group == largest)]] = len(chosen)
        chosen.append(largest)
    return Groups(by, tuple(names[i] for i in chosen), index)


def _types(data: Dataset) -> tuple[Ids, Ids, list[str]]:
    """Return all pairs of an entity and one of its types, and the names of the types."""
    names = sorted({kind for kinds in data.types.values() for kind in kinds})
    index = {name: i for i, name in enumerate(names)}
    kinds = [set(data.types.get(name, ())) for name in data.entities]
    pairs = [(e, index[kind]) for e, own in enumerate(kinds) for kind in own]
    entity, group = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return entity, group, names


def _roles(data: Dataset) -> tuple[Ids, Ids, list[str]]:
    """Return all pairs of an entity and one of its roles, and the names of the roles."""
    train, size = data.train, len(data.relations)
    entities = np.concatenate([train.h, train.t])
    roles = np.concatenate([train.r, train.r + size])
    entity, role = np.divmod(np.unique(entities * 2 * size + roles), max(1, 2 * size))
    rare = np.bincount(role, minlength=2 * size) <= MAX_SHARE * len(data.entities)
    entity, role = entity[rare[role]], role[rare[role]]
    names = [f"{side} of {name}" for side in ("head", "tail") for name in data.relations]
    return entity, role, names
