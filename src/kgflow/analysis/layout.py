"""Where entities lie in a plane, and which belong together."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from kgflow.data import Dataset
from kgflow.models.protocols import EntityFlow
from kgflow.runs.run import Run

Ids = NDArray[np.int64]

FEW = 2_000
"""Entities that t-SNE is quick enough for."""

COMMON = 0.75
"""The share of entities from which on a use tells nothing."""

COMPONENTS = 50
"""Dimensions kept for t-SNE."""


@dataclass(frozen=True, eq=False)
class Layout:
    """A map of all entities.

    Shapes: `place` is ``(E, 2)``.

    Args:
        place: where each entity lies.
        method: how it came there, "t-SNE" or "PCA".
        explained: the share of the variance that the plane keeps, for PCA.
        metric: whether Euclidean distances of what was mapped are the model's own.
    """

    place: NDArray[np.float64]
    method: str
    explained: float | None
    metric: bool


@torch.no_grad()
def layout(run: Run, seed: int = 0) -> Layout:
    r"""The keys K of all entities in two dimensions.

    Under the squared Wasserstein distance, :math:`|K_s - K_t| = W_2(f_s(x_0), f_t(x_0))`. Up to
    `FEW` entities are laid out by t-SNE (van der Maaten, Hinton: Visualizing Data using t-SNE,
    2008), which keeps neighbours together; more by their first two principal components.

    Args:
        run: a trained run.
        seed: of what is random in it.
    """
    from sklearn.decomposition import PCA

    model = run.model.trained
    K = model.encode_keys(model.entity.weight).K.double().cpu().flatten(1).numpy()
    metric = isinstance(model.base, EntityFlow) and model.is_squared_distance
    few = 3 < len(K) <= FEW
    wanted = min(COMPONENTS if few else 2, *K.shape)
    pca = PCA(wanted, svd_solver="randomized", random_state=seed)
    flat = pca.fit_transform(K)
    if few:
        return Layout(_neighbours(flat, seed), "t-SNE", None, metric)
    # A key of one number has no second component.
    flat = np.pad(flat, ((0, 0), (0, 2 - flat.shape[1])))
    return Layout(flat, "PCA", float(pca.explained_variance_ratio_.sum()), metric)


def _neighbours(points: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    from sklearn.manifold import TSNE

    # The two main directions, made tiny, are where it starts: no other start is as repeatable.
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
    """Entities that belong together.

    Args:
        what: they go by.
        names: of the groups, the largest first.
        of: the group of each entity as its place in `names`, -1 for none, ``(E,)``.
    """

    what: str
    names: tuple[str, ...]
    of: NDArray[np.int64]


def groups(data: Dataset, count: int = 6) -> Groups:
    """Some groups that hold most entities: by type where types are known, else by use.

    An entity is used as the head or tail of relations. Its group is the first of the chosen uses
    that it has; each use is chosen to bring in the most entities that are still without.

    Example:
        >>> from kgflow.data import Triples, Vocabulary
        >>> cities = Dataset(
        ...     "cities",
        ...     Vocabulary(["Lima", "Peru", "Cusco"]),
        ...     Vocabulary(["in"], kind="relation"),
        ...     Triples.of([(0, 0, 1), (2, 0, 1)]),
        ... )
        >>> found = groups(cities)
        >>> found.names, found.of.tolist()
        (('head of in', 'tail of in'), [0, 1, 0])
    """
    what = "type" if data.types else "use in training facts"
    entity, mark, names = _types(data) if data.types else _uses(data)
    of, chosen = np.full(len(data.entities), -1), list[int]()
    while len(chosen) < count:
        free = of[entity] < 0
        gain = np.bincount(mark[free], minlength=len(names))
        if not gain.any():
            break
        best = int(gain.argmax())
        of[entity[free & (mark == best)]] = len(chosen)
        chosen.append(best)
    return Groups(what, tuple(names[i] for i in chosen), of)


def _types(data: Dataset) -> tuple[Ids, Ids, list[str]]:
    """Every pair of an entity and a type of it, and the names of the types."""
    names = sorted({kind for kinds in data.types.values() for kind in kinds})
    place = {name: i for i, name in enumerate(names)}
    pairs = [
        (e, place[kind])
        for e, name in enumerate(data.entities)
        for kind in dict.fromkeys(data.types.get(name, ()))
    ]
    entity, mark = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return entity, mark, names


def _uses(data: Dataset) -> tuple[Ids, Ids, list[str]]:
    """Every pair of an entity and a use of it, and the names of the uses."""
    train, size = data.train, len(data.relations)
    ends = np.concatenate([train.h, train.t])
    uses = np.concatenate([train.r, train.r + size])
    entity, mark = np.divmod(np.unique(ends * 2 * size + uses), max(1, 2 * size))
    telling = np.bincount(mark, minlength=2 * size) <= COMMON * len(data.entities)
    entity, mark = entity[telling[mark]], mark[telling[mark]]
    sides = [f"{side} of {name}" for side in ("head", "tail") for name in data.relations]
    return entity, mark, sides
