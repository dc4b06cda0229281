"""How faiss looks for neighbours."""

import math
from abc import ABC, abstractmethod
from typing import ClassVar


class Method(ABC):
    """A kind of index, and how hard it may try."""

    name: ClassVar[str]
    knob: ClassVar[str]
    """What faiss calls the effort."""

    @abstractmethod
    def recipe(self, entities: int) -> str:
        """The index in the words of faiss's factory."""

    @abstractmethod
    def efforts(self, entities: int) -> list[int]:
        """Ascending; beyond the last the exact search would be as quick."""


class Flat(Method):
    """Every key is compared: exact, by faiss's own products."""

    name, knob = "flat", ""

    def recipe(self, entities: int) -> str:
        """One array."""
        return "Flat"

    def efforts(self, entities: int) -> list[int]:
        """One."""
        return [0]


class IVF(Method):
    """Keys in lists around centres; the lists of the nearest centres are compared.

    Reference:
        Jégou, Douze, Schmid: Product Quantization for Nearest Neighbor Search, 2011.

    Example:
        >>> IVF().recipe(1_000_000), IVF().efforts(10_000)
        ('IVF2000,Flat', [1, 2, 4, 8, 16, 32])
    """

    name, knob = "ivf", "nprobe"

    def recipe(self, entities: int) -> str:
        """So many lists that centres and lists cost alike."""
        return f"IVF{self._lists(entities)},Flat"

    def efforts(self, entities: int) -> list[int]:
        """Up to a quarter of the lists."""
        return [2**i for i in range(int(math.log2(max(1, self._lists(entities) // 4))) + 1)]

    def _lists(self, entities: int) -> int:
        # Below 39 keys a list, faiss warns that centres mean little.
        return max(1, min(int(2 * math.sqrt(entities)), entities // 39))


class HNSW(Method):
    """A graph of keys, walked towards the query.

    Reference:
        Malkov and Yashunin: Efficient and Robust Approximate Nearest Neighbor Search Using
        Hierarchical Navigable Small World Graphs, 2018.
    """

    name, knob = "hnsw", "efSearch"

    def recipe(self, entities: int) -> str:
        """32 links a key."""
        return "HNSW32,Flat"

    def efforts(self, entities: int) -> list[int]:
        """16 to 1024 keys kept in view."""
        return [2**i for i in range(4, 11)]


METHODS: dict[str, Method] = {method.name: method for method in (Flat(), IVF(), HNSW())}
"""By name; "exact" is none of them."""
