"""Transformations of maximum inner product search into the searches that faiss offers."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import ClassVar

import torch
from torch import Tensor

from kgflow.kernels import EncodedEntities, blocks

TOLERANCE = 1e-5
"""Largest difference of b and -c |K|², relative to the largest b."""

TRANSFORMS: dict[str, type["KeyTransform"]] = {}
"""Transformations by name."""


class KeyTransform(ABC):
    """Vectors of keys and queries whose similarity has the same order as Q·K + a + b.

    Args:
        parameter: constant of the transformation, if it has one.
    """

    name: ClassVar[str]
    euclidean: ClassVar[bool]
    """Whether the best is the smallest distance, or else the largest inner product."""

    def __init_subclass__(cls) -> None:
        TRANSFORMS[cls.name] = cls

    def __init__(self, parameter: float = 0.0) -> None:
        self.parameter = parameter

    @abstractmethod
    def keys(self, K: Tensor, b: Tensor) -> Tensor:
        """Return the vectors ``(N, d)`` of keys ``(N, m)`` with bias terms ``(N,)``."""

    @abstractmethod
    def queries(self, Q: Tensor) -> Tensor:
        """Return the vectors ``(B, d)`` of queries ``(B, m)``."""


class InnerProductTransform(KeyTransform):
    r"""The largest :math:`(Q, 1) \cdot (K, b)`."""

    name, euclidean = "inner product", False

    def keys(self, K: Tensor, b: Tensor) -> Tensor:
        return torch.cat([K, b[:, None]], dim=1)

    def queries(self, Q: Tensor) -> Tensor:
        return torch.cat([Q, Q.new_ones(len(Q), 1)], dim=1)


class DistanceTransform(KeyTransform):
    r"""The smallest distance of keys and queries, where :math:`b = -c|K|^2`.

    .. math:: Q \cdot K - c|K|^2 = -c\,|K - Q/2c|^2 + |Q|^2/4c

    Wasserstein models have this form with c = 1.

    Args:
        parameter: c.
    """

    name, euclidean = "distance", True

    def keys(self, K: Tensor, b: Tensor) -> Tensor:
        return K

    def queries(self, Q: Tensor) -> Tensor:
        return Q / (2 * self.parameter)


class SphereTransform(KeyTransform):
    r"""Any inner product as a distance: one more coordinate puts all keys on a sphere.

    .. math:: |(Q, 1, 0) - (K, b, \sqrt{\rho^2 - |K|^2 - b^2})|^2
              = |Q|^2 + 1 + \rho^2 - 2(Q \cdot K + b)

    Args:
        parameter: ρ, the length of the longest (K, b).

    Reference:
        Bachrach and others: Speeding Up the Xbox Recommender System Using a Euclidean
        Transformation for Inner-Product Spaces, RecSys 2014.

    Example:
        >>> transform = SphereTransform(5.0)
        >>> transform.keys(torch.tensor([[3.0], [0.0]]), torch.tensor([4.0, 3.0]))
        tensor([[3., 4., 0.],
                [0., 3., 4.]])
    """

    name, euclidean = "inner product as distance", True

    def keys(self, K: Tensor, b: Tensor) -> Tensor:
        rest = self.parameter**2 - K.square().sum(1) - b.square()
        return torch.cat([K, b[:, None], rest.clamp(min=0).sqrt()[:, None]], dim=1)

    def queries(self, Q: Tensor) -> Tensor:
        return torch.cat([Q, Q.new_ones(len(Q), 1), Q.new_zeros(len(Q), 1)], dim=1)


@torch.no_grad()
def choose_transform(entities: EncodedEntities, exhaustive: bool) -> KeyTransform:
    """Return the transformation that fits the keys: by distance where b = -c |K|².

    Args:
        entities: keys of all entities.
        exhaustive: whether the index compares all keys; then an inner product stays as it is.

    Example:
        >>> K = torch.tensor([[1.0, 2.0], [0.5, 0.0], [3.0, 1.0]])
        >>> entities = EncodedEntities(K, lambda K: (K, -2 * K.square().sum(1)))
        >>> found = choose_transform(entities, exhaustive=True)
        >>> found.name, found.parameter
        ('distance', 2.0)
        >>> choose_transform(EncodedEntities(K, lambda K: (K, K[:, 0])), exhaustive=True).name
        'inner product'
    """
    squares, b = (torch.cat(x) for x in zip(*_squared_norms(entities), strict=True))
    c = -float((squares * b).sum() / squares.square().sum().clamp(min=1e-30))
    difference = (b + c * squares).abs().max()
    if c > 0 and difference <= TOLERANCE * b.abs().max():
        return DistanceTransform(c)
    if exhaustive:
        return InnerProductTransform()
    return SphereTransform(float((squares + b.square()).max().sqrt()))


def _squared_norms(entities: EncodedEntities) -> Iterable[tuple[Tensor, Tensor]]:
    for low, high in blocks(len(entities), entities.block):
        K, b = entities.encode(entities.table[low:high])
        yield K.double().square().sum(1), b.double()
