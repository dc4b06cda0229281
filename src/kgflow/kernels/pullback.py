"""From the gradient by the scores to those by queries and keys: exactly, or sampled."""

from abc import ABC, abstractmethod

import torch
from torch import Tensor
from torch.nn.functional import embedding_bag

Places = tuple[Tensor, Tensor]
"""Row and column of some entries."""


class Pullback(ABC):
    r"""Turns :math:`G = c\,\sigma(S) - y`, block by block, into GK and GᵀQ.

    `begin` is given the queries of a batch; `query` is what to multiply the keys by to get S,
    perhaps shifted; `block` is called for every block of keys; `end` gives the gradient by Q.
    """

    query: Tensor
    floor: float = 0.0
    """What y has everywhere, as a share of c: label smoothing."""

    @abstractmethod
    def begin(self, Q: Tensor, c: Tensor, unit: float) -> None:
        """A batch of queries ``(B, m)`` with their numbers c ``(B,)`` and the size of a usual y."""

    @abstractmethod
    def logits(self, S: Tensor) -> Tensor:
        """The true S of the product of `query` and the keys."""

    @abstractmethod
    def at(self, S: Tensor, places: Places) -> Tensor:
        """The true S at some places of that product."""

    @abstractmethod
    def block(self, S: Tensor, K: Tensor, true: Places, y: Tensor, spare: Tensor) -> Tensor:
        """Take in a block ``(B, N)``, overwriting it; give its GᵀQ ``(N, m)``, maybe in spare."""

    @abstractmethod
    def end(self) -> Tensor:
        """GK of all blocks, ``(B, m)``."""


class Dense(Pullback):
    """Two matrix products; c is applied to Q instead of to the larger G.

    Args:
        floor: what y has everywhere, as a share of c.
    """

    def __init__(self, floor: float = 0.0) -> None:
        self.floor = floor

    def begin(self, Q: Tensor, c: Tensor, unit: float) -> None:
        """A batch of queries."""
        self.query, self.c, self.weighted = Q, c, Q * c[:, None]
        self.grad = torch.zeros_like(Q)

    def logits(self, S: Tensor) -> Tensor:
        """S is not shifted."""
        return S

    def at(self, S: Tensor, places: Places) -> Tensor:
        """S is not shifted."""
        return S[places]

    def block(self, S: Tensor, K: Tensor, true: Places, y: Tensor, spare: Tensor) -> Tensor:
        """One sigmoid, two products."""
        S.sigmoid_()
        if self.floor:
            S.sub_(self.floor)
        S.index_put_(true, -y / self.c[true[0]], accumulate=True)
        self.grad.addmm_(S, K)
        return torch.mm(S.T, self.weighted, out=spare)

    def end(self) -> Tensor:
        """The sum over blocks."""
        return self.grad * self.c[:, None]


class Sparse(Pullback):
    r"""Two sparse products with an unbiased sample of G.

    An entry :math:`v = c\,\sigma(s)` of at least τ is kept as it is; a smaller one is kept with
    probability v/τ, at the value τ; so the expectation is exact. Entries of true answers are always
    exact. Each block has a τ of its own: as many entries are kept as its mass divided by τ, so what
    was kept of the block in the last batch says which τ will keep a given share in the next. A
    block that would keep too many even at the largest τ is multiplied densely, as in the first
    epochs, when nothing is small yet.

    Args:
        tau: the smallest τ, as a share of what a true answer weighs; the largest is ten times that.
        keep: the share of entries to keep.
    """

    def __init__(self, tau: float = 0.01, keep: float = 0.005) -> None:
        self.share, self.keep = tau, keep
        self.factor: dict[int, float] = {}
        self.mask = torch.empty(0, dtype=torch.bool)

    def begin(self, Q: Tensor, c: Tensor, unit: float) -> None:
        """A batch of queries; their scores come shifted by log(c/τ)."""
        self.tau, self.number = self.share * unit, 0
        self.shift = torch.log(c / self.tau)[:, None]
        self.Q, self.c, self.grad = Q, c[:, None], torch.zeros_like(Q)
        # The column before the last holds a, which K multiplies by one.
        self.query = Q.clone()
        self.query[:, -2:-1] += self.shift

    def logits(self, S: Tensor) -> Tensor:
        """S without the shift."""
        return S - self.shift

    def at(self, S: Tensor, places: Places) -> Tensor:
        """S without the shift."""
        return S[places] - self.shift[places[0], 0]

    def block(self, S: Tensor, K: Tensor, true: Places, y: Tensor, spare: Tensor) -> Tensor:
        """Sample, and multiply what was kept."""
        factor = self.factor.get(self.number, 1.0)
        exact = S[true]
        noise = torch.rand(sum(S.shape), dtype=S.dtype, device=S.device).mul_(factor)
        # One number of the noise serves a whole diagonal: every entry alone is uniform, which is
        # all that an unbiased sample needs, and the noise stays in the processor's cache.
        spread, level = (x.as_strided(tuple(S.shape), (1, 1)) for x in (noise, noise.log()))
        S[true] = -torch.inf
        kept = torch.ge(S, level, out=self._mask(S)).flatten().nonzero().squeeze(1)
        share = len(kept) / S.numel()
        self.factor[self.number] = min(10.0, max(1.0, factor * share / self.keep))
        self.number += 1
        if share > DENSE * self.keep:
            S[true] = exact
            return self._dense(S, K, true, y, spare)
        row, column = kept // S.shape[1], kept % S.shape[1]
        value = torch.sigmoid(S.flatten()[kept] - self.shift[row, 0]) * self.c[row, 0]
        # v >= τu is what is wanted; s >= log τu was tested, and log v is a little less than s.
        fits = (value >= spread[row, column] * self.tau).nonzero().squeeze(1)
        row, column = row[fits], column[fits]
        value = value[fits].clamp_min(self.tau * factor)
        rest = torch.sigmoid(exact - self.shift[true[0], 0]) * self.c[true[0], 0] - y
        self.grad += _gather_sum(row, column, value, K, len(self.grad))
        self.grad.index_add_(0, true[0], rest[:, None] * K[true[1]])
        order = torch.argsort(column)
        out = _gather_sum(column[order], row[order], value[order], self.Q, len(K))
        return out.index_add_(0, true[1], rest[:, None] * self.Q[true[0]])

    def end(self) -> Tensor:
        """The sum over blocks."""
        return self.grad

    def _mask(self, S: Tensor) -> Tensor:
        if self.mask.numel() < S.numel() or self.mask.device != S.device:
            self.mask = torch.empty(S.numel(), dtype=torch.bool, device=S.device)
        return self.mask[: S.numel()].view(S.shape)

    def _dense(self, S: Tensor, K: Tensor, true: Places, y: Tensor, spare: Tensor) -> Tensor:
        G = S.sub_(self.shift).sigmoid_().mul_(self.c)
        G.index_put_(true, -y, accumulate=True)
        self.grad.addmm_(G, K)
        return torch.mm(G.T, self.Q, out=spare)


DENSE = 6.0
"""So many times more entries than wanted are multiplied densely: that is quicker."""


def _gather_sum(place: Tensor, source: Tensor, value: Tensor, rows: Tensor, count: int) -> Tensor:
    """Sum value times rows[source] over the entries of each of `count` places, in their order."""
    starts = torch.searchsorted(place, torch.arange(count, device=place.device))
    return embedding_bag(source, rows, starts, mode="sum", per_sample_weights=value)
