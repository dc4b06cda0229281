"""Gradients with respect to Q and K from the gradient with respect to S, exact or sampled."""

from abc import ABC, abstractmethod

import torch
from torch import Tensor
from torch.nn.functional import embedding_bag

from kgflow.kernels.entities import Positions

DENSE_LIMIT = 6.0
"""A block with this many times more entries than wanted is multiplied densely, which is faster."""


class ScoreGradient(ABC):
    r"""Products GK and GᵀQ of the gradient :math:`G = c\,\sigma(S) - y`, block by block.

    `begin` takes the queries of a batch and sets `query`, whose product with the keys is S, up to a
    shift; `add_block` is called for every block of keys; `end` returns the gradient of Q.
    """

    query: Tensor
    smoothing: float = 0.0
    """Value that label smoothing adds to y everywhere, as a fraction of c."""

    @abstractmethod
    def begin(self, Q: Tensor, c: Tensor, unit: float) -> None:
        """Begin a batch of queries ``(B, m)`` with weights c ``(B,)`` and mean target `unit`."""

    @abstractmethod
    def scores(self, S: Tensor) -> Tensor:
        """Return the scores of a block, given the product of `query` and its keys."""

    @abstractmethod
    def scores_at(self, S: Tensor, positions: Positions) -> Tensor:
        """Return the scores at some positions of a block, given the same product."""

    @abstractmethod
    def add_block(self, S: Tensor, K: Tensor, true: Positions, y: Tensor, out: Tensor) -> Tensor:
        """Add the GK of a block and return its GᵀQ ``(N, m)``; S and `out` may be overwritten."""

    @abstractmethod
    def end(self) -> Tensor:
        """Return the sum of GK over all blocks, ``(B, m)``."""


class ExactGradient(ScoreGradient):
    """Exact gradient by two matrix products; c is applied to Q instead of to the larger G.

    Args:
        smoothing: value that label smoothing adds to y everywhere, as a fraction of c.
    """

    def __init__(self, smoothing: float = 0.0) -> None:
        self.smoothing = smoothing

    def begin(self, Q: Tensor, c: Tensor, unit: float) -> None:
        self.query, self.c, self.weighted = Q, c, Q * c[:, None]
        self.grad = torch.zeros_like(Q)

    def scores(self, S: Tensor) -> Tensor:
        return S

    def scores_at(self, S: Tensor, positions: Positions) -> Tensor:
        return S[positions]

    def add_block(self, S: Tensor, K: Tensor, true: Positions, y: Tensor, out: Tensor) -> Tensor:
        S.sigmoid_()
        if self.smoothing:
            S.sub_(self.smoothing)
        S.index_put_(true, -y / self.c[true[0]], accumulate=True)
        self.grad.addmm_(S, K)
        return torch.mm(S.T, self.weighted, out=out)

    def end(self) -> Tensor:
        return self.grad * self.c[:, None]


class SampledGradient(ScoreGradient):
    r"""Unbiased estimate of the gradient by two sparse products with a sample of G.

    An entry :math:`v = c\,\sigma(s)` of at least τ is kept; a smaller one is kept with probability
    v/τ and replaced by τ, so that the expectation is exact. Entries of true answers are always
    exact. Each block adapts its τ: the number of kept entries is inversely proportional to τ, so
    the number kept in the last batch tells which τ keeps the wanted fraction in the next. A block
    that would keep too many entries even at the largest τ is multiplied densely, as in the first
    epochs, when few entries are small.

    Args:
        tau: smallest τ, as a fraction of the mean target; the largest is ten times that.
        keep: fraction of entries to keep.
    """

    def __init__(self, tau: float = 0.01, keep: float = 0.005) -> None:
        self.relative_tau, self.keep = tau, keep
        self.factor: dict[int, float] = {}
        self.mask = torch.empty(0, dtype=torch.bool)

    def begin(self, Q: Tensor, c: Tensor, unit: float) -> None:
        """Begin a batch of queries, whose scores are shifted by log(c/τ)."""
        self.tau, self.number = self.relative_tau * unit, 0
        self.shift = torch.log(c / self.tau)[:, None]
        self.Q, self.c, self.grad = Q, c[:, None], torch.zeros_like(Q)
        # The last column but one holds a, which K multiplies by one.
        self.query = Q.clone()
        self.query[:, -2:-1] += self.shift

    def scores(self, S: Tensor) -> Tensor:
        return S - self.shift

    def scores_at(self, S: Tensor, positions: Positions) -> Tensor:
        return S[positions] - self.shift[positions[0], 0]

    def add_block(self, S: Tensor, K: Tensor, true: Positions, y: Tensor, out: Tensor) -> Tensor:
        factor = self.factor.get(self.number, 1.0)
        exact = S[true]
        noise = torch.rand(sum(S.shape), dtype=S.dtype, device=S.device).mul_(factor)
        # All entries of a diagonal share one random number: each entry alone is uniform, which is
        # all that an unbiased sample needs, and the noise stays in the processor's cache.
        uniform, level = (x.as_strided(tuple(S.shape), (1, 1)) for x in (noise, noise.log()))
        S[true] = -torch.inf
        kept = torch.ge(S, level, out=self._mask(S)).flatten().nonzero().squeeze(1)
        fraction = len(kept) / S.numel()
        self.factor[self.number] = min(10.0, max(1.0, factor * fraction / self.keep))
        self.number += 1
        if fraction > DENSE_LIMIT * self.keep:
            S[true] = exact
            return self._add_dense(S, K, true, y, out)
        row, column = kept // S.shape[1], kept % S.shape[1]
        value = torch.sigmoid(S.flatten()[kept] - self.shift[row, 0]) * self.c[row, 0]
        # The test above was s >= log τu; the condition is v >= τu, and log v is a little below s.
        passed = (value >= uniform[row, column] * self.tau).nonzero().squeeze(1)
        row, column = row[passed], column[passed]
        value = value[passed].clamp_min(self.tau * factor)
        rest = torch.sigmoid(exact - self.shift[true[0], 0]) * self.c[true[0], 0] - y
        self.grad += _sparse_product(row, column, value, K, len(self.grad))
        self.grad.index_add_(0, true[0], rest[:, None] * K[true[1]])
        order = torch.argsort(column)
        grad_K = _sparse_product(column[order], row[order], value[order], self.Q, len(K))
        return grad_K.index_add_(0, true[1], rest[:, None] * self.Q[true[0]])

    def end(self) -> Tensor:
        return self.grad

    def _mask(self, S: Tensor) -> Tensor:
        if self.mask.numel() < S.numel() or self.mask.device != S.device:
            self.mask = torch.empty(S.numel(), dtype=torch.bool, device=S.device)
        return self.mask[: S.numel()].view(S.shape)

    def _add_dense(self, S: Tensor, K: Tensor, true: Positions, y: Tensor, out: Tensor) -> Tensor:
        G = S.sub_(self.shift).sigmoid_().mul_(self.c)
        G.index_put_(true, -y, accumulate=True)
        self.grad.addmm_(G, K)
        return torch.mm(G.T, self.Q, out=out)


def _sparse_product(row: Tensor, column: Tensor, value: Tensor, x: Tensor, count: int) -> Tensor:
    """Multiply the sparse matrix of these entries, sorted by row, with `count` rows, by x."""
    starts = torch.searchsorted(row, torch.arange(count, device=row.device))
    return embedding_bag(column, x, starts, mode="sum", per_sample_weights=value)
