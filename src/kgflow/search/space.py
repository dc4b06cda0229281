"""In which space the best answers are the nearest neighbours."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import ClassVar

import torch
from torch import Tensor

from kgflow.kernels import EncodedEntities, blocks

CLOSE = 1e-5
"""How far b may be from -c |K|², relative to the largest b."""


class Space(ABC):
    """Vectors of keys and of queries whose nearness has the order of Q·K + a + b."""

    name: ClassVar[str]
    euclidean: ClassVar[bool]
    """Nearest by distance, or else by the largest inner product."""

    def __init__(self, number: float = 0.0) -> None:
        self.number = number

    @abstractmethod
    def keys(self, K: Tensor, b: Tensor) -> Tensor:
        """Vectors ``(N, d)`` of keys ``(N, m)`` and ``(N,)``."""

    @abstractmethod
    def queries(self, Q: Tensor) -> Tensor:
        """Vectors ``(B, d)`` of queries ``(B, m)``."""


class Inner(Space):
    r"""The largest :math:`(Q, 1) \cdot (K, b)`."""

    name, euclidean = "inner product", False

    def keys(self, K: Tensor, b: Tensor) -> Tensor:
        """(K, b)."""
        return torch.cat([K, b[:, None]], dim=1)

    def queries(self, Q: Tensor) -> Tensor:
        """(Q, 1)."""
        return torch.cat([Q, Q.new_ones(len(Q), 1)], dim=1)


class Distance(Space):
    r"""The least distance of keys and queries, where :math:`b = -c|K|^2`.

    .. math:: Q \cdot K - c|K|^2 = -c\,|K - Q/2c|^2 + |Q|^2/4c

    Wasserstein models are so, with c = 1.

    Args:
        number: c.
    """

    name, euclidean = "distance", True

    def keys(self, K: Tensor, b: Tensor) -> Tensor:
        """K."""
        return K

    def queries(self, Q: Tensor) -> Tensor:
        """Q / 2c."""
        return Q / (2 * self.number)


class Lifted(Space):
    r"""Any inner product as a distance: keys are lifted to a sphere by one more coordinate.

    .. math:: |(Q, 1, 0) - (K, b, \sqrt{\rho^2 - |K|^2 - b^2})|^2
              = |Q|^2 + 1 + \rho^2 - 2(Q \cdot K + b)

    Args:
        number: ρ, the length of the longest (K, b).

    Reference:
        Bachrach and others: Speeding Up the Xbox Recommender System Using a Euclidean
        Transformation for Inner-Product Spaces, RecSys 2014.

    Example:
        >>> space = Lifted(5.0)
        >>> space.keys(torch.tensor([[3.0], [0.0]]), torch.tensor([4.0, 3.0]))
        tensor([[3., 4., 0.],
                [0., 3., 4.]])
    """

    name, euclidean = "lifted inner product", True

    def keys(self, K: Tensor, b: Tensor) -> Tensor:
        """(K, b, √(ρ² - |K|² - b²))."""
        rest = self.number**2 - K.square().sum(1) - b.square()
        return torch.cat([K, b[:, None], rest.clamp(min=0).sqrt()[:, None]], dim=1)

    def queries(self, Q: Tensor) -> Tensor:
        """(Q, 1, 0)."""
        return torch.cat([Q, Q.new_ones(len(Q), 1), Q.new_zeros(len(Q), 1)], dim=1)


SPACES: dict[str, Callable[[float], Space]] = {s.name: s for s in (Inner, Distance, Lifted)}


@torch.no_grad()
def find_space(entities: EncodedEntities, flat: bool) -> Space:
    """The space that the keys themselves suggest.

    Args:
        entities: the keys.
        flat: the index compares with every key, so that an inner product need not be lifted.

    Example:
        >>> K = torch.tensor([[1.0, 2.0], [0.5, 0.0], [3.0, 1.0]])
        >>> squares = EncodedEntities(K, lambda K: (K, -2 * K.square().sum(1)))
        >>> find_space(squares, flat=True).name, find_space(squares, flat=True).number
        ('distance', 2.0)
        >>> find_space(EncodedEntities(K, lambda K: (K, K[:, 0])), flat=True).name
        'inner product'
    """
    squares, b = (torch.cat(x) for x in zip(*_lengths(entities), strict=True))
    factor = -float((squares * b).sum() / squares.square().sum().clamp(min=1e-30))
    gap = (b + factor * squares).abs().max()
    if factor > 0 and gap <= CLOSE * b.abs().max():
        return Distance(factor)
    return Inner() if flat else Lifted(float((squares + b.square()).max().sqrt()))


def _lengths(entities: EncodedEntities) -> Iterable[tuple[Tensor, Tensor]]:
    for low, high in blocks(len(entities), entities.block):
        K, b = entities.encode(entities.table[low:high])
        yield K.double().square().sum(1), b.double()
