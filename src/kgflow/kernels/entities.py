"""All entities as keys, block by block, ready to meet queries."""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from kgflow.kernels.blocks import blocks

Lower = Callable[[Tensor], tuple[Tensor, Tensor]]
"""Entity rows ``(N, w)`` to keys K ``(N, m)`` and b ``(N,)``."""

Interaction = Callable[[Tensor, Tensor], Tensor]
"""How Q ``(B, m)`` meets K ``(N, l)``, to ``(B, N)``, where that is no matrix product."""

KEEP = 2**27
"""Numbers of lowered keys that are kept for the next queries."""

AT_ONCE = 2**14
"""Entities multiplied at a time: without a gradient to hold, more than in training."""

TILE = 2**22
"""Numbers that a meeting which is no matrix product may hold at a time."""


class Entities:
    """The keys of all entities, lowered when first met and kept as far as memory allows.

    a and b are two more columns of Q and K, so that all scores are one matrix product:
    ``(Q, a, 1) (K, 1, b)ᵀ``. The table must not change while these keys are in use.

    Args:
        table: entity rows, ``(E, w)``.
        lower: how rows become keys.
        interaction: how queries meet keys, if not by the matrix product.
        keep: numbers to keep.
        block: entities at a time.

    Example:
        >>> K = torch.eye(3)
        >>> entities = Entities(K, lambda rows: (rows, torch.zeros(len(rows))))
        >>> entities.scores(K[:2], torch.ones(2))
        tensor([[2., 1., 1.],
                [1., 2., 1.]])
    """

    def __init__(
        self,
        table: Tensor,
        lower: Lower,
        interaction: Interaction | None = None,
        keep: int = KEEP,
        block: int = AT_ONCE,
    ) -> None:
        self.table, self.lower, self.interaction, self.keep, self.block = (
            table,
            lower,
            interaction,
            keep,
            block,
        )
        self.kept: list[Tensor] = []

    def __len__(self) -> int:
        return len(self.table)

    @torch.no_grad()
    def products(
        self, Q: Tensor, a: Tensor, out: Tensor | None = None
    ) -> Iterator[tuple[int, int, Tensor]]:
        """The scores of queries ``(B, m)``, ``(B,)``, by blocks: bounds, and S ``(B, N)``.

        Written to the columns of `out` if it is given, else to a buffer that the next block uses
        again.
        """
        query = wide_query(Q, a)
        if out is None:
            out, step = Q.new_empty(len(Q), min(self.block, len(self))), 0
        else:
            step = 1
        for low, high, K in self.key_blocks():
            yield low, high, self._product(query, K, out[:, step * low : step * low + high - low])

    @torch.no_grad()
    def scores_of(self, Q: Tensor, a: Tensor, ids: Tensor) -> Tensor:
        """The scores of some entities for each query: ids ``(B, c)`` to ``(B, c)``.

        For matrix products only.
        """
        distinct, place = ids.unique(return_inverse=True)
        K, b = self.lower(self.table[distinct])
        S = Q.new_empty(ids.shape)
        for low, high in blocks(len(Q), max(1, TILE // (ids.shape[1] * K.shape[1] + 1))):
            rows = place[low:high]
            S[low:high] = torch.bmm(K[rows], Q[low:high, :, None])[..., 0] + b[rows]
        return S.add_(a[:, None])

    def scores(self, Q: Tensor, a: Tensor) -> Tensor:
        """All scores of queries ``(B, m)``, ``(B,)``: S, ``(B, E)``.

        Raises:
            FloatingPointError: a score is infinite or not a number.
        """
        S = Q.new_empty(len(Q), len(self))
        for _ in self.products(Q, a, S):
            pass
        require_finite(S)
        return S

    @torch.no_grad()
    def key_blocks(self) -> Iterator[tuple[int, int, Tensor]]:
        """All keys by blocks: bounds, and K with ones and b as two more columns."""
        for number, (low, high) in enumerate(blocks(len(self), self.block)):
            if number < len(self.kept):
                yield low, high, self.kept[number]
                continue
            K, b = self.lower(self.table[low:high])
            wide = torch.cat([K, torch.ones_like(b)[:, None], b[:, None]], dim=1)
            if high * wide.shape[1] <= self.keep:
                self.kept.append(wide)
            yield low, high, wide

    def _product(self, query: Tensor, K: Tensor, out: Tensor) -> Tensor:
        if self.interaction is None:
            return torch.mm(query, K.T, out=out)
        rows = 64
        size = max(1, TILE // (rows * max(query.shape[1], K.shape[1])))
        for top, bottom in blocks(len(query), rows):
            for low, high in blocks(len(K), size):
                met = self.interaction(query[top:bottom, :-2], K[low:high, :-2])
                out[top:bottom, low:high] = met
        return out.add_(query[:, -2:-1]).add_(K[:, -1])


def wide_query(Q: Tensor, a: Tensor) -> Tensor:
    """Q with a, and ones for b, as two more columns."""
    return torch.cat([Q, a[:, None], torch.ones_like(a)[:, None]], dim=1)


def require_finite(S: Tensor) -> None:
    """Refuse scores that are infinite or not a number: no order could be trusted."""
    if S.numel() and not all(torch.isfinite(edge) for edge in torch.aminmax(S)):
        raise FloatingPointError("the model gives scores that are infinite or not a number")
