"""Blocks of entities, their keys, encoded and cached, and the scores of queries on them."""

from collections.abc import Callable, Iterator
from math import prod

import torch
from torch import Tensor

EncodeKeys = Callable[[Tensor], tuple[Tensor, Tensor]]
"""Function from entity embeddings ``(N, w)`` to keys K ``(N, m)`` and bias terms b ``(N,)``."""

Interaction = Callable[[Tensor, Tensor], Tensor]
"""Function of Q ``(B, m)`` and K ``(N, l)`` that replaces the matrix product QKᵀ, ``(B, N)``."""

CACHE = 2**27
"""Maximum number of floats of encoded keys that are cached."""

SCORING_BLOCK = 2**14
"""Entities multiplied at a time without gradients: more than in training, which needs buffers."""

BLOCK = 2048
"""Entities encoded and multiplied at a time during training.

Measured for embeddings of 512 and of 2048 floats: 1024 and 4096 are no faster, and 4096 needs twice
the memory."""

Positions = tuple[Tensor, Tensor]
"""Row and column indices of entries of a (queries x entities) matrix, ``(N,)`` each."""

TILE = 2**22
"""Maximum number of floats that an interaction other than the matrix product holds at a time."""


def blocks(count: int, size: int = BLOCK) -> Iterator[tuple[int, int]]:
    """Yield the bounds (low, high) of consecutive blocks of at most `size` items.

    Example:
        >>> list(blocks(5, 2))
        [(0, 2), (2, 4), (4, 5)]
    """
    for low in range(0, count, size):
        yield low, min(low + size, count)


class Buffers:
    """Uninitialized tensors by name, allocated on first use and reused afterwards.

    Example:
        >>> buffers = Buffers()
        >>> like = torch.zeros(1)
        >>> first = buffers("S", (2, 3), like)
        >>> buffers("S", (3, 1), like).data_ptr() == first.data_ptr()
        True
    """

    def __init__(self) -> None:
        self.tensors: dict[str, Tensor] = {}

    def __call__(self, name: str, shape: tuple[int, ...], like: Tensor) -> Tensor:
        """Return a tensor of this shape, with the dtype and device of `like`."""
        size, found = prod(shape), self.tensors.get(name)
        if found is None or len(found) < size or found.dtype != like.dtype:
            found = torch.empty(size, dtype=like.dtype, device=like.device)
            self.tensors[name] = found
        return found[:size].view(shape)


class EncodedEntities:
    """Keys (K, b) of all entities, encoded on first use and cached as far as memory allows.

    The bias terms are two more columns of Q and K, so that all scores are one matrix product:
    ``(Q, a, 1) (K, 1, b)ᵀ``. The embeddings must not change while this object is in use.

    Args:
        table: entity embeddings, ``(E, w)``.
        encode: function from embeddings to keys.
        interaction: interaction of Q and K if it is not the matrix product.
        cache: maximum number of floats to cache.
        block: entities at a time.

    Example:
        >>> K = torch.eye(3)
        >>> entities = EncodedEntities(K, lambda x: (x, torch.zeros(len(x))))
        >>> entities.scores(K[:2], torch.ones(2))
        tensor([[2., 1., 1.],
                [1., 2., 1.]])
    """

    def __init__(
        self,
        table: Tensor,
        encode: EncodeKeys,
        interaction: Interaction | None = None,
        cache: int = CACHE,
        block: int = SCORING_BLOCK,
    ) -> None:
        self.table, self.encode, self.interaction = table, encode, interaction
        self.cache, self.block = cache, block
        self.cached: list[Tensor] = []

    def __len__(self) -> int:
        return len(self.table)

    @torch.no_grad()
    def products(
        self, Q: Tensor, a: Tensor, out: Tensor | None = None
    ) -> Iterator[tuple[int, int, Tensor]]:
        """Yield the scores of queries ``(B, m)``, ``(B,)`` by blocks: low, high and S ``(B, N)``.

        S is written to the columns of `out` if given, else to a buffer that the next block
        overwrites.
        """
        query = append_query_bias(Q, a)
        if out is None:
            out, step = Q.new_empty(len(Q), min(self.block, len(self))), 0
        else:
            step = 1
        for low, high, K in self.key_blocks():
            yield low, high, self._product(query, K, out[:, step * low : step * low + high - low])

    @torch.no_grad()
    def scores_of(self, Q: Tensor, a: Tensor, ids: Tensor) -> Tensor:
        """Return the scores of the entities ids ``(B, c)`` for each query, ``(B, c)``.

        For matrix products only.
        """
        distinct, place = ids.unique(return_inverse=True)
        K, b = self.encode(self.table[distinct])
        S = Q.new_empty(ids.shape)
        for low, high in blocks(len(Q), max(1, TILE // (ids.shape[1] * K.shape[1] + 1))):
            part = place[low:high]
            S[low:high] = torch.bmm(K[part], Q[low:high, :, None])[..., 0] + b[part]
        return S.add_(a[:, None])

    def scores(self, Q: Tensor, a: Tensor) -> Tensor:
        """Return the scores of all entities for queries ``(B, m)``, ``(B,)``: S, ``(B, E)``.

        Raises:
            FloatingPointError: a score is infinite or NaN.
        """
        S = Q.new_empty(len(Q), len(self))
        for _ in self.products(Q, a, S):
            pass
        require_finite(S)
        return S

    @torch.no_grad()
    def key_blocks(self) -> Iterator[tuple[int, int, Tensor]]:
        """Yield all keys by blocks: low, high, and K with ones and b as two more columns."""
        for number, (low, high) in enumerate(blocks(len(self), self.block)):
            if number < len(self.cached):
                yield low, high, self.cached[number]
                continue
            K, b = self.encode(self.table[low:high])
            K = torch.cat([K, torch.ones_like(b)[:, None], b[:, None]], dim=1)
            if high * K.shape[1] <= self.cache:
                self.cached.append(K)
            yield low, high, K

    def _product(self, query: Tensor, K: Tensor, out: Tensor) -> Tensor:
        if self.interaction is None:
            return torch.mm(query, K.T, out=out)
        count = 64
        size = max(1, TILE // (count * max(query.shape[1], K.shape[1])))
        for top, bottom in blocks(len(query), count):
            for low, high in blocks(len(K), size):
                S = self.interaction(query[top:bottom, :-2], K[low:high, :-2])
                out[top:bottom, low:high] = S
        return out.add_(query[:, -2:-1]).add_(K[:, -1])


def append_query_bias(Q: Tensor, a: Tensor) -> Tensor:
    """Return Q with two more columns: a, and ones that multiply b."""
    return torch.cat([Q, a[:, None], torch.ones_like(a)[:, None]], dim=1)


def require_finite(S: Tensor) -> None:
    """Raise FloatingPointError if a score is infinite or NaN, since such scores have no order."""
    if S.numel() and not all(torch.isfinite(edge) for edge in torch.aminmax(S)):
        raise FloatingPointError("the model gives scores that are infinite or not a number")
