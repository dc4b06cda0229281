"""Cross entropy over all entities: its value and its gradient in about one pass."""

import torch
from torch import Tensor

from kgflow.kernels.blocks import BLOCK, blocks
from kgflow.kernels.buffers import Buffers
from kgflow.kernels.entities import wide_query
from kgflow.kernels.kernel import Gradients, Targets, by_column, wide_keys
from kgflow.kernels.keys import KeyMap
from kgflow.kernels.sink import Sink

KEEP = 2**26
"""Scores of a batch that are kept between the passes; of larger batches they are made again."""


class SoftmaxKernel:
    r"""The cross entropy of each query over every entity.

    .. math:: \sum_i c_i \log \sum_j \exp(s_{ij}) - \sum_{ij} y_{ij} s_{ij},
              \quad S = QK^T + a + b

    With c the number of true tails and y = 1 on them it is the sum of the cross entropies of these
    triples. The gradient by S is :math:`c\,\mathrm{softmax}(S) - y`. A first pass over the entities
    leaves :math:`\exp(s - m)` of every block, m the largest score of a query in that block, and the
    sums; what is missing to the softmax is then one factor per query and block, which goes to the
    smaller sides of the two matrix products of the second pass. So there is one exponential per
    score, and there are three products, as in `Kernel`.

    Args:
        keys: how rows become keys, and back.
        block: entities at a time.
        keep: scores to keep at most.
    """

    def __init__(self, keys: KeyMap, block: int = BLOCK, keep: int = KEEP) -> None:
        self.keys, self.block, self.keep = keys, block, keep
        self.buffers = Buffers()

    @torch.no_grad()
    def __call__(
        self,
        Q: Tensor,
        a: Tensor,
        table: Tensor,
        targets: Targets,
        sink: Sink,
        value: bool = True,
    ) -> Gradients:
        """Two passes; the arguments are those of `Kernel`, and the loss costs nothing here."""
        assert targets.e is None, "e belongs to the logistic loss"
        wide, targets = wide_query(Q, a), by_column(targets)
        edges = torch.arange(0, len(table) + self.block, self.block, device=Q.device)
        bounds = torch.searchsorted(targets.column, edges).tolist()
        largest, total, true = self._scan(wide, table, targets, bounds)
        log_sum = torch.logsumexp(largest + total.log(), dim=0)
        loss = (log_sum * targets.c).sum(dtype=torch.float64) - (true * targets.y).sum()
        share = (largest - log_sum).exp_() * targets.c
        grad = torch.zeros_like(wide)
        for number, (low, high) in enumerate(blocks(len(table), self.block)):
            K = wide_keys(self.keys, table[low:high], self.buffers, self.block)
            S = self._again(wide, K, largest[number], low, len(table))
            factor, here = share[number][:, None], slice(bounds[number], bounds[number + 1])
            row, column = targets.row[here], targets.column[here] - low
            y = targets.y[here][:, None]
            grad.addcmul_(S @ K, factor).index_add_(0, row, y * K[column], alpha=-1)
            by_K = self.buffers("grad", (self.block, K.shape[1]), K)[: len(K)]
            torch.mm(S.T, wide * factor, out=by_K).index_add_(0, column, y * wide[row], alpha=-1)
            self.keys.backward(by_K[:, :-2], by_K[:, -1], sink.room(low, high))
            sink.done(low, high)
        return Gradients(loss, grad[:, :-2], grad[:, -2])

    def _scan(
        self, wide: Tensor, table: Tensor, targets: Targets, bounds: list[int]
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The first pass: m and Σ exp(s - m) by block and query, and the scores of what is true."""
        count = len(bounds) - 1
        largest, total = (wide.new_empty(count, len(wide)) for _ in range(2))
        true = torch.empty_like(targets.y)
        for number, (low, high) in enumerate(blocks(len(table), self.block)):
            K = wide_keys(self.keys, table[low:high], self.buffers, self.block)
            S = torch.mm(wide, K.T, out=self._room(wide, low, high, len(table)))
            here = slice(bounds[number], bounds[number + 1])
            true[here] = S[targets.row[here], targets.column[here] - low]
            torch.amax(S, dim=1, out=largest[number])
            torch.sum(S.sub_(largest[number][:, None]).exp_(), dim=1, out=total[number])
        return largest, total, true

    def _again(self, wide: Tensor, K: Tensor, largest: Tensor, low: int, entities: int) -> Tensor:
        """What the first pass left of a block, or would have left."""
        S = self._room(wide, low, low + len(K), entities)
        if len(wide) * entities > self.keep:
            torch.mm(wide, K.T, out=S).sub_(largest[:, None]).exp_()
        return S

    def _room(self, wide: Tensor, low: int, high: int, entities: int) -> Tensor:
        kept = len(wide) * entities <= self.keep
        size = entities if kept else min(self.block, entities)
        start = low if kept else 0
        room = self.buffers("S", (len(wide) * size,), wide)
        shape = (len(wide), high - low)
        return room[len(wide) * start :][: shape[0] * shape[1]].view(shape)
